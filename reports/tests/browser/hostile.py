#!/usr/bin/env python3
"""Opens pages of records that somebody has spoilt in a headless Chromium.

    reports/tests/browser/hostile.py [--shots FOLDER] target/debug/doublehold

Sweeps a study whose every text is markup, puts pictures in its examples that want more than to be looked at, and fails if a
page then has an element, a title, a place on the screen, a request or an address that it does not have with an honest
picture, or if a picture can be pointed at, and so be opened by itself. The page of a run with such a name is opened too. Needs Python and Chromium, and nothing else.
"""

import json
import pathlib
import subprocess
import sys
import time

from check import arguments, look_at

MARKUP = "<script>document.title=1</script><img src=x onerror='document.title=2'><!-- \" ' & </title></style></svg>"
STUDY = """
question = Q
assumptions = [Q, "`a </code><form action='http://127.0.0.1:9/'>`"]
runs = 500
weather = { for = "10s", faults = [{ kind = "pause", every = "5s", for = "3s..5s", host = ["clients"], source = Q }] }
[set]
"lock.ttl" = "2s"
[[designs]]
name = Q
about = Q
lock = "single"
[[designs]]
name = "plain"
lock = "redlock"
"""
SCENARIO = """
claim = Q
[nodes]
names = ["A"]
[lock]
algorithm = "single"
ttl = "10s"
name = Q
[[clients]]
name = "c1"
program = ["acquire", "release"]
[resource]
object = Q
"""
SPACE = "xmlns='http://www.w3.org/2000/svg'"
HONEST = f"<svg {SPACE} width='90' height='90'><rect width='90' height='90'/></svg>"
INSERTED = (
    '"/></svg><script>document.title="PWNED";fetch("http://127.0.0.1:9/script")</script>'
    '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/refresh"><form action="http://127.0.0.1:9/form">'
    '<input name=pw></form><img src="http://127.0.0.1:9/img" onerror="document.title=1"><svg><rect x="'
)
COVER = "position:fixed;top:0;left:0;width:100vw;height:100vh;z-index:9"
PICTURES = {
    "markup in a value": f"<svg {SPACE}><rect fill='{INSERTED}' /></svg>",
    "markup in a name": f"<svg {SPACE}><rect a{INSERTED.split('>')[0]}='1'/></svg>",
    "cover": f"<svg {SPACE} style='{COVER}'><rect width='100%' height='100%'/><text y='40'>all is safe</text></svg>",
    "cover by a sheet": f"<svg {SPACE}><style>svg,main{{{COVER}}} h1{{display:none}}</style></svg>",
    "endless": f"<svg {SPACE} width='1' height='99999999' viewBox='0 0 1 99999999'><rect width='9' height='9'/></svg>",
    "links": f"<svg {SPACE}><a href='http://127.0.0.1:9/'><rect width='99' height='99'/></a></svg>",
    "elsewhere": f"<svg {SPACE}><image href='http://127.0.0.1:9/i'/><rect fill='url(http://127.0.0.1:9/f#a)'/>"
    "<style>@import 'http://127.0.0.1:9/c'; rect{fill:u\\72l(http://127.0.0.1:9/u)}</style></svg>",
    "handlers": f"<svg {SPACE} onload='document.title=3'><set attributeName='href' onbegin='document.title=4'/></svg>",
    "html": f"<svg {SPACE}><foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml' src='http://127.0.0.1:9/'/>"
    "</foreignObject></svg>",
    "no picture": "</figure><script>document.title=5</script>",
}
LOOK = """(() => {
  const tags = {}, wrong = [];
  for (const thing of document.querySelectorAll("*")) {
    tags[thing.tagName] = (tags[thing.tagName] || 0) + 1;
    const { position } = getComputedStyle(thing);
    if (position === "fixed" || position === "absolute") wrong.push(`${thing.tagName} is ${position}`);
    for (const { name } of thing.attributes) if (name.startsWith("on")) wrong.push(`${thing.tagName} has ${name}`);
  }
  const top = document.elementFromPoint(200, 40);
  for (const image of document.images) {
    image.scrollIntoView();
    const box = image.getBoundingClientRect();
    if (document.elementFromPoint(box.x + 2, box.y + 2) === image) wrong.push("an image can be pointed at");
  }
  return { tags, wrong, title: document.title, top: top && top.tagName, address: location.href,
           long: document.documentElement.scrollHeight > 200000 };
})()"""
CALLS = ["Page.frameRequestedNavigation", "Page.javascriptDialogOpening", "Page.windowOpen"]


def toml(text):
    """Texts in it are named Q."""
    return text.replace("Q", json.dumps(MARKUP))


def ran(*command):
    run = subprocess.run(command, capture_output=True, check=False)
    if run.returncode not in (0, 1, 3):
        sys.exit(f"{command}: {run.stderr.decode()}")


def seen(browser, page):
    """What is on a page once whatever it would like to do had time."""
    browser.open(page)
    time.sleep(0.3)
    look = browser.evaluate(LOOK)
    look["wrong"] += list(browser.troubles())
    look["wrong"] += [f"{event['method']}" for event in browser.events if event.get("method") in CALLS]
    return look


def report(browser, program, folder, svg, shot=None):
    """The page of the records in a folder, with this picture in each of their examples."""
    path = folder / "examples.jsonl"
    examples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps({**it, "svg": svg}) + "\n" for it in examples), encoding="utf-8")
    ran(program, "report", str(folder))
    look = seen(browser, folder / "report.html")
    if shot:
        browser.shot(shot)
    return look


def differences(honest, look):
    yield from look["wrong"]
    for what in ["title", "top", "address", "long"]:
        if look[what] != honest[what]:
            yield f"{what} is {look[what]!r}, not {honest[what]!r}"
    for tag in sorted({*honest["tags"], *look["tags"]}):
        if look["tags"].get(tag, 0) > honest["tags"].get(tag, 0):
            yield f"{look['tags'][tag]} {tag}, not {honest['tags'].get(tag, 0)}"


def timeline(browser, program, folder):
    """The page of a run whose lock, key and claim are markup."""
    honest, spoilt = folder / "honest.toml", folder / "spoilt.toml"
    honest.write_text(SCENARIO.replace("Q", '"plain"'), encoding="utf-8")
    spoilt.write_text(toml(SCENARIO), encoding="utf-8")
    looks = []
    for scenario in [honest, spoilt]:
        page = folder / "page.html"
        ran(program, "run", str(scenario), "--timeline", str(page))
        looks.append(seen(browser, page))
        looks[-1].update(title="", wrong=[it for it in looks[-1]["wrong"] if "is fixed" not in it and "is absolute" not in it])
    return differences(*looks)


def main():
    words = arguments(__doc__)
    words.add_argument("program", type=lambda path: str(pathlib.Path(path).resolve()))
    given = words.parse_args()
    state = {}

    def troubles(browser, what, folder):
        if what == "a run":
            return timeline(browser, given.program, folder)
        if not state:
            study = folder / "hostile.toml"
            study.write_text(toml(STUDY), encoding="utf-8")
            ran(given.program, "sweep", str(study), "--out", str(folder / "records"))
            if not (folder / "records" / "examples.jsonl").stat().st_size:
                sys.exit("the study has no example, so that nothing was tried")
            state["honest"] = report(browser, given.program, folder / "records", HONEST)
        shot = given.shots and given.shots / f"{what.replace(' ', '-')}.png"
        return differences(state["honest"], report(browser, given.program, folder / "records", PICTURES[what], shot))

    look_at([*PICTURES, "a run"], troubles)


if __name__ == "__main__":
    main()

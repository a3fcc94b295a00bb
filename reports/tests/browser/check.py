#!/usr/bin/env python3
"""Opens pages of `run --timeline FILE.html` in a headless Chromium and uses them.

    reports/tests/browser/check.py [--shots FOLDER] target/debug/doublehold [SCENARIO ...]

Fails if a page writes to the console, asks the network for anything, or does not do what a reader asks of it (`use.js`
says what). Needs Python and Chromium, and nothing else. With --shots it leaves pictures of each page.
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SCENARIOS = ["quiet", "lease-pause", "clock-jump", "suspend-in-flight", "failover-before-replication", "fencing-33-34"]
# Of a window on a screen, and on the screen of a small laptop.
HEIGHTS = [900, 620]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1500,900",
    "--remote-debugging-pipe",
]
USE = pathlib.Path(__file__).with_name("use.js").read_text(encoding="utf-8")
# Nanoseconds, and how reports say them.
DURATIONS = pathlib.Path(__file__).parents[3] / "scenarios/text/src/durations.txt"
# The page's functions are in a module, which nobody outside can call: those for words are taken out of its text.
SCRIPT = pathlib.Path(__file__).parents[2] / "pages/src/figure/page/page.js"
WORDS = SCRIPT.read_text(encoding="utf-8").split("// ---- words")[1].split("\n", 1)[1].split("// Exact")[0]


class Browser:
    """Chromium, spoken to over a pipe: JSON messages that end with a zero byte."""

    def __init__(self, folder):
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def as_three_and_four():
            # Copied out of the way first: either may be three or four already.
            ours = [os.dup(to_browser), os.dup(from_browser)]
            os.dup2(ours[0], 3)
            os.dup2(ours[1], 4)

        self.process = subprocess.Popen(
            ["chromium", *FLAGS, f"--user-data-dir={folder}/profile"],
            preexec_fn=as_three_and_four, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.last, self.session, self.events = b"", 0, None, []

    def ask(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.last:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        while not any(seen.get("method") == event for seen in self.events):
            self.events.append(self.next())

    def next(self):
        while b"\0" not in self.rest:
            more = os.read(self.input, 1 << 16)
            if not more:
                sys.exit("the browser ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, page, high=900):
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.events = []
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=1500, height=high, deviceScaleFactor=1, mobile=False)
        self.ask("Page.navigate", url=page.as_uri())
        self.wait_for("Page.loadEventFired")

    def evaluate(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            return [json.dumps(answer["exceptionDetails"])]
        return answer["result"].get("value")

    def shot(self, path):
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def troubles(self):
        """What was written to the console, and what the network was asked for."""
        for event in self.events:
            params = event.get("params", {})
            match event.get("method"):
                case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                    yield f"console: {json.dumps(params)}"
                case "Network.requestWillBeSent" if not params["request"]["url"].startswith(("file:", "data:")):
                    yield f"asked the network for {params['request']['url']}"

    def close(self):
        self.process.terminate()
        self.process.wait()


def written(program, scenario, page):
    """Writes a scenario's page; how many pieces of evidence there are."""
    command = [program, "run", scenario, "--timeline", str(page), "--format", "json"]
    run = subprocess.run(command, capture_output=True, check=False)
    if run.returncode not in (0, 1, 3):
        sys.exit(f"{scenario}: {run.stderr.decode()}")
    verdicts = json.loads(run.stdout)["evidence"].values()
    return sum(because["count"] for because in verdicts)


def troubles(browser, program, scenario, folder, shots):
    page = folder / "page.html"
    evidence = written(program, scenario, page)
    wrong = []
    for high in HEIGHTS:
        browser.open(page, high)
        found = browser.evaluate(USE.replace("EVIDENCE", str(evidence)))
        wrong.extend(f"{trouble}, {high} pixels high" for trouble in found)
    wrong.extend(misnamed(browser))
    wrong.extend(browser.troubles())
    if shots:
        name = scenario.replace("/", "-")
        browser.open(page)
        browser.shot(shots / f"{name}-whole.png")
        for key, what in [("n", "evidence"), ("n", "next")]:
            press = f"document.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}' }}))"
            browser.evaluate(f"{press}; new Promise((done) => setTimeout(done, 200))")
            browser.shot(shots / f"{name}-{what}.png")
    return wrong


def misnamed(browser):
    """Durations that the page says otherwise than the reports do."""
    for line in DURATIONS.read_text(encoding="utf-8").splitlines():
        ns, expected = line.split("\t")
        if (said := browser.evaluate(f"{WORDS} span({ns})")) != expected:
            yield f"{ns} ns is {said}, and {expected} in reports"


def arguments(description):
    """Those that all programs here have."""
    words = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--shots", type=pathlib.Path)
    return words


def look_at(things, troubles_of):
    """Opens one browser for all of them, prints what is wrong with each, and ends the program: with 1 if anything is."""
    failed = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        browser = Browser(name)
        for thing in things:
            found = list(troubles_of(browser, thing, pathlib.Path(name)))
            print(f"{thing}: {'ok' if not found else ''}")
            for trouble in found:
                print(f"  {trouble}")
            failed = failed or bool(found)
        browser.close()
    sys.exit(1 if failed else 0)


def main():
    words = arguments(__doc__)
    words.add_argument("program")
    words.add_argument("scenario", nargs="*", default=SCENARIOS)
    given = words.parse_args()
    look_at(given.scenario, lambda browser, scenario, folder: troubles(browser, given.program, scenario, folder, given.shots))


if __name__ == "__main__":
    main()

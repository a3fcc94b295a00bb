#!/usr/bin/env python3
"""Opens pages of `report` in a headless Chromium, as wide as a screen and as wide as a telephone, in the dark and on paper.

    reports/tests/browser/report.py [--shots FOLDER] which-lock/report.html ...

Fails if a page writes to the console, asks the network for anything, is wider than its window, calls two things alike, has
a link that leads nowhere, or a picture without a size. Fails if a reader has to look for the answer: it is short and has no
code names, the first picture ends above the fold, what would change it and what was not modelled come soon, and all of it is
twelve sheets of paper. Fails if sliders that nobody moved say other rates than the page. Needs Python and Chromium, and
nothing else. With --shots it leaves pictures of each page as a whole.
"""

import base64
import pathlib
import re

from check import arguments, look_at

WIDTHS = [1200, 400]
LOOK = """(() => {
  const wrong = [], seen = new Set();
  for (const thing of document.querySelectorAll("[id]")) {
    if (seen.has(thing.id)) wrong.push(`two things are called ${thing.id}`);
    seen.add(thing.id);
  }
  for (const link of document.querySelectorAll("a[href]")) {
    const to = link.getAttribute("href");
    if (!to.startsWith("#") || !seen.has(to.slice(1))) wrong.push(`a link leads nowhere: ${to}`);
  }
  for (const picture of document.querySelectorAll("figure svg, figure img")) {
    const box = picture.getBoundingClientRect();
    if (box.width < 100 || box.height < 20) wrong.push(`a picture of ${box.width} by ${box.height}`);
    if (picture.complete === false || picture.naturalWidth === 0) wrong.push(`an image that is not shown: ${picture.alt}`);
  }
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) wrong.push(`${root.scrollWidth} wide in a window of ${root.clientWidth}`);
  const sliders = document.querySelectorAll("#sliders").length;
  const scripts = document.querySelectorAll("script").length;
  if (scripts !== 2 * sliders) wrong.push(`${scripts} scripts for ${sliders} places with sliders`);
  return wrong;
})()"""

# What a reader meets on a screen of 1,280 by 900 pixels; `[name, value, whether it is right]`.
SCREEN = """(() => {
  const top = (it) => Math.round(it.getBoundingClientRect().top + scrollY);
  const heading = (words) => [...document.querySelectorAll("h2")].find((it) => words.test(it.innerText));
  const answer = document.querySelector("#answer").innerText;
  const words = answer.split(/\\s+/).length, numbers = (answer.match(/\\d[\\d.,]*/g) ?? []).length;
  const codes = (answer.match(/\\b(P[1-4]|WR|LV|rank)\\b/g) ?? []).length;
  const clause = Math.max(...answer.split(/(?<=[.:;])\\s+/).map((it) => it.split(/\\s+/).length));
  const figure = document.querySelector("figure").getBoundingClientRect().bottom + scrollY;
  const change = top(heading(/would change/)), not = top(heading(/not modelled/));
  const height = document.documentElement.scrollHeight;
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map((it) => Number(it.tagName[1]));
  const leap = levels.findIndex((level, place) => place > 0 && level > levels[place - 1] + 1);
  return [
    ["words of the answer", words, words <= 120], ["numbers of the answer", numbers, numbers <= 12],
    ["code names in the answer", codes, codes === 0], ["words of its longest clause", clause, clause <= 30],
    ["end of the first picture", figure, figure <= 900], ["what would change it", change, change <= 1800],
    ["what was not modelled", not, not <= 2700], ["height", height, height <= 9000],
    ["contents", 0, document.querySelector("nav a[href^='#']") !== null], ["headings that leap", leap, leap === -1],
  ].filter(([, , right]) => !right).map(([name, value]) => `${name}: ${value}`);
})()"""
# On a telephone: the least letters of pictures of ours, and tables that are wider than their place.
TELEPHONE = """(() => {
  const sizes = [...document.querySelectorAll("figure svg")].flatMap((svg) => {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return [...svg.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize) * scale);
  });
  const least = Math.min(...sizes);
  const wide = [...document.querySelectorAll("table")].filter((it) => it.scrollWidth > it.parentElement.clientWidth + 1);
  return [least < 9 ? `letters of ${least} pixels` : "", wide.length ? `${wide.length} wide tables` : ""].filter((it) => it);
})()"""
# The sliders' table beside that of all rates, and how long a move takes.
SLIDERS = """(() => {
  const place = document.querySelector("#sliders");
  if (!place) return [];
  const rows = (table, first) => [...table.tBodies[0].rows].map((row) => [...row.cells].slice(0, 5).map((cell) =>
    (cell.querySelector(first) ?? cell).textContent.replaceAll("\\u00a0", " ")));
  const all = [...document.querySelectorAll("h2")].find((it) => it.innerText === "All rates");
  const [mine, theirs] = [rows(place.querySelector("table"), "td"), rows(all.parentElement.querySelector("h2#rates-1 ~ .wide table"), "strong")];
  const differ = mine.filter((row, number) => row.join() !== theirs[number].join());
  const input = place.querySelector("input"), begin = performance.now();
  input.value = 0.7;
  input.dispatchEvent(new Event("input"));
  const took = performance.now() - begin, moved = rows(place.querySelector("table"), "td");
  const still = moved.join() === mine.join();
  return [...differ.map((row) => `the sliders say other rates: ${row}`), still ? "a slider moves nothing" : "",
    took > 200 ? `a slider takes ${took} ms` : ""].filter((it) => it);
})()"""
SHEETS, BYTES = 12, 3_000_000


def readable(browser, page):
    """What keeps a reader from the answer, on a screen, a telephone, in the dark and on paper."""
    def opened(width, height, scheme="light"):
        browser.open(page)
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.ask("Emulation.setDeviceMetricsOverride", **size)

    opened(1280, 900)
    yield from browser.evaluate(SCREEN)
    yield from browser.evaluate(SLIDERS)
    browser.open(page)
    pdf = base64.b64decode(browser.ask("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.7)["data"])
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    if not 0 < sheets <= SHEETS or len(pdf) > BYTES:
        yield f"{sheets} sheets of paper, {len(pdf)} bytes"
    if page.stat().st_size > BYTES:
        yield f"{page.stat().st_size} bytes to mail"
    opened(375, 812)
    yield from browser.evaluate(TELEPHONE)
    opened(1280, 900, "dark")
    if browser.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])") > 80:
        yield "it is not dark in the dark"
    browser.ask("Emulation.setEmulatedMedia", features=[])


def troubles(browser, page, shots):
    yield from readable(browser, page)
    for width in WIDTHS:
        browser.open(page)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.ask("Emulation.setDeviceMetricsOverride", **size)
        yield from (f"{width} pixels: {wrong}" for wrong in browser.evaluate(LOOK))
        yield from browser.troubles()
        if shots:
            whole = browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
            (shots / f"{page.parent.name}-{width}.png").write_bytes(base64.b64decode(whole["data"]))


def main():
    words = arguments(__doc__)
    words.add_argument("page", nargs="+", type=pathlib.Path)
    given = words.parse_args()
    look_at(given.page, lambda browser, page, _: troubles(browser, page.resolve(), given.shots))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Opens pages of `report` in a headless Chromium, as wide as a screen and as wide as a telephone.

    reports/tests/browser/report.py [--shots FOLDER] which-lock/report.html ...

Fails if a page writes to the console, asks the network for anything, is wider than its window, calls two things alike, has
a link that leads nowhere, or a picture without a size. Needs Python and Chromium, and nothing else. With --shots it leaves
pictures of each page as a whole.
"""

import base64
import pathlib

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
  if (document.querySelectorAll("script").length) wrong.push("there is a script");
  return wrong;
})()"""


def troubles(browser, page, shots):
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

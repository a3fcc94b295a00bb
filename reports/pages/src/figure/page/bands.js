// Double holds: bands through all lanes, and above the lanes what is said of them, on plain paper.

// The double holds of a run. Where the same claims overlap validly for the same time, that is one band.
function bandsOf() {
  const bands = new Map();
  for (const overlap of view.overlaps) {
    const key = [...overlap.grants, overlap.from, overlap.to].join();
    const band = bands.get(key) || { ...overlap, predicates: [] };
    bands.set(key, Object.assign(band, { predicates: [...band.predicates, overlap.predicate], words: overlap.words }));
  }
  return [...bands.values()].map((band) => ({ ...band, words: band.predicates.join(" and ") + ": " + band.words }));
}

function drawBands() {
  for (const band of bands) {
    if (!shows(band.from, band.to)) continue;
    const area = bar(TOP, bottom - TOP, band.from, band.to);
    if (band.predicates.includes("P1")) fill(area, hatch(ink.double, ink.doubleLine, 10, 1));
    edge(area, ink.violation);
    hit(area, band.words, band.from);
  }
}

// Each in the lowest line that has room for it. Of the others, only a reader who points at the band is told.
function drawCaptions() {
  pen.font = LABEL; pen.textAlign = "left";
  const placed = [], right = LEFT + width();
  for (const band of bands) {
    if (!shows(band.from, band.to)) continue;
    const at = inside(band.from), text = fitted(band.words, width()), wide = pen.measureText(text).width;
    const left = Math.max(Math.min(at + 3, right - wide), LEFT);
    const covers = (nth) => placed.some((it) => it.nth === nth && left < it.left + it.wide + 10 && it.left < left + wide + 10);
    const nth = Array.from({ length: LINES }, (_, nth) => nth).find((nth) => !covers(nth));
    if (nth !== undefined) placed.push({ at, left, wide, nth, text });
  }
  placed.forEach(({ at, nth }) => line(at, TOP - (nth + 1) * LINE + 2, at, TOP, ink.violation));
  for (const { left, wide, nth, text } of placed) {
    const below = TOP - nth * LINE;
    fill({ x: left - 1, y: below - LINE + 1, width: wide + 2, height: LINE - 2 }, ink.paper);
    pen.fillStyle = ink.violationText; pen.fillText(text, left, below - 4);
  }
}

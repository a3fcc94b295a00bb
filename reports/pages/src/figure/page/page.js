"use strict";
// Draws the run that is beside this script as JSON. No library, no network. Times are nanoseconds of true time.
const view = JSON.parse(document.getElementById("view").textContent);
const LEAST = 200e3, MOST = Math.max(600e9, view.ended * 1.1), LEFT = 130, RIGHT = 12, STRIP = 44;
// Of the words above the lanes: how high a line of them is, and how many there are at most; then where lanes begin.
const bands = bandsOf(), LINE = 13, LINES = Math.min(bands.length, 3), NUMBERS = 25, TOP = 40 + LINES * LINE;
const LABEL = "10px sans-serif";
// Ends of keys that no command of a lock asked for.
const LOST = ["forgotten", "flushed", "evicted"];
// The names of the colours that the style sheet declares, those of clients aside.
const COLOURS = "paper ink faint lane grid upright violation violation-text shade shade-line death-line clock clock-line hint double double-line";
const CLIENTS = [1, 2, 3, 4, 5, 6].map((client) => colour("client-" + client));
const canvas = document.getElementById("canvas"), tip = document.getElementById("tip");
// What is drawn with; the legend borrows it for its signs.
let pen = canvas.getContext("2d");
const dark = matchMedia("(prefers-color-scheme: dark)");
let ink = {};
function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }
const placeOf = new Map(), first = new Map();
const MARGIN = view.ended / 50 + 1;
let from = -MARGIN, to = view.ended + MARGIN, cursor = null, chosen = null, hits = [], labels = [], taken = [];

// ---- words -------------------------------------------------------------------------------------------------------

function trimmed(text) { return text.includes(".") ? text.replace(/\.?0+$/, "") : text; }

// As the reports say it (`doublehold_text::duration`): the browser test holds both against one table.
function span(ns) {
  const thousandth = ns < 1e6 ? 1 : ns < 999999500 ? 1e3 : 1e6;
  const size = Math.floor((ns + thousandth / 2) / thousandth) * thousandth;
  if (size === 0) return "0 s";
  const wholes = [["d", 864e11, 864e11], ["h", 36e11, 36e11], ["min", 6e10, 6e11]];
  const whole = wholes.find(([, scale, least]) => size >= least && size % scale === 0);
  if (whole) return size / whole[1] + " " + whole[0];
  const [unit, scale] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].find(([, scale]) => size >= scale);
  return trimmed((size / scale).toFixed(3)) + " " + unit;
}

function signed(ns) { return ns === 0 ? "0 s" : (ns > 0 ? "+" : "−") + span(Math.abs(ns)); }

// Exact, because a figure of nine decimals does not fit into a number of seconds.
function seconds(ns, decimals) {
  const last = 10 ** (9 - decimals), size = Math.floor((Math.abs(ns) + last / 2) / last) * last;
  const whole = Math.floor(size / 1e9), rest = String(size % 1e9).padStart(9, "0");
  return (ns < 0 ? "−" : "") + whole + (decimals ? "." + rest.slice(0, decimals) : "") + " s";
}

function instant(ns) { return seconds(Math.round(ns), 9); }

// A wall clock's reading, counted from the world's beginning.
function timeOfDay(ns) {
  const ms = Math.floor(ns / 1e6), day = new Date(view.epoch_ms + ms).toISOString();
  return day.slice(0, 10) + " " + day.slice(11, 23) + String(Math.floor((ns - ms * 1e6) / 1e3)).padStart(3, "0");
}

function hostName(host) { return view.hosts[host] ? view.hosts[host].name : "host " + host; }

function wordsOf(message) {
  if (!message.phrases.length) return message.bytes + " bytes";
  return message.phrases.map((phrase) => phrase.meaning || phrase.short).join("; ");
}

// ---- rows --------------------------------------------------------------------------------------------------------

function rowsOf() {
  const rows = [];
  let below = TOP;
  const add = (row) => { row.top = below; row.middle = below + row.height - 17; below += row.height; rows.push(row); };
  view.clients.forEach((lane) => {
    if (!placeOf.has(lane.host)) placeOf.set(lane.host, placeOf.size);
    add({ label: lane.label, host: lane.host, client: lane, height: 48 });
  });
  view.nodes.forEach((lane) => add({ label: lane.label, host: lane.host, node: lane, height: 44 }));
  view.hosts.forEach((host, index) => {
    if (host.role === "resource" && view.messages.some((message) => message.to === index)) {
      add({ label: host.name, host: index, height: 36 });
    }
  });
  const ofLinks = view.faults.filter((fault) => fault.of_link);
  new Set(ofLinks.map((fault) => fault.kind.state_of_several)).forEach((state) => add({
    label: state, host: -1, height: 28, links: ofLinks.filter((fault) => fault.kind.state_of_several === state),
  }));
  rows.forEach((row) => { if (row.host >= 0 && !first.has(row.host)) first.set(row.host, row); });
  return rows;
}
const rows = rowsOf();
const bottom = rows.length ? rows[rows.length - 1].top + rows[rows.length - 1].height : TOP;

function stripsOf() {
  const strips = [];
  for (const series of view.clocks) {
    const set = series.lines.length ? series.lines[0].wall[0] - series.lines[0].from : 0;
    const off = (line, clock) => [line[clock][0] - line.from, line[clock][1] - line.to];
    const add = (clock) => {
      const points = series.lines.map((line) => ({ from: line.from, to: line.to, offsets: off(line, clock) }));
      if (points.some((point) => point.offsets.some((offset) => offset !== 0))) {
        strips.push({ label: hostName(series.host) + " " + clock, points });
      }
    };
    add("wall");
    const other = (line) => [0, 1].some((end) => off(line, "monotonic")[end] !== off(line, "wall")[end] - set);
    if (series.lines.some(other)) add("monotonic");
  }
  return strips;
}
const strips = stripsOf();
const height = bottom + 34 + (view.clocks.length ? 16 : 0) + strips.length * STRIP;

// What the clocks of a host show at an instant of true time.
function clocksAt(host, at) {
  const series = view.clocks.find((series) => series.host === host);
  const lines = series ? series.lines.filter((line) => line.from <= at) : [];
  if (!lines.length) return null;
  const line = lines[lines.length - 1], part = line.to > line.from ? (at - line.from) / (line.to - line.from) : 0;
  const read = (ends) => ends[0] + Math.round((ends[1] - ends[0]) * part);
  return { wall: read(line.wall), monotonic: read(line.monotonic), boot: read(line.boot) };
}

// ---- drawing -----------------------------------------------------------------------------------------------------

function width() { return canvas.clientWidth - LEFT - RIGHT; }
function x(at) { return LEFT + (at - from) / (to - from) * width(); }
function timeAt(place) { return from + (place - LEFT) / width() * (to - from); }
function inside(at) { return x(Math.min(Math.max(at, from), to)); }
function shows(start, end) { return start <= to && end >= from; }

function bar(y, high, start, end) {
  const left = inside(start);
  return { x: left, y, width: Math.max(inside(end) - left, 1), height: high };
}

function fill(area, style) { pen.fillStyle = style; pen.fillRect(area.x, area.y, area.width, area.height); }
function edge(area, style) { pen.strokeStyle = style; pen.strokeRect(area.x, area.y, area.width, area.height); }

function line(x1, y1, x2, y2, style, wide, dashes) {
  pen.strokeStyle = style; pen.lineWidth = wide || 1; pen.setLineDash(dashes || []);
  pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke();
  pen.setLineDash([]); pen.lineWidth = 1;
}

const hatches = new Map();
function hatch(back, stroke, size, wide) {
  const key = [back, stroke, size, wide].join();
  if (!hatches.has(key)) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = size;
    const brush = tile.getContext("2d");
    brush.fillStyle = back; brush.fillRect(0, 0, size, size);
    brush.strokeStyle = stroke; brush.lineWidth = wide;
    brush.beginPath();
    for (const shift of [-size, 0, size]) { brush.moveTo(shift - 1, size + 1); brush.lineTo(shift + size + 1, -1); }
    brush.stroke();
    hatches.set(key, pen.createPattern(tile, "repeat"));
  }
  return hatches.get(key);
}

function hit(area, words, at) { hits.push({ area, words, at }); }

function ticks() {
  const least = (to - from) / Math.max(width() / 110, 1);
  let step = 1;
  for (let power = 1; step < least; power *= 10) step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= least) || step;
  const decimals = Math.max(0, 9 - Math.floor(Math.log10(step)));
  const list = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) list.push([at, seconds(Math.round(at), Math.min(decimals, 9))]);
  return list;
}

function drawLanes() {
  for (const [at] of ticks()) line(x(at), TOP, x(at), bottom, ink.grid);
  for (const row of rows) line(LEFT, row.middle, LEFT + width(), row.middle, ink.lane);
}

function shade(nature) {
  if (nature === "death") return hatch(ink.shade, ink.deathLine, 4, 1);
  if (nature === "link" || nature === "message") return hatch(ink.paper, ink.shadeLine, 6, 1);
  if (nature === "stop") return hatch(ink.shade, ink.shadeLine, 6, 1);
  return hatch(ink.clock, ink.clockLine, 6, 1);
}

function drawFaults() {
  for (const row of rows) {
    const faults = row.links || view.faults.filter((fault) => fault.hosts.includes(row.host));
    for (const fault of faults) {
      const end = fault.lasts ? (fault.until === null ? view.ended : fault.until) : fault.from;
      if (!shows(fault.from, end)) continue;
      const hint = fault.of_link && !row.links;
      const area = bar(row.top + 1, row.height - 2, fault.from, end);
      if (fault.lasts) {
        fill(area, hint ? hatch(ink.paper, ink.hint, 8, 1) : shade(fault.kind.nature));
      } else if (!hint) {
        line(area.x, area.y, area.x, area.y + area.height, ink.violation, 1.5, [3, 2]);
      }
      if (hint) continue;
      const lasts = fault.lasts ? ", for " + span(end - fault.from) : "";
      hit({ ...area, x: area.x - 2, width: area.width + 4 }, fault.words + lasts, fault.from);
      label(area.x + 3, row.top + (row.links ? 17 : 11), fault.lasts && !row.links ? fault.kind.state : fault.words, ink.ink);
    }
  }
}

// The row of a host that is about a lock; its first where it has none.
function rowOf(host, lock) {
  const isAbout = (row) => row.host === host && (row.client || row.node || {}).lock === lock;
  return lock === null ? first.get(host) : rows.find(isAbout) || first.get(host);
}

function drawMessages(upright) {
  const drawn = new Set();
  for (const [index, message] of view.messages.entries()) {
    const end = message.arrived === null ? view.ended : message.arrived, lock = view.message_locks[index] ?? null;
    if (message.sent > to) break;
    if (!shows(message.sent, end)) continue;
    const x1 = x(message.sent), x2 = x(end);
    if ((x2 - x1 < 3) !== upright) continue;
    const rowFrom = rowOf(message.from, lock), rowTo = rowOf(message.to, lock);
    if (!rowFrom || !rowTo) continue;
    const key = [Math.round(x1 * 2), Math.round(x2 * 2), message.from, message.to, lock].join();
    if (drawn.has(key)) continue;
    drawn.add(key);
    const sign = rowTo.middle > rowFrom.middle ? 1 : -1, y1 = rowFrom.middle + sign * 8, y2 = rowTo.middle - sign * 8;
    const held = message.held.length > 0 || message.arrived === null;
    const style = held ? ink.violation : upright ? ink.upright : ink.faint;
    line(x1, y1, x2, y2, style, 1, held ? [4, 2] : []);
    if (upright) continue;
    if (message.arrived !== null && end <= to) arrowHead(x1, y1, x2, y2, style);
    const left = Math.max(x1, LEFT), right = Math.min(x2, LEFT + width());
    if (right - left < 6) continue;
    const place = left + (right - left) * 0.4, y = y1 + (y2 - y1) * (place - x1) / (x2 - x1);
    label(place + 5, y + 3, wordsOf(message), held ? ink.violationText : ink.ink);
    hits.push({ message, ends: [x1, y1, x2, y2], at: message.sent });
  }
}

function arrowHead(x1, y1, x2, y2, style) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  pen.fillStyle = style; pen.beginPath(); pen.moveTo(x2, y2);
  for (const turn of [2.75, -2.75]) pen.lineTo(x2 + 7 * Math.cos(angle + turn), y2 + 7 * Math.sin(angle + turn));
  pen.fill();
}

function drawClient(row) {
  const color = CLIENTS[placeOf.get(row.host) % CLIENTS.length], y = row.middle - 7, name = hostName(row.host);
  for (const wait of row.client.waits) {
    if (shows(wait.from, wait.to)) line(inside(wait.from), row.middle, inside(wait.to), row.middle, color, 2, [1, 4]);
  }
  for (const claim of row.client.claims) {
    if (!shows(claim.from, claim.to)) continue;
    const area = bar(y, 14, claim.from, claim.to);
    fill(area, hatch(ink.paper, color, 6, 2)); edge(area, color);
    for (const [start, end] of claim.valid) if (shows(start, end)) fill(bar(y, 14, start, end), color);
    const own = claim.deadlines.map((it) => "; its own deadline: " + it.words).join("");
    hit(area, name + " believes that it holds the lock, grant " + claim.grant + ", for " + span(claim.to - claim.from) + own, claim.from);
    for (const deadline of claim.deadlines) {
      if (deadline.passed === null || !shows(deadline.passed, deadline.passed)) continue;
      const place = x(deadline.passed);
      line(place, y - 5, place, y + 18, ink.ink, 1.5);
      label(place + 3, y + 25, "deadline: " + deadline.words, ink.ink);
      hit({ x: place - 3, y: y - 5, width: 6, height: 23 }, name + "'s own deadline passes: " + deadline.words, deadline.passed);
    }
  }
  for (const at of row.client.refusals) {
    if (!shows(at, at)) continue;
    pen.fillStyle = ink.paper; pen.strokeStyle = color; pen.beginPath(); pen.arc(x(at), row.middle, 3, 0, 7); pen.fill(); pen.stroke();
    hit({ x: x(at) - 4, y: row.middle - 4, width: 8, height: 8 }, name + " is refused", at);
  }
  for (const write of row.client.writes) {
    if (write.arrived === null || !shows(write.arrived, write.arrived)) continue;
    const words = { applied: "write applied", late: "late write applied", refused: "write refused", lost: "committed write lost" }[write.fate];
    const place = x(write.arrived), style = write.fate === "applied" ? ink.ink : ink.violation;
    pen.fillStyle = style; pen.beginPath(); pen.moveTo(place, y - 1); pen.lineTo(place - 4, y - 8); pen.lineTo(place + 4, y - 8); pen.fill();
    labelBeside(place, 6, y - 2, words, write.fate === "applied" ? ink.ink : ink.violationText);
    hit({ x: place - 5, y: y - 9, width: 10, height: 9 }, words + ", of " + name + "'s grant " + write.grant, write.arrived);
  }
}

function drawNode(row) {
  const how = {
    expired: "expired", deleted: "was deleted", overwritten: "was overwritten", forgotten: "was lost", flushed: "was flushed", evicted: "was evicted",
  };
  const came = { executed: "", replicated: ", from its master", loaded: ", from its file" };
  for (const key of row.node.keys) {
    const end = key.until ? key.until[0] : view.ended;
    if (!shows(key.from, end)) continue;
    const color = CLIENTS[placeOf.get(key.client) % CLIENTS.length], area = bar(row.middle - 7, 14, key.from, end);
    fill(area, ink.paper); pen.globalAlpha = 0.35; fill(area, color); pen.globalAlpha = 1; edge(area, color);
    const name = hostName(key.client), words = name + came[key.origin];
    labelIn(area, row.middle + 4, [words, name], ink.ink);
    hit(area, row.label + " holds " + words + "'s key, grant " + key.grant + ", for " + span(end - key.from)
      + (key.until ? ", until it " + how[key.until[1]] : ", until the run ended"), key.from);
    if (!key.until || !shows(end, end)) continue;
    const lost = LOST.includes(key.until[1]), expired = key.until[1] === "expired";
    line(x(end), area.y - 2, x(end), area.y + 16, lost ? ink.violation : expired ? ink.ink : ink.faint, lost || expired ? 2.5 : 1.5);
    labelBeside(x(end), 3, area.y - 3, how[key.until[1]], lost ? ink.violationText : ink.faint);
  }
}

// Places for numbers that want to be at these: beside each other where they would collide, and none beyond the edges.
function beside(wanted, least, most) {
  // Closer where they would not all fit.
  const apart = Math.min(18, (most - least) / Math.max(wanted.length - 1, 1)), places = [...wanted];
  let free = most;
  for (let index = places.length - 1; index >= 0; index -= 1) {
    places[index] = Math.min(places[index], free);
    free = places[index] - apart;
  }
  free = least;
  return places.map((place) => { const at = Math.max(place, free); free = at + apart; return at; });
}

function drawStory() {
  pen.font = LABEL; pen.textAlign = "center";
  const lines = [...view.story.entries()].filter(([, event]) => shows(event.at, event.at));
  const places = beside(lines.map(([, event]) => x(event.at)), LEFT + 9, LEFT + width() - 9);
  lines.forEach(([index, event], nth) => {
    const place = x(event.at), at = places[nth], style = event.proves ? ink.violation : ink.ink, row = first.get(event.host);
    line(at, NUMBERS + 8, place, 40, style, 0.7);
    line(place, 40, place, row ? row.middle - 9 : TOP, style, 0.7, [1, 2]);
    pen.fillStyle = ink.paper; pen.strokeStyle = style; pen.beginPath(); pen.arc(at, NUMBERS, 8, 0, 7); pen.fill(); pen.stroke();
    pen.fillStyle = event.proves ? ink.violationText : ink.ink; pen.fillText(index + 1, at, NUMBERS + 3.5);
    hit({ x: at - 9, y: NUMBERS - 9, width: 18, height: 18 }, index + 1 + ": " + event.words, event.at);
  });
}

// The events that prove the chosen piece of evidence, each in the lane of its client.
function drawProof() {
  if (chosen === null) return;
  const evidence = view.evidence[chosen];
  for (const place of evidence.events) {
    const event = view.events[place];
    if (!shows(event.at, event.at)) continue;
    const row = first.get(event.host);
    line(x(event.at), TOP, x(event.at), bottom, ink.violation, 1, [6, 3]);
    if (row) { pen.fillStyle = ink.violation; pen.beginPath(); pen.arc(x(event.at), row.middle, 4, 0, 7); pen.fill(); }
    hit({ x: x(event.at) - 4, y: TOP, width: 8, height: bottom - TOP }, event.words, event.at);
  }
}

function drawAxis() {
  line(LEFT, bottom + 4, LEFT + width(), bottom + 4, ink.ink);
  pen.font = LABEL; pen.fillStyle = ink.ink;
  for (const [at, text] of ticks()) {
    line(x(at), bottom + 4, x(at), bottom + 9, ink.ink);
    const half = pen.measureText(text).width / 2;
    pen.textAlign = "center";
    pen.fillText(text, Math.min(Math.max(x(at), LEFT + half), LEFT + width() - half), bottom + 20);
  }
}

function drawClocks() {
  if (!view.clocks.length) return;
  let top = bottom + 34;
  pen.font = LABEL; pen.textAlign = "left"; pen.fillStyle = ink.faint;
  pen.fillText(strips.length ? "clock minus true time" : "every clock shows true time", LEFT, top + 8);
  top += 16;
  for (const strip of strips) {
    const offsets = strip.points.flatMap((point) => point.offsets), least = Math.min(0, ...offsets), greatest = Math.max(0, ...offsets);
    const high = top + 14, low = top + STRIP - 4, y = (offset) => low - (offset - least) / Math.max(greatest - least, 1) * (low - high);
    line(LEFT, y(0), LEFT + width(), y(0), ink.lane);
    strip.points.filter((point) => shows(point.from, point.to)).forEach((point) => hit(
      bar(top, STRIP, point.from, point.to), strip.label + " minus true time: " + signed(point.offsets[0])
        + (point.offsets[1] === point.offsets[0] ? "" : " to " + signed(point.offsets[1])), point.from));
    pen.save(); pen.beginPath(); pen.rect(LEFT, top, width(), STRIP); pen.clip();
    strip.points.forEach((point, index) => {
      line(x(point.from), y(point.offsets[0]), x(point.to), y(point.offsets[1]), ink.ink, 1.6);
      const before = strip.points[index - 1];
      if (before) line(x(point.from), y(before.offsets[1]), x(point.from), y(point.offsets[0]), ink.ink, 1.6, [2, 2]);
      if (shows(point.from, point.to)) label(inside(point.from) + 3, y(point.offsets[0]) - 3, signed(point.offsets[0]), ink.ink);
    });
    pen.restore();
    top += STRIP;
  }
}

function drawNames() {
  pen.fillStyle = ink.paper; pen.fillRect(0, 0, LEFT - 1, height); pen.fillRect(LEFT + width() + 1, 0, RIGHT, height);
  pen.textAlign = "right"; pen.fillStyle = ink.ink;
  const name = (text, y, font) => {
    pen.font = font;
    let short = text;
    while (short.length > 1 && pen.measureText(short).width > LEFT - 16) short = short.slice(0, -2) + "…";
    pen.fillText(short, LEFT - 10, y);
  };
  for (const row of rows) {
    pen.fillStyle = ink.ink;
    name(row.label, row.middle + 4, "bold 12px sans-serif");
    if (row.client) fill({ x: LEFT - 7, y: row.middle - 8, width: 4, height: 16 }, CLIENTS[placeOf.get(row.host) % CLIENTS.length]);
  }
  pen.fillStyle = ink.faint;
  name("true time", bottom + 20, LABEL);
  pen.fillStyle = ink.ink;
  strips.forEach((strip, index) => name(strip.label, bottom + 50 + index * STRIP + 28, "12px sans-serif"));
}

function draw() {
  const ratio = devicePixelRatio || 1, wide = canvas.clientWidth;
  if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(wide * ratio); canvas.height = Math.round(height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  hits = []; labels = []; taken = [];
  fill({ x: 0, y: 0, width: wide, height }, ink.paper);
  pen.save(); pen.beginPath(); pen.rect(LEFT, 0, width(), height); pen.clip();
  drawLanes(); drawFaults(); drawBands(); drawMessages(true);
  rows.forEach((row) => { if (row.client) drawClient(row); else if (row.node) drawNode(row); });
  drawMessages(false); drawProof(); drawStory(); drawClocks(); drawCaptions();
  if (cursor !== null) line(x(cursor), TOP, x(cursor), height, ink.faint, 1, [2, 3]);
  drawLabels();
  pen.restore();
  drawNames(); drawAxis();
  document.getElementById("shown").textContent =
    seconds(Math.round(from), 6) + " to " + seconds(Math.round(to), 6) + ", " + span(to - from) + " wide";
}

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
}

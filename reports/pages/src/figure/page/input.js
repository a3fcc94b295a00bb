// What a reader does: zoom, drag, keys, choosing evidence.

function go(start, end) {
  const middle = (start + end) / 2, wide = Math.min(Math.max(end - start, LEAST), MOST);
  from = middle - wide / 2; to = middle + wide / 2;
  redraw();
}
function zoom(factor, at) {
  const wide = Math.min(Math.max((to - from) * factor, LEAST), MOST), part = (at - from) / (to - from);
  go(at - part * wide, at + (1 - part) * wide);
}
function pan(part) { const shift = (to - from) * part; go(from + shift, to + shift); }
function whole() { go(-MARGIN, view.ended + MARGIN); }
// A stretch with room around it; an instant with a hundredth of a second.
function show(start, end) { const room = Math.max((end - start) * 0.15, end > start ? LEAST : 5e6); go(start - room, end + room); }

function colors() {
  const key = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  ink = Object.fromEntries(COLOURS.split(" ").map((name) => [key(name), colour(name)]));
  hatches.clear();
  drawLegend();
  redraw();
}

function make(name, text, kind) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

function item(list, parts, act) {
  const button = make("button");
  button.type = "button";
  parts.forEach(([text, kind]) => button.append(make("span", text, kind), " "));
  button.addEventListener("click", act);
  const entry = make("li");
  entry.append(button);
  list.append(entry);
  return entry;
}

// Goes to the events that prove a piece of evidence, and lists them under it.
function choose(index) {
  chosen = index;
  const old = document.getElementById("proof");
  if (old) old.remove();
  document.querySelectorAll("#evidence > li > button").forEach((button, place) => button.classList.toggle("chosen", place === index));
  if (index === null) return redraw();
  const evidence = view.evidence[index], times = evidence.events.map((place) => view.events[place].at).concat(evidence.from, evidence.to);
  const list = make("ul");
  list.id = "proof";
  evidence.events.forEach((place) => {
    const event = view.events[place];
    item(list, [[instant(event.at), "when"], [event.words]], () => { cursor = event.at; show(event.at, event.at); told(); });
  });
  const entry = document.querySelectorAll("#evidence > li")[index];
  entry.append(list);
  entry.scrollIntoView({ block: "nearest" });
  show(Math.min(...times), Math.max(...times));
}

function step(by) {
  if (!view.evidence.length) return;
  choose(chosen === null ? (by > 0 ? 0 : view.evidence.length - 1) : (chosen + by + view.evidence.length) % view.evidence.length);
}

// The clocks of every host at the cursor.
function told() {
  const table = document.getElementById("clocks"), at = cursor;
  document.getElementById("at").textContent = at === null ? "point at the picture" : "true time " + instant(at);
  table.replaceChildren();
  if (at === null || !view.clocks.length) return;
  const row = (cells, kind) => { const line = make("tr"); cells.forEach((cell) => line.append(make(kind, cell))); table.append(line); };
  row(["host", "wall", "monotonic", "wall off by"], "th");
  view.hosts.forEach((host, index) => {
    const clocks = clocksAt(index, at);
    if (clocks) row([host.name, timeOfDay(clocks.wall), seconds(clocks.monotonic, 6), signed(clocks.wall - Math.round(at))], "td");
  });
}

function near(hit, place) {
  if (hit.area) {
    const area = hit.area;
    return place.x >= area.x && place.x <= area.x + area.width && place.y >= area.y && place.y <= area.y + area.height;
  }
  const [x1, y1, x2, y2] = hit.ends, part = Math.min(Math.max(((place.x - x1) * (x2 - x1) + (place.y - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2), 0), 1);
  return Math.hypot(place.x - x1 - part * (x2 - x1), place.y - y1 - part * (y2 - y1)) < 5;
}

function messageWords(message) {
  const words = (phrase) => phrase.meaning ? phrase.meaning + " (" + phrase.words + ")" : phrase.words;
  const said = message.phrases.map((phrase) => phrase.kind + " " + phrase.number + ": " + words(phrase)).join("; ") || message.bytes + " bytes";
  const way = message.arrived === null ? "had not arrived when the run ended" : "arrived " + instant(message.arrived) + ", after " + span(message.arrived - message.sent);
  const held = message.held.length ? "; held at " + message.held.map(instant).join(", ") : "";
  return hostName(message.from) + " to " + hostName(message.to) + ": " + said + "; " + way + held;
}

function pointAt(event) {
  const box = canvas.getBoundingClientRect(), place = { x: event.clientX - box.left, y: event.clientY - box.top };
  cursor = place.x >= LEFT ? Math.min(Math.max(timeAt(place.x), 0), view.ended) : null;
  told();
  const found = [...hits].reverse().find((hit) => near(hit, place));
  tip.style.display = found ? "block" : "none";
  if (found) {
    tip.textContent = instant(found.at) + ": " + (found.message ? messageWords(found.message) : found.words);
    tip.style.left = Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), 0) + "px";
    tip.style.top = Math.max(Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8), 0) + "px";
  }
  redraw();
}

let drag = null;
canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, from, to }; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { drag = null; });
canvas.addEventListener("pointermove", (event) => {
  if (!drag) return pointAt(event);
  const shift = (drag.x - event.clientX) / width() * (drag.to - drag.from);
  go(drag.from + shift, drag.to + shift);
});
canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
canvas.addEventListener("wheel", (event) => {
  if (event.shiftKey) return;
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / 1000);
  else zoom(Math.exp(event.deltaY / 400), timeAt(Math.max(event.clientX - box.left, LEFT)));
}, { passive: false });

const keys = {
  ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1), "+": () => zoom(0.5, (from + to) / 2), "=": () => zoom(0.5, (from + to) / 2),
  "-": () => zoom(2, (from + to) / 2), "0": whole, Home: whole, n: () => step(1), p: () => step(-1), Escape: () => choose(null),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
const acts = { in: keys["+"], out: keys["-"], left: keys.ArrowLeft, right: keys.ArrowRight, whole, next: () => step(1), previous: () => step(-1) };
document.querySelectorAll("#tools button").forEach((button) => button.addEventListener("click", acts[button.dataset.act]));

view.evidence.forEach((evidence, index) => item(document.getElementById("evidence"),
  [[evidence.predicate, "predicate"], [evidence.words]], () => choose(chosen === index ? null : index)));
view.story.forEach((event, index) => item(document.getElementById("story"),
  [[index + 1, event.proves ? "number proves" : "number"], [seconds(event.at, 3), "when"], [event.words]],
  () => { cursor = event.at; show(event.at, event.at); told(); }));
document.getElementById("left-out").textContent = view.left_out && "… and " + view.left_out;
canvas.style.height = height + "px";
dark.addEventListener("change", colors);
new ResizeObserver(redraw).observe(document.getElementById("frame"));
colors();
told();

// Words in the lanes: none covers another, and none is so close to another that the two are read as one.

// Labels are drawn last, those asked for first where two would cover each other.
function label(place, y, text, style) { labels.push({ x: place, y, text, style, room: Infinity }); }

// A label to the right of a mark, or to its left where the picture ends too soon.
function labelBeside(place, gap, y, text, style) {
  const wide = measure(text);
  label(place + gap + wide <= LEFT + width() ? place + gap : place - gap - wide, y, text, style);
}

// A label inside of a bar: the first of its texts that there is room for, or none, for beside the bar is another's place.
function labelIn(area, y, texts, style) {
  labels.push({ x: area.x + 3, y, text: texts.find((text) => measure(text) <= area.width - 5), style, room: area.width - 5 });
}

function measure(text) { pen.font = LABEL; return pen.measureText(text).width; }

// As much of a text as fits, with a mark where it was cut.
function fitted(text, room) {
  let short = text;
  while (short.length > 1 && measure(short) > room) short = short.slice(0, -2) + "…";
  return short;
}

function drawLabels() {
  pen.textAlign = "left"; pen.lineJoin = "round";
  const right = LEFT + width();
  for (const it of labels) {
    if (it.text === undefined) continue;
    const text = fitted(it.text, width()), wide = measure(text);
    let place = Math.max(Math.min(it.x, right - wide), LEFT);
    const last = it.room === Infinity ? place : Math.min(it.x + it.room, right) - wide;
    const covers = () => taken.find((other) => place < other.x + other.width + 6 && other.x < place + wide + 6
      && Math.abs(other.y - it.y) < 11);
    let other = covers();
    while (other && place <= last) { place = other.x + other.width + 7; other = covers(); }
    if (other || place > last + 0.1) continue;
    taken.push({ x: place, y: it.y, width: wide });
    pen.strokeStyle = ink.paper; pen.lineWidth = 3; pen.strokeText(text, place, it.y);
    pen.fillStyle = it.style; pen.fillText(text, place, it.y);
  }
  pen.lineWidth = 1;
}

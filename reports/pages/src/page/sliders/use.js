// Sliders over the rates of faults: moves them, and writes what the designs then come to.

const data = JSON.parse(document.getElementById("sliders-data").textContent);
const place = document.getElementById("sliders");
const factors = {};

/** A length of time in a few letters. */
function span(seconds) {
  const [unit, length] = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]].find(([, length]) => seconds >= 2 * length) ?? ["s", 1];
  return `${Number((seconds / length).toPrecision(2))} ${unit}`;
}

function element(name, text, parent) {
  const it = document.createElement(name);
  it.textContent = text;
  parent.append(it);
  return it;
}

const table = document.createElement("table");
const head = element("tr", "", table.createTHead());
["design", ...data.rules].forEach((words) => { element("th", words, head).scope = "col"; });
const body = table.createTBody();
const cells = data.designs.map((design) => {
  const row = body.insertRow();
  element("td", design.name, row).dataset.label = "design";
  return data.rules.map((words) => {
    const cell = element("td", "", row);
    cell.dataset.label = words;
    return cell;
  });
});

function show() {
  data.designs.forEach((design, number) => {
    const reweighed = reweigh(data, design, factors);
    data.rules.forEach((_, rule) => { cells[number][rule].textContent = words(data, inUnit(data, reweighed, rule)); });
  });
}

const inputs = data.causes.filter((cause) => cause.is_felt).map((cause) => {
  const label = element("label", "", place);
  element("span", cause.words, label);
  const input = element("input", "", label);
  Object.assign(input, { type: "range", min: -1.5, max: 1.5, step: 0.05, value: 0 });
  const output = element("output", `every ${span(cause.every_s)}`, label);
  input.addEventListener("input", () => {
    const factor = 10 ** Number(input.value);
    factors[cause.number] = factor;
    output.textContent = `every ${span(cause.every_s / factor)}`;
    show();
  });
  return input;
});
const reset = element("button", "as in the study", place);
reset.type = "button";
reset.addEventListener("click", () => {
  inputs.forEach((input) => { input.value = 0; input.dispatchEvent(new Event("input")); });
});
place.append(table);
show();

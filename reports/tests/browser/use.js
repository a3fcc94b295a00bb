// Uses a page as a reader does. Evaluates to a list of what went wrong, which is empty if all is well.
//
// Evaluated in the page by check.py, which puts the number of pieces of evidence in place of EVIDENCE. Knows the page by
// its elements only.
(async () => {
  const wrong = [];
  const check = (holds, what) => { if (!holds) wrong.push(what); };
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const shown = () => document.getElementById("shown").textContent;
  const canvas = document.getElementById("canvas"), tip = document.getElementById("tip");
  const press = async (key) => { document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); await frame(); };
  const send = (kind, x, y, more) => {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new (more ? WheelEvent : PointerEvent)(kind,
      { clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true, pointerId: 1, ...more }));
  };
  const painted = () => {
    // Read back from a copy: the page's own canvas is made for drawing.
    const copy = new OffscreenCanvas(canvas.width, canvas.height), pen = copy.getContext("2d", { willReadFrequently: true });
    const colors = new Set();
    pen.drawImage(canvas, 0, 0);
    const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4 * 97) colors.add((data[at] << 16) + (data[at + 1] << 8) + data[at + 2]);
    return colors.size;
  };
  // What is written on the picture from now on: where, and how large.
  const written = [], fillText = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    if (this.canvas === canvas) {
      const wide = this.measureText(text).width, left = x - { left: 0, center: wide / 2, right: wide }[this.textAlign];
      written.push({ text, left, right: left + wide, y, size: Number(/([\d.]+)px/.exec(this.font)[1]) });
    }
    fillText.call(this, text, x, y);
  };
  const runInto = (one, other) => {
    const apart = Math.abs(one.y - other.y), gap = apart < 1 ? 5 : 0;
    return apart < 9 && one.left < other.right + gap && other.left < one.right + gap;
  };
  try {
    await frame();
    // No two texts are read as one, and none is too small, in the whole run and closer.
    for (const key of ["0", "+", "+", "ArrowLeft", "n", "0"]) {
      written.length = 0;
      await press(key);
      check(key !== "0" || written.length > 5, "key " + key + " writes " + written.length + " texts");
      written.forEach((one, place) => {
        check(one.size >= 10, "'" + one.text + "' has " + one.size + " pixels");
        const other = written.slice(place + 1).find((other) => runInto(one, other));
        check(!other, "key " + key + ": '" + one.text + "' runs into '" + other?.text + "'");
      });
    }
    await press("Escape");
    const whole = shown();
    check(painted() > 5, "the whole run is drawn in " + painted() + " colours");
    for (let turn = 0; turn < 60; turn += 1) send("wheel", 500, 100, { deltaY: -400 });
    await frame();
    check(shown().endsWith("200 µs wide"), "zoomed in, it shows " + shown());
    for (let turn = 0; turn < 90; turn += 1) send("wheel", 500, 100, { deltaY: 400 });
    await frame();
    const [, size, unit] = /, ([\d.]+) (s|min|h|d) wide/.exec(shown()) ?? [];
    const seconds = size * { s: 1, min: 60, h: 3600, d: 86400 }[unit];
    check(seconds >= 600, "zoomed out, it shows " + shown());
    await press("0");
    check(shown() === whole, "key 0 shows " + shown() + ", not " + whole);
    await press("ArrowRight");
    check(shown() !== whole, "the right arrow moves nothing");
    await press("0");
    // Somewhere in the lanes there is something to be said.
    let said = 0;
    for (let x = 140; x < canvas.clientWidth - 20; x += 12) {
      for (let y = 10; y < canvas.clientHeight; y += 12) {
        send("pointermove", x, y);
        said += tip.style.display === "block" && tip.textContent.length > 8 ? 1 : 0;
      }
    }
    check(said > 20, "only " + said + " places of the picture say something");
    // Also with the clocks below them.
    const [lanes, all] = ["frame", "picture"].map((id) => document.getElementById(id).getBoundingClientRect().height);
    check(lanes >= Math.min(canvas.clientHeight, all * 2 / 3) - 1, "the lanes have " + lanes + " of " + all + " pixels");
    // Every number of the list is drawn whole: 16 pixels wide, and short of the edge. The clocks, shown since the first
    // pointing, may have brought a scroll bar, so the picture is drawn anew first.
    await frame();
    await frame();
    const columns = new Map();
    for (let x = 125; x < canvas.clientWidth; x += 1) {
      send("pointermove", x, 25);
      const number = tip.style.display === "block" && /s: (\d+): /.exec(tip.textContent)?.[1];
      if (number) columns.set(number, [...(columns.get(number) ?? []), x]);
    }
    for (let number = 1; number <= document.querySelectorAll("#story button").length; number += 1) {
      const found = columns.get(String(number)) ?? [];
      check(found.length >= 14 && found.at(-1) <= canvas.clientWidth - 11,
        "number " + number + " is cut off: " + found.length + " pixels, up to " + found.at(-1) + " of " + canvas.clientWidth);
    }
    // The signs are explained where they are seen.
    const legend = document.getElementById("legend"), box = legend?.getBoundingClientRect();
    const signs = [...(legend?.querySelectorAll("li") ?? [])].map((sign) => sign.textContent);
    check(signs.length > 4 && signs.includes("believes it holds the lock"), "the legend has " + signs.join(", "));
    check(legend && box.height > 10 && box.bottom <= innerHeight && box.right <= innerWidth, "the legend is out of sight");
    for (const sign of legend?.querySelectorAll("canvas") ?? []) {
      const { data } = sign.getContext("2d").getImageData(0, 0, sign.width, sign.height);
      check(data.some((value) => value > 0), "a sign of the legend is empty: " + sign.parentElement.textContent);
    }
    const isDouble = [...document.querySelectorAll(".verdict.violated")].some((it) => it.textContent.startsWith("P1"));
    check(!isDouble || signs.includes("double hold"), "a double hold is not explained");
    const heading = document.querySelector("aside h2").textContent;
    check(heading.includes("click") === EVIDENCE > 0, EVIDENCE + " pieces of evidence under: " + heading);
    const toEvidence = [...document.querySelectorAll("[data-act=next], [data-act=previous]")];
    check(toEvidence.every((button) => button.disabled === (EVIDENCE === 0)), "a button leads to no evidence");
    const clocks = document.querySelectorAll("#clocks tr").length;
    check(clocks > 3, "the clocks of " + clocks + " hosts are shown");
    const evidence = [...document.querySelectorAll("#evidence > li > button")];
    check(evidence.length === EVIDENCE, evidence.length + " pieces of evidence are listed");
    for (const button of evidence) {
      await press("0");
      button.click();
      await frame();
      const proof = [...document.querySelectorAll("#proof button")];
      check(proof.length > 0, "nothing proves: " + button.textContent);
      const before = shown();
      proof[0]?.click();
      await frame();
      check(shown() !== before, "an event that proves something shows nothing: " + proof[0]?.textContent);
      button.click();
    }
    await press("n");
    check(!evidence.length || document.getElementById("proof"), "key n chooses no evidence");
    const story = document.querySelectorAll("#story button");
    check(story.length > 0, "nothing happened");
    story.forEach((button) => button.click());
    await frame();
    check(painted() > 3, "an event is drawn in " + painted() + " colours");
  } catch (error) {
    wrong.push(String(error && error.stack || error));
  }
  return wrong;
})()

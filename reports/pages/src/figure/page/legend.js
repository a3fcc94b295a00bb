// What the signs of the picture mean, as far as they are in it: in the picture's own inks, light or dark.

const SIGN = { wide: 26, high: 14 };

function bars(style, stroke) {
  return () => { const area = { x: 3, y: 2, width: 20, height: 10 }; fill(area, style()); edge(area, stroke()); };
}

// Each with whether it is in this run, how it is drawn, and its words. The first client's colour stands for all.
function signs() {
  const claims = view.clients.flatMap((lane) => lane.claims), writes = view.clients.flatMap((lane) => lane.writes);
  const isLate = (claim) => claim.valid.length !== 1 || claim.valid[0][0] !== claim.from || claim.valid[0][1] !== claim.to;
  const wrote = (...fates) => writes.some((write) => write.arrived !== null && fates.includes(write.fate));
  const struck = (...natures) => view.faults.some((fault) => fault.lasts && natures.includes(fault.kind.nature));
  const held = view.messages.some((message) => message.held.length || message.arrived === null);
  const color = () => CLIENTS[0], plain = () => ink.ink, soft = () => ink.lane, bad = () => ink.violation;
  const key = () => {
    const area = { x: 3, y: 2, width: 20, height: 10 };
    fill(area, ink.paper); pen.globalAlpha = 0.35; fill(area, CLIENTS[0]); pen.globalAlpha = 1; edge(area, CLIENTS[0]);
  };
  const triangle = (style) => () => {
    pen.fillStyle = style(); pen.beginPath(); pen.moveTo(13, 11); pen.lineTo(9, 4); pen.lineTo(17, 4); pen.fill();
  };
  const ring = (radius, style) => () => {
    pen.fillStyle = ink.paper; pen.strokeStyle = style(); pen.beginPath(); pen.arc(13, 7, radius, 0, 7); pen.fill(); pen.stroke();
  };
  const keys = view.nodes.flatMap((lane) => lane.keys), ended = (...ends) => keys.some((key) => key.until && ends.includes(key.until[1]));
  // With the whole run in sight, as it is at first.
  const isUpright = (message) => ((message.arrived === null ? view.ended : message.arrived) - message.sent) / (view.ended + 2 * MARGIN) * width() < 3;
  const upright = (style, wide, dashes) => () => line(13, 1, 13, 13, style(), wide, dashes);
  const arrow = (style, dashes) => () => { line(2, 4, 22, 10, style(), 1, dashes); if (!dashes) arrowHead(2, 4, 22, 10, style()); };
  return [
    [view.story.length, ring(6, plain), "what happened, by its number in the list"],
    [view.story.some((event) => event.proves), ring(6, bad), "the same, where it proves a violation"],
    [view.story.length, upright(plain, 1.2, [1, 2]), "its instant, down to its lane"],
    [claims.length, bars(color, color), "believes it holds the lock"],
    [claims.some(isLate), bars(() => hatch(ink.paper, CLIENTS[0], 6, 2), color), "still believes it, past its own deadline"],
    [claims.some(isLate), upright(plain, 1.5), "its deadline passes on its own clock"],
    [view.clients.some((lane) => lane.waits.length), () => line(3, 7, 23, 7, CLIENTS[0], 2, [1, 4]), "waits for the lock"],
    [view.clients.some((lane) => lane.refusals.length), ring(3, color), "is refused"],
    [wrote("applied"), triangle(plain), "write applied"],
    [wrote("late", "refused"), triangle(bad), "write late or refused"],
    [wrote("lost"), triangle(bad), "committed write lost"],
    [view.nodes.length, key, "the node holds that client's key"],
    [ended("expired"), upright(plain, 2.5), "the key expires"],
    [ended("deleted", "overwritten"), upright(() => ink.faint, 1.5), "a command ends the key"],
    [ended(...LOST), upright(bad, 2.5), "the node loses the key"],
    [view.messages.length, arrow(() => ink.faint), "message, from when it is sent to when it arrives"],
    [view.messages.some(isUpright), () => [8, 10, 13, 14, 17].forEach((place) => line(place, 1, place, 13, ink.upright)),
      "messages that are too close to be told apart"],
    [held, arrow(bad, [4, 2]), "message that was held, or has not arrived"],
    [view.overlaps.length, bars(() => hatch(ink.double, ink.doubleLine, 10, 1), bad), "double hold"],
    [struck("stop"), bars(() => shade("stop"), soft), "code stands still"],
    [struck("death"), bars(() => shade("death"), soft), "process gone"],
    [struck("link", "message"), bars(() => shade("link"), soft), "fault of a link"],
    [struck("clock", "clock-once"), bars(() => shade("clock"), soft), "clock off"],
    [view.faults.some((fault) => !fault.lasts), upright(bad, 1.5, [3, 2]), "a fault that strikes once"],
  ];
}

// Drawn with the picture's pen, which is lent to a small canvas for each sign.
function drawLegend() {
  const list = document.getElementById("legend"), picture = pen, ratio = devicePixelRatio || 1;
  list.replaceChildren();
  for (const [isUsed, draws, words] of signs()) {
    if (!isUsed) continue;
    const sign = make("canvas"), entry = make("li");
    sign.width = SIGN.wide * ratio; sign.height = SIGN.high * ratio;
    sign.style.width = SIGN.wide + "px"; sign.style.height = SIGN.high + "px";
    sign.setAttribute("aria-hidden", "true");
    pen = sign.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    draws();
    entry.append(sign, words);
    list.append(entry);
  }
  pen = picture;
}

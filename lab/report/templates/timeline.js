// Moves the view of a run's drawing, which lab/report/lanes has drawn: it stretches the marks, and places signs and texts anew.
// A place is in the pixels of the opening view: 0 is its left end, facts.room its right end.
(() => {
"use strict";
const figure = document.getElementById("timeline"), facts = JSON.parse(document.getElementById("timeline-data").textContent);
const find = (what) => figure.querySelector(what), all = (what, where = figure) => [...where.querySelectorAll(what)];
const svg = find(".lanes"), plot = find(".plot"), time = find(".time"), tip = find(".tip"), overview = find(".overview"), seen = find(".seen");
const [SINCE, UNTIL, BEND, SHARE] = facts.axis, ROOM = facts.room, SIDES = facts.left + facts.right, HEIGHT = svg.viewBox.baseVal.height;
const LEAST_US = 50, LABELLED = 24, WITH_READS = 60, MOST_TILES = 3; // grants in view up to which there are labels, and reads; tiles with texts
const EVEN = BEND < 0, bend = EVEN ? UNTIL : BEND; // from there on, time is denser
const place = (at) => ROOM * (EVEN || at <= bend ? (at - SINCE) / (bend - SINCE) * SHARE : SHARE + (at - bend) / (UNTIL - bend) * (1 - SHARE));
const moment = (x) => EVEN || x / ROOM <= SHARE ? SINCE + x / ROOM / SHARE * (bend - SINCE) : bend + (x / ROOM - SHARE) / (1 - SHARE) * (UNTIL - bend);
const FIRST = Math.min(0, place(0)), LAST = Math.max(place(facts.end), ROOM), LEAST = LEAST_US * ROOM * SHARE / (bend - SINCE);
const OPENS = [0, ROOM];
let view = OPENS, width = 0, loss = facts.focus, chosen = null, frame = 0;

const shapes = all(".time > g"), words = all(".words > g");
const tiles = shapes.map((one, number) => {
  const [since, until] = one.dataset.span.split(" ").map(Number);
  return { since, until, shapes: one, words: words[number], later: facts.tiles[number] };
});
// Puts a tile into the document, once.
function mount(tile, withWords = true) {
  const [marks, texts] = tile.later;
  if (marks && !tile.bars) tile.shapes.innerHTML = marks;
  tile.bars ??= all(".belief[data-held]", tile.shapes);
  tile.spans ??= tile.bars.map((bar) => [+bar.getAttribute("x"), +bar.getAttribute("x") + +bar.getAttribute("width")]);
  if (!withWords || tile.texts) return tile;
  if (texts) tile.words.innerHTML = texts;
  tile.texts = all("text, use", tile.words).map((one) => ({
    one, x: +one.getAttribute("x"), y: +one.getAttribute("y"), until: +one.dataset.until, aside: +one.getAttribute("dx"),
    side: one.getAttribute("text-anchor"), isText: one.tagName === "text", size: 0, classes: one.classList,
  }));
  return tile;
}
const plotWidth = () => width - SIDES;
const px = (x) => (x - view[0]) / (view[1] - view[0]) * plotWidth();
const at = (clientX) => view[0] + ((clientX - svg.getBoundingClientRect().left) * width / svg.clientWidth - facts.left) / plotWidth() * (view[1] - view[0]);

function draw() {
  frame = 0;
  const scale = plotWidth() / (view[1] - view[0]), near = tiles.filter((one) => one.since <= view[1] && one.until >= view[0]);
  const withWords = (tile) => near.includes(tile) && (near.length <= MOST_TILES || !tile.later.length);
  for (const tile of tiles) {
    tile.shapes.style.display = near.includes(tile) ? "" : "none";
    tile.words.style.display = withWords(tile) ? "" : "none";
  }
  near.forEach((tile) => mount(tile, withWords(tile)));
  let grants = 0;
  for (const tile of near) for (const [since, until] of tile.spans) grants += since <= view[1] && until >= view[0];
  plot.classList.toggle("many", grants > LABELLED);
  plot.classList.toggle("crowded", grants > WITH_READS);
  time.setAttribute("transform", `translate(${-view[0] * scale} 0) scale(${scale} 1)`);
  write(near.filter(withWords).flatMap((tile) => tile.texts), near.length <= MOST_TILES, grants <= LABELLED);
  ticks();
  const unit = (moment(view[1]) - moment(view[0])) / 200, [since, until] = view.map((x) => seconds(Math.min(moment(x), facts.end), unit));
  seen.textContent = facts.in_view.replace("{since}", since).replace("{until}", until).replace("{all}", (facts.end / 1e6).toFixed(2));
  const bins = overview.viewBox.baseVal.width / facts.end, [left, right] = view.map((x) => Math.max(0, moment(x)) * bins), pane = overview.querySelector(".window");
  pane.setAttribute("x", left);
  pane.setAttribute("width", Math.max(bins * facts.end / 200, right - left));
}
const PUSHED = 40; // px: how far a text moves to lie on no sign
// Places signs, and texts where they are in view and cover no other: the first ones of the story before the others. A text lies on
// a sign only where there is no other place for it.
function write(found, withOthers, withDetails) {
  const taken = [];
  const fits = (since, y, size) => since >= 0 && since + size <= plotWidth() &&
    !taken.some(([a, b, line]) => Math.abs(line - y) < 11 && since < b + 4 && a < since + size + 4);
  const signs = found.filter((one) => !one.isText).map((one) => [px(one.x) - 4, px(one.x) + 4, one.y]);
  const under = (since, y, size) => signs.find(([a, b, line]) => line > y - 18 && line < y + 6 && since < b && a < since + size);
  // Where a text begins next to the signs that it would lie on; NaN where that is too far.
  const nextTo = (since, y, size, end) => {
    let moved = since;
    for (let sign = under(since, y, size); sign && Math.abs(moved - since) <= PUSHED; sign = under(moved, y, size)) moved = end ? sign[0] - size - 1 : sign[1] + 1;
    return Math.abs(moved - since) <= PUSHED ? moved : NaN;
  };
  for (const first of [true, false]) for (const text of found) {
    if (text.classes.contains("first") !== first) continue;
    const { one, isText } = text, held = text.until >= view[0] && text.x < view[0]; // the bar of a name goes on from the left
    const x = held ? 0 : px(text.x);
    one.setAttribute("x", x);
    if (!isText) continue;
    const inView = held || (text.x >= view[0] && text.x <= view[1]);
    let shown = false;
    if (inView && (first || withOthers && (withDetails || !text.classes.contains("detail")))) {
      one.classList.remove("off");
      text.size ||= one.getComputedTextLength();
      const ends = text.side === "end", centred = text.side === "middle";
      const sides = centred ? [false] : [ends, !ends], edge = (end) => centred ? x - text.size / 2 : x + (end === ends ? text.aside : -text.aside) - (end ? text.size : 0);
      const tried = sides.map((end) => [end, edge(end)]), clear = tried.filter(([, since]) => !under(since, text.y, text.size));
      const pushed = centred ? [] : tried.map(([end, since]) => [end, nextTo(since, text.y, text.size, end)]);
      const taking = [...clear, ...pushed, ...tried].find(([, since]) => fits(since, text.y, text.size));
      if (taking) {
        const [end, since] = taking;
        taken.push([since, since + text.size, text.y]);
        if (!centred) { one.setAttribute("text-anchor", end ? "end" : "start"); one.setAttribute("dx", since + (end ? text.size : 0) - x); }
        shown = true;
      }
    }
    one.classList.toggle("off", !shown);
  }
}
function seconds(us, unit) { return (us / 1e6).toFixed(Math.max(0, Math.min(6, Math.ceil(-Math.log10(Math.max(1, unit) / 1e6) - 1e-9)))); }
function ticks() {
  const [from, to] = view.map(moment), parts = EVEN ? [[from, to]] : [[from, Math.min(bend, to)], [Math.max(bend, from), to]];
  let lines = "", numbers = "";
  for (const [since, until] of parts) {
    const room = px(place(until)) - px(place(since));
    if (until <= since || room < 60) continue;
    const raw = (until - since) / Math.max(1, room / 95), power = 10 ** Math.floor(Math.log10(raw)), unit = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
    for (let us = Math.ceil(since / unit) * unit; us <= until; us += unit) {
      const x = facts.left + px(place(us));
      if (!EVEN && since === bend && x - facts.left - px(place(bend)) < 30) continue;
      lines += `M${x.toFixed(1)} 0V${plot.height.baseVal.value}`;
      if (x < width - 12) numbers += `<text x="${x.toFixed(1)}" y="${plot.height.baseVal.value + 16}" text-anchor="middle" class="soft">${seconds(us, unit)}</text>`;
    }
  }
  find(".ticks").innerHTML = `<path class="grid" d="${lines}"/>${numbers}`;
}
const soon = () => { frame ||= requestAnimationFrame(draw); };
function show(since, until) {
  const span = Math.max(LEAST, Math.min(LAST - FIRST, until - since)), start = Math.max(FIRST, Math.min(LAST - span, since));
  view = [start, start + span];
  soon();
}
function zoom(factor, x = (view[0] + view[1]) / 2) { show(x - (x - view[0]) * factor, x + (view[1] - x) * factor); }
function pan(part) { const by = part * (view[1] - view[0]); show(view[0] + by, view[1] + by); }
function opens() { mark(facts.focus); view = OPENS; soon(); }
function mark(number) {
  loss = number;
  for (const one of all(".loss")) if (one.dataset.loss) one.classList.toggle("shown", +one.dataset.loss === loss);
}
function toLoss(turn) {
  if (!facts.losses.length) return;
  loss = loss < 0 ? 0 : (loss + turn + facts.losses.length) % facts.losses.length;
  const [since, until, culprit] = facts.losses[loss];
  show(since, until);
  draw();
  mark(loss);
  select(find(`[data-held="${culprit}"]`));
}
const bars = () => tiles.filter((one) => one.since <= view[1] && one.until >= view[0]).flatMap((one) => mount(one, false).bars);

// What is chosen, and what the picture says of it.
function select(bar) {
  chosen?.classList.remove("chosen");
  chosen = bar ?? null;
  if (!chosen) return hide();
  chosen.classList.add("chosen");
  const since = +chosen.getAttribute("x"), half = (view[1] - view[0]) / 2;
  if (since > view[1] || since + +chosen.getAttribute("width") < view[0]) { show(since - half, since + half); draw(); }
  say(chosen, facts.left + Math.max(0, px(since)), +chosen.getAttribute("y") + 22);
}
const hide = () => { tip.hidden = true; };
function say(thing, x, y) {
  const [name, ...lines] = thing.dataset.says.split("\n"), head = document.createElement("b");
  head.textContent = name;
  tip.replaceChildren(head, ...lines.flatMap((line, place) => place ? [document.createElement("br"), line] : [line]));
  tip.hidden = false;
  const scale = svg.clientWidth / width;
  tip.style.left = `${Math.max(0, Math.min(svg.clientWidth - tip.offsetWidth, x * scale))}px`;
  tip.style.top = `${svg.getBoundingClientRect().top - svg.parentElement.getBoundingClientRect().top + y * scale}px`;
}
function turn(by) {
  const shown = bars();
  if (!chosen) return select(shown.find((bar) => px(+bar.getAttribute("x") + +bar.getAttribute("width")) >= 0));
  const own = tiles.findIndex((tile) => tile.bars?.includes(chosen)), place = tiles[own].bars.indexOf(chosen) + by, other = tiles[own + by];
  select(tiles[own].bars[place] ?? (other ? mount(other, false).bars.at(by > 0 ? 0 : -1) : chosen));
}

const DO = { opens, whole: () => show(FIRST, LAST), in: () => zoom(0.5), out: () => zoom(2), left: () => pan(-0.3), right: () => pan(0.3), previous: () => toLoss(-1), next: () => toLoss(1) };
find(".bar").hidden = false;
find(".bar").addEventListener("click", (event) => { const todo = DO[event.target.dataset.do]; if (todo) { hide(); todo(); } });
const KEYS = { ArrowLeft: DO.left, ArrowRight: DO.right, "+": DO.in, "=": DO.in, "-": DO.out, Home: DO.opens, 0: DO.whole, n: DO.next, p: DO.previous,
               ArrowDown: () => turn(1), ArrowUp: () => turn(-1), Escape: () => select(null) };
svg.addEventListener("keydown", (event) => {
  const todo = !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key];
  if (todo) { event.preventDefault(); hide(); todo(); }
});
svg.addEventListener("wheel", (event) => {
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!sideways && !event.ctrlKey && document.activeElement !== svg) return;
  event.preventDefault();
  hide();
  if (sideways) pan(event.deltaX / plotWidth());
  else zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) / 300), Math.max(view[0], at(event.clientX)));
}, { passive: false });
// One pointer drags, two fingers zoom: the moments below them stay in place.
const fingers = new Map();
let grip = null, pinch = null;
function hold(event) {
  const [one, other] = [...fingers.values()];
  grip = other ? null : { clientX: event.clientX, view, moved: false, target: event.target };
  pinch = other ? [at(Math.min(one, other)), at(Math.max(one, other))] : null;
}
svg.addEventListener("pointerdown", (event) => { if (fingers.size < 2) { fingers.set(event.pointerId, event.clientX); hold(event); } });
svg.addEventListener("pointermove", (event) => {
  if (fingers.has(event.pointerId)) fingers.set(event.pointerId, event.clientX);
  if (pinch) {
    const [left, right] = [...fingers.values()].sort((a, b) => a - b).map((clientX) => (at(clientX) - view[0]) / (view[1] - view[0]));
    const span = (pinch[1] - pinch[0]) / Math.max(0.02, right - left);
    hide();
    return show(pinch[0] - left * span, pinch[0] + (1 - left) * span);
  }
  if (grip && event.buttons) {
    if (!grip.moved && Math.abs(event.clientX - grip.clientX) < 4) return;
    if (!grip.moved) svg.setPointerCapture(event.pointerId);
    grip.moved = true;
    svg.classList.add("held");
    hide();
    const by = (event.clientX - grip.clientX) * width / svg.clientWidth / plotWidth() * (grip.view[1] - grip.view[0]);
    return show(grip.view[0] - by, grip.view[1] - by);
  }
  if (event.pointerType !== "touch") pointAt(event, event.target);
});
function pointAt(event, target) {
  const thing = target.closest("[data-says]"), box = svg.getBoundingClientRect();
  if (!thing) { if (!chosen) hide(); return null; }
  say(thing, (event.clientX - box.left) * width / svg.clientWidth + 12, (event.clientY - box.top) * width / svg.clientWidth + 16);
  return thing;
}
function release(event) {
  fingers.delete(event.pointerId);
  if (grip && !grip.moved && event.type === "pointerup") {
    const bar = grip.target.closest(".belief[data-held]");
    select(bar);
    if (!bar) pointAt(event, grip.target);
  }
  grip = pinch = null;
  svg.classList.remove("held");
}
svg.addEventListener("pointerup", release);
svg.addEventListener("pointercancel", release); // the page is scrolled with that finger
svg.addEventListener("pointerleave", (event) => { if (!chosen && event.pointerType !== "touch") hide(); });
const goTo = (event) => {
  const box = overview.getBoundingClientRect(), x = place((event.clientX - box.left) / box.width * facts.end), half = (view[1] - view[0]) / 2;
  show(x - half, x + half);
};
overview.addEventListener("pointerdown", goTo);
overview.addEventListener("pointermove", (event) => { if (event.buttons) goTo(event); });
function measure() {
  const now = Math.max(300, svg.parentElement.clientWidth);
  if (now === width) return;
  width = now;
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  plot.setAttribute("width", plotWidth());
  const rows = find(".rows"); // the lines between the lanes go as far as the picture
  rows.setAttribute("d", rows.getAttribute("d").replace(/H[\d.]+/g, `H${width - facts.right}`));
  soon();
}
new ResizeObserver(measure).observe(figure);
measure();
})();

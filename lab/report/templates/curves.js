// Draw the curves of runs in the page: of one, or of several in one chart, from each run's curves.js.
const lab = (() => {
"use strict";
const WIDTH = 860, HEIGHT = 380, LEFT = 84, RIGHT = 14, TOP = 14, BOTTOM = 46, STEPS = 24, LEAST_MS = 0.001, LANE = 20;
const loaded = new Map(), wanted = new Map();
let words = {};
// A text by its name (lab/story/words.toml, table curves), with its places filled.
const say = (name, places = {}) => words[name].replace(/\{(\w+)\}/g, (place, key) => places[key] ?? place);

// A run's file calls this with its curves.
function curves(one) { loaded.set(one.run, one); }
// A script tag, because a page opened from a disk can load nothing else.
function load(run) {
  if (!wanted.has(run)) wanted.set(run, new Promise((done, fail) => {
    const tag = document.createElement("script");
    tag.src = `runs/${encodeURIComponent(run)}/curves.js`;
    tag.onload = () => loaded.has(run) ? done(loaded.get(run)) : fail(new Error("file_damaged"));
    tag.onerror = () => { wanted.delete(run); fail(new Error("file_missing")); };
    document.head.append(tag);
  }));
  return wanted.get(run);
}

const node = (name, attributes, ...inside) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  one.append(...inside);
  return one;
};
const thousands = (number) => { const digits = Math.round(number).toString(); return digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, "\u202f"); };
const amount = (number) => number === null ? "–" : number >= 100 || number === 0 ? thousands(number) : Number(number.toPrecision(3)).toString();
const ink = (colour, dashes = "", width = 2) => `stroke: ${colour}; fill: none; stroke-width: ${width}; stroke-dasharray: ${dashes || "none"}`;

function ticks(most, room) {
  const raw = most / room, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  return Array.from({ length: Math.floor(most / step * 1.0001) + 1 }, (_, i) => i * step);
}
// Draw the axes with a grid, from 0 to most (logarithmic: from least to most). Returns the two scales.
function axes(svg, { most_x, most_y, least_x = 0, log = false, share = false, words_x, words_y, lanes = 0 }) {
  const top = TOP + lanes * LANE, low = HEIGHT - BOTTOM, right = WIDTH - RIGHT;
  const part = log ? (at) => Math.log10(at / least_x) / Math.log10(most_x / least_x) : (at) => at / most_x;
  const x = (at) => LEFT + part(at) * (right - LEFT), y = (value) => low - value / most_y * (low - top);
  const decades = Array.from({ length: Math.ceil(Math.log10(most_x)) - Math.floor(Math.log10(least_x || 1)) + 1 }, (_, i) => 10 ** (i + Math.floor(Math.log10(least_x || 1))));
  for (const at of log ? decades.filter((at) => at >= least_x && at <= most_x) : ticks(most_x, 8)) {
    svg.append(node("path", { d: `M${x(at)} ${top}V${low}`, style: ink("#e6e6e6", "", 1) }), node("text", { x: x(at), y: low + 19, "text-anchor": "middle", style: "fill: #444444" }, amount(at)));
  }
  for (const value of ticks(most_y, 6)) {
    svg.append(node("path", { d: `M${LEFT} ${y(value)}H${right}`, style: ink("#e6e6e6", "", 1) }), node("text", { x: LEFT - 7, y: y(value) + 5, "text-anchor": "end", style: "fill: #444444" }, share ? `${Math.round(value * 100)}%` : amount(value)));
  }
  svg.append(node("path", { d: `M${LEFT} ${top}V${low}H${right}`, style: ink("#888888", "", 1) }));
  svg.append(node("text", { x: (LEFT + right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, words_x));
  svg.append(node("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(13 ${(top + low) / 2}) rotate(-90)` }, words_y));
  return { x, y, top, low };
}
const path = (xs, ys) => xs.map((px, i) => `${i ? "L" : "M"}${px.toFixed(1)} ${ys[i].toFixed(1)}`).join("");
const stairs = (xs, ys) => xs.map((px, i) => i ? `H${px.toFixed(1)}V${ys[i].toFixed(1)}` : `M${px.toFixed(1)} ${ys[i].toFixed(1)}`).join("");

// Draw the faults above the curves, one lane for each run.
function faultLanes(svg, scale, runs) {
  const faulty = runs.filter((run) => run.faults.length);
  faulty.forEach((run, row) => {
    const high = TOP + row * LANE;
    for (const band of run.faults) {
      const from = scale.x(band.from_s), width = Math.max(1, scale.x(band.until_s) - from);
      svg.append(node("rect", { x: from, y: high, width, height: LANE - 4, style: `fill: ${run.colour}; opacity: .35` }));
      svg.append(node("path", { d: `M${from} ${high}V${scale.low}`, style: ink(run.colour, "2 4", 1.2) }));
    }
    const kinds = [...new Set(run.faults.map((band) => band.kind.replaceAll("_", " ")))], first = scale.x(run.faults[0].from_s), late = first > WIDTH / 2;
    svg.append(node("text", { x: first + (late ? -6 : 6), y: high + 13, "text-anchor": late ? "end" : "start" }, say("fault", { label: run.label, kinds: kinds.join(", ") })));
  });
}
const lanesOf = (runs) => runs.filter((run) => run.faults.length).length;
const lastOf = (runs) => Math.max(0.001, ...runs.map((run) => run.time_s.at(-1) || 0));

function counters(svg, runs) {
  const most_y = Math.max(1, ...runs.flatMap((run) => [...run.value, ...run.acknowledged.map((sure, i) => sure + run.unknown[i])])) * 1.04;
  const scale = axes(svg, { most_x: lastOf(runs), most_y, words_x: say("time"), words_y: say("increments"), lanes: lanesOf(runs) });
  for (const run of runs) {
    const xs = [0, ...run.time_s].map(scale.x), of = (values) => [0, ...values].map(scale.y), sure = of(run.acknowledged), value = of(run.value);
    const least = of(run.value.map((at, i) => Math.min(at, run.acknowledged[i]))), possible = of(run.acknowledged.map((at, i) => at + run.unknown[i]));
    const between = (upper, lower) => `${path(xs, upper)}L${path([...xs].reverse(), [...lower].reverse()).slice(1)}Z`;
    svg.append(node("path", { d: between(sure, least), style: `fill: ${run.colour}; opacity: .13` }), node("path", { d: between(possible, sure), style: "fill: #999999; opacity: .4" }));
    svg.append(node("path", { d: path(xs, sure), style: ink(run.colour, "7 4", 1.4) }), node("path", { d: path(xs, value), style: ink(run.colour) }));
  }
  faultLanes(svg, scale, runs);
}
// The same as run_data.py's rates: about so many steps.
function rates(run) {
  const times = [0, ...run.time_s], totals = [0, ...run.acknowledged], every = Math.max(1, Math.floor(times.length / STEPS));
  const at = times.filter((_, i) => i % every === 0), all = totals.filter((_, i) => i % every === 0);
  return [at, all.slice(1).map((total, i) => (total - all[i]) / (at[i + 1] - at[i]))];
}
function paces(svg, runs) {
  const speeds = runs.map(rates), most_y = Math.max(1, ...speeds.flatMap(([, per_s]) => per_s)) * 1.04;
  const scale = axes(svg, { most_x: lastOf(runs), most_y, words_x: say("time"), words_y: say("acknowledged"), lanes: lanesOf(runs) });
  runs.forEach((run, i) => {
    const [at, per_s] = speeds[i];
    if (per_s.length) svg.append(node("path", { d: stairs(at.map(scale.x), [...per_s, per_s.at(-1)].map(scale.y)), style: ink(run.colour, run.dashes, 1.8) }));
  });
  faultLanes(svg, scale, runs);
}
function waits(svg, runs) {
  const all = runs.flatMap((run) => run.wait_ms.map((ms) => Math.max(ms, LEAST_MS)));
  if (!all.length) return;
  const least = Math.min(...all), most = Math.max(...all, least * 10);
  const scale = axes(svg, { least_x: least, most_x: most, most_y: 1.02, log: true, share: true, words_x: say("wait"), words_y: say("share") });
  for (const run of runs) if (run.wait_ms.length) svg.append(node("path", { d: stairs(run.wait_ms.map((ms) => scale.x(Math.max(ms, LEAST_MS))), run.wait_share.map(scale.y)), style: ink(run.colour, run.dashes) }));
}

// Each chart: what paints it, its finding, a note, and whether the runs have what it draws.
const CHARTS = [
  [counters, (runs) => {
    const worst = runs.length === 1 ? runs[0] : [...runs].sort((a, b) => b.lost - a.lost).find((run) => run.lost > 0);
    return worst ? say("lost", { label: worst.label, acknowledged: thousands(worst.acknowledged_of), final: worst.final === null ? "?" : thousands(worst.final) }) : say("none_lost");
  }, "of_counter", () => true],
  [paces, (runs) => {
    const order = [...runs].sort((a, b) => a.per_s - b.per_s), slow = order[0], fast = order.at(-1), least = thousands(slow.per_s), most = thousands(fast.per_s);
    if (runs.length === 1) return say("speed", { label: fast.label, most });
    return slow.per_s ? say("faster", { fast: fast.label, slow: slow.label, times: (fast.per_s / slow.per_s).toFixed(1), most, least }) : say("fastest", { fast: fast.label, slow: slow.label, most });
  }, "of_speed", () => true],
  [waits, (runs) => {
    if (runs.length === 1) return say("longest", { label: runs[0].label, n: thousands(runs[0].grants), ms: amount(runs[0].wait_ms.at(-1)) });
    const slow = [...runs].sort((a, b) => b.p99_ms - a.p99_ms)[0];
    return slow.p99_ms === null ? say("no_wait") : say("slowest", { label: slow.label, ms: amount(slow.p99_ms) });
  }, "of_waits", (runs) => runs.length > 1 || runs[0].wait_ms.length > 0],
];
const swatch = (colour, dashes = "") => node("svg", { width: 30, height: 12, "aria-hidden": "true" }, node("path", { d: "M1 6H29", style: ink(colour, dashes, 3) }));

// Each of the runs has its curves, and from its row: label, lost, final, acknowledged_of, per_s, p99_ms, colour and dashes.
function draw(runs, texts) {
  words = texts;
  return CHARTS.filter(([, , , fits]) => fits(runs)).map(([paint, finding, note]) => {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption"), svg = node("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": finding(runs) });
    const strong = document.createElement("strong"), soft = document.createElement("span"), legend = document.createElement("ul");
    strong.textContent = finding(runs);
    soft.className = "soft";
    soft.textContent = say(note);
    caption.append(strong, document.createElement("br"), soft);
    legend.className = "legend";
    if (runs.length > 1) for (const run of runs) { const item = document.createElement("li"); item.append(swatch(run.colour, paint === counters ? "" : run.dashes), ` ${run.label}`); legend.append(item); }
    paint(svg, runs);
    figure.className = "chart";
    figure.tabIndex = 0;
    figure.append(caption, svg, ...(runs.length > 1 ? [legend] : []));
    return figure;
  });
}
return { curves, load, draw, thousands, amount, swatch };
})();

// Draws the curves of one run when a reader opens the part of the page in which they are.
function curvesOfRun(details, data) {
  details.addEventListener("toggle", () => details.querySelector("#curves").append(...lab.draw([data.run], data.words)), { once: true });
}

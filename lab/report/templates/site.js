// The table of all runs: filtered by the address and the form, ticked, and compared in one chart.
(() => {
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const rows = data.rows.map((row) => Object.fromEntries(data.fields.map((field, i) => [field, row[i]])));
// A text by its name (lab/story/words.toml, table runs_page), with its places filled. n: how many.
const say = (name, places = {}, n = 1) => (n !== 1 && data.says[`${name}_several`] || data.says[name]).replace(/\{(\w+)\}/g, (place, key) => ({ n: lab.thousands(n), ...places })[key] ?? place);
const form = document.getElementById("filters");
if (!form) return;
const FILTERS = ["stage", "scenario", "verdict"], PAGE = 100, DASHES = ["", "9 4", "2 3"];
const body = document.querySelector("#table tbody"), shown = document.getElementById("shown"), more = document.getElementById("more");
const ticked = document.getElementById("ticked"), comparison = document.getElementById("comparison");
const byName = new Map(rows.map((row) => [row.run, row]));
let chosen = new Set(), compared = [], room = PAGE;

const make = (name, about = {}, ...inside) => { const one = Object.assign(document.createElement(name), about); one.append(...inside); return one; };
const cell = (...inside) => make("td", {}, ...inside);
const number = (value) => make("td", { className: "n" }, value === null ? "?" : lab.thousands(value));
const verdict = (row) => make("td", { className: row.headline === row.verdict ? row.verdict : `${row.verdict} otherwise` }, row.headline);
const when = (row) => `${row.began.slice(0, 10)} ${row.began.slice(11, 19)}`;

for (const name of FILTERS) {
  const counts = new Map();
  for (const row of rows) counts.set(row[name], (counts.get(row[name]) || 0) + 1);
  for (const value of [...counts.keys()].sort()) form.elements[name].append(make("option", { value }, `${value} (${lab.thousands(counts.get(value))})`));
}
function found() { return rows.filter((row) => FILTERS.every((name) => !form.elements[name].value || row[name] === form.elements[name].value)); }
function line(row) {
  const tick = make("input", { type: "checkbox", checked: chosen.has(row.run), value: row.run, disabled: !row.curves });
  tick.setAttribute("aria-label", say("compare_one", { ...row, when: when(row) }));
  const name = row.page ? make("a", { href: `runs/${encodeURIComponent(row.run)}/${row.page}` }, row.label) : make("span", { title: `${say("not_drawn")} lab report ${row.run}` }, row.label);
  const first = make("td", {}, make("span", { className: "run" }, tick, make("span", {}, name, make("br"), make("span", { className: "soft" }, when(row)))));
  const seen = verdict(row);
  seen.append(make("div", { className: "why" }, row.why));
  return make("tr", {}, first, cell(row.scenario), seen, number(row.acknowledged), number(row.final), number(row.lost), number(row.duplicated),
    number(row.failed), number(row.unknown), number(row.per_s), make("td", { className: "n" }, lab.amount(row.p99_ms)));
}
function show() {
  const wanted = found(), some = wanted.slice(0, room);
  body.replaceChildren(...some.map(line));
  shown.textContent = wanted.length === rows.length ? say("number", {}, rows.length) : say("of_all", { all: lab.thousands(rows.length) }, wanted.length);
  more.hidden = some.length === wanted.length;
  more.textContent = say("more", { all: lab.thousands(wanted.length - some.length) }, Math.min(10 * PAGE, wanted.length - some.length));
  showTicked();
}
function showTicked() {
  const names = [...chosen].map((run) => byName.get(run).label);
  ticked.hidden = !names.length;
  const some = names.slice(0, 4).join(data.names_comma), labels = names.length > 4 ? say("and_more", { labels: some }, names.length - 4) : some;
  ticked.querySelector("span").textContent = say(names.length === 1 ? "chosen_one" : "chosen", { labels });
  ticked.querySelector("[data-do=compare]").disabled = names.length < 2;
}

// The address keeps the filters and ticks behind #, so links to them work from a disk as well.
function remember() {
  const words = new URLSearchParams();
  for (const name of FILTERS) if (form.elements[name].value) words.set(name, form.elements[name].value);
  if (compared.length) words.set("compare", compared.join(","));
  const text = words.toString();
  if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}
function recall() {
  if (!location.hash.includes("=") && location.hash) return; // a place on the page
  const words = new URLSearchParams(location.hash.slice(1));
  for (const name of FILTERS) {
    const value = words.get(name) || "", there = [...form.elements[name].options].some((option) => option.value === value);
    if (!there) form.elements[name].append(make("option", { value }, `${value} (0)`));
    form.elements[name].value = value;
  }
  const runs = (words.get("compare") || "").split(",").filter(Boolean), known = runs.filter((run) => byName.has(run));
  if (runs.length) chosen = new Set(known);
  room = PAGE;
  show();
  if (runs.length) compare(known, runs.length - known.length); else close();
}

// A parameter's value in a label, in the words of the table "conditions": for many, for one, for none.
const labelText = ([many, one, none], value) => value === null ? none : (value === 1 ? one : many).replace("{shown}", Number.isInteger(value) ? lab.thousands(value) : value);
// A different label for each run, as run_data.py makes them: with the parameters in which the runs differ, else with their begin.
function apart(chosenRows) {
  const alike = Map.groupBy ? Map.groupBy(chosenRows, (row) => row.label) : chosenRows.reduce((all, row) => all.set(row.label, [...(all.get(row.label) || []), row]), new Map());
  const labels = new Map();
  for (const [label, group] of alike) {
    const differing = data.parameters.map((_, i) => i).filter((i) => new Set(group.map((row) => row.parameters[i])).size > 1);
    const full = (row) => [label, ...differing.map((i) => labelText(data.parameters[i], row.parameters[i]))].join(data.comma);
    const names = group.map(group.length > 1 ? full : () => label);
    group.forEach((row, i) => labels.set(row.run, names.filter((name) => name === names[i]).length > 1 ? `${names[i]}, ${when(row)}` : names[i]));
  }
  return labels;
}
async function compare(names, missing = 0) {
  const few = names.slice(0, data.few), labels = apart(names.map((run) => byName.get(run)));
  compared = names;
  remember();
  const title = make("h2", { id: "comparison-title", tabIndex: -1 }, say("compared", {}, names.length));
  const notes = [];
  if (missing) notes.push(say("missing", {}, missing));
  if (names.length > few.length) notes.push(say("only_few", {}, data.few));
  if (names.length < 2) notes.push(say("needs_two"));
  const settled = await Promise.allSettled(names.length < 2 ? [] : few.map(lab.load));
  const drawn = [];
  settled.forEach((one, i) => {
    const row = byName.get(few[i]);
    if (one.status === "rejected") notes.push(say(one.reason.message, { label: labels.get(row.run) }));
    else drawn.push({ ...one.value, label: labels.get(row.run), lost: row.lost, final: row.final, acknowledged_of: row.acknowledged, per_s: row.per_s, p99_ms: row.p99_ms, colour: data.lines[i % data.lines.length].toLowerCase(), dashes: DASHES[i % DASHES.length] });
  });
  const away = make("button", { type: "button" }, say("close"));
  away.addEventListener("click", () => { close(); remember(); });
  comparison.replaceChildren(title, ...notes.map((note) => make("p", { className: "note" }, note)), ...(drawn.length ? [figures(names, labels), make("div", { className: "pictures" }, ...lab.draw(drawn, data.words))] : []),
    make("p", {}, away));
  comparison.hidden = false;
  title.focus({ preventScroll: true });
  title.scrollIntoView();
}
function figures(names, labels) {
  const head = ["run", "scenario", "verdict", "acknowledged", "counter", "lost", "duplicated", "failed", "unknown", "per_s", "p50", "p99", "commands"];
  const lines = names.map((run, i) => {
    const row = byName.get(run), few = i < data.few;
    const mark = few ? [lab.swatch(data.lines[i % data.lines.length].toLowerCase()), " "] : [];
    const name = row.page ? make("a", { href: `runs/${encodeURIComponent(run)}/${row.page}` }, labels.get(run)) : labels.get(run);
    return make("tr", {}, make("td", { className: "chart" }, ...mark, name), cell(row.scenario), verdict(row),
      ...[row.acknowledged, row.final, row.lost, row.duplicated, row.failed, row.unknown, row.per_s].map(number), ...[row.p50_ms, row.p99_ms, row.commands].map((value) => make("td", { className: "n" }, lab.amount(value))));
  });
  const table = make("table", { className: "steady" }, make("thead", {}, make("tr", {}, ...head.map((word, i) => make("th", { scope: "col", className: i > 2 ? "n" : "" }, say(word))))), make("tbody", {}, ...lines));
  const scroll = make("div", { className: "scroll", tabIndex: 0 }, table);
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", say("table"));
  return scroll;
}
function close() { compared = []; comparison.hidden = true; comparison.replaceChildren(); }

form.addEventListener("change", () => { room = PAGE; show(); remember(); });
form.addEventListener("reset", (event) => { event.preventDefault(); for (const name of FILTERS) form.elements[name].value = ""; room = PAGE; show(); remember(); });
form.addEventListener("submit", (event) => event.preventDefault());
more.addEventListener("click", () => { room += 10 * PAGE; show(); });
body.addEventListener("change", (event) => { if (event.target.checked) chosen.add(event.target.value); else chosen.delete(event.target.value); showTicked(); });
ticked.addEventListener("click", (event) => {
  if (event.target.dataset.do === "compare") compare([...chosen]);
  if (event.target.dataset.do === "clear") { chosen = new Set(); show(); }
});
window.addEventListener("hashchange", () => { recall(); if (location.hash.includes("=") && !compared.length) document.getElementById("runs").scrollIntoView(); });
show();
if (location.hash.includes("=")) recall();
})();

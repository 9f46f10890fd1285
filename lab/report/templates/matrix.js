// The matrix: which rows and columns it shows, the list of one stage on a phone, and the drawer of a cell.
(() => {
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const FIELDS = ["scenario", "stage", "mark", "outcome", "why", "rounds", "orders", "options", "counts", "links"], TEXTS = 8;
// A text by its name (lab/story/words.toml, table matrix_page), with its places filled.
const say = (name, places = {}) => data.says[name].replace(/\{(\w+)\}/g, (place, key) => places[key] ?? place);
const cells = new Map(data.cells.map((row) => { const one = Object.fromEntries(FIELDS.map((field, i) => [field, i < TEXTS ? data.texts[row[i]] : row[i]])); return [`${one.scenario} ${one.stage}`, one]; }));
const view = document.getElementById("view"), matrix = document.getElementById("matrix"), list = document.getElementById("list"), drawer = document.getElementById("drawer");
const shown = document.getElementById("shown"), heads = [...matrix.querySelectorAll("th.name")], groups = [...matrix.querySelectorAll("th[data-group][colspan]")];
const rows = [...matrix.querySelectorAll("tr[data-scenario]")];
const make = (name, about = {}, ...inside) => { const one = Object.assign(document.createElement(name), about); one.append(...inside); return one; };
const words = (name) => data.scenarios[name];
const markOf = (scenario, stage) => (cells.get(`${scenario} ${stage}`) || { mark: "impossible" }).mark;

// Rows and columns
function show() {
  const part = view.elements.part ? view.elements.part.value : "all", pair = [view.elements.one.value, view.elements.other.value].filter(Boolean);
  const two = pair.length === 2 && pair[0] !== pair[1];
  const columns = heads.map((head) => two ? pair.includes(head.dataset.stage) : part === "all" || "core" in head.dataset);
  const wanted = rows.map((row) => two ? markOf(row.dataset.scenario, pair[0]) !== markOf(row.dataset.scenario, pair[1]) : part === "all" || "core" in row.dataset);
  heads.forEach((head, i) => { head.hidden = !columns[i]; });
  for (const group of groups) {
    const inside = heads.filter((head, i) => columns[i] && head.dataset.group === group.dataset.group).length;
    group.hidden = !inside;
    group.colSpan = Math.max(1, inside);
  }
  rows.forEach((row, i) => {
    row.hidden = !wanted[i];
    [...row.querySelectorAll("td")].forEach((one, column) => { one.hidden = !columns[column]; });
  });
  for (const body of matrix.querySelectorAll("tbody")) body.hidden = [...body.querySelectorAll("tr[data-scenario]")].every((row) => row.hidden);
  const number = wanted.filter(Boolean).length;
  shown.textContent = say(two ? "differ" : "shown", { one: pair[0], other: pair[1], n: number, all: rows.length });
  const buttons = [...matrix.querySelectorAll("td:not([hidden]) > button")].filter((one) => !one.closest("[hidden]"));
  for (const one of matrix.querySelectorAll("button[tabindex='0']")) one.tabIndex = -1;
  if (buttons.length) buttons[0].tabIndex = 0;
}

// The list of one stage, for a narrow screen
function showList() {
  const stage = view.elements.alone.value, parts = [];
  for (const body of matrix.querySelectorAll("tbody")) {
    const entries = [...body.querySelectorAll("tr[data-scenario]")].map((row) => cells.get(`${row.dataset.scenario} ${stage}`)).filter((cell) => cell && cell.mark !== "impossible");
    if (!entries.length) continue;
    parts.push(make("h2", {}, body.querySelector(".family span").textContent));
    parts.push(make("ul", {}, ...entries.map((cell) => {
      const button = make("button", { type: "button", className: "entry" }, make("span", { className: `mark ${cell.mark}` }, data.signs[cell.mark]), ` ${words(cell.scenario)}${data.colon}${data.words[cell.mark]}`);
      button.addEventListener("click", () => open(cell, button));
      return make("li", {}, button);
    })));
  }
  list.replaceChildren(...parts);
  list.hidden = false;
}

// The drawer
function open(cell, from) {
  const about = data.about[cell.scenario] || ["", "", ""];
  const close = make("button", { type: "button", className: "close", autofocus: true }, say("close"));
  close.addEventListener("click", () => drawer.close());
  drawer.replaceChildren(close, make("h2", { id: "drawer-title" }, say("under", { stage: cell.stage, scenario: words(cell.scenario) })),
    ...(about[0] ? [make("p", {}, `${about[0]}${data.end}`), make("p", { className: "soft" }, make("code", {}, about[1]), `${data.colon}${about[2]}`)] : []),
    ...described(cell));
  drawer.showModal();
  const address = `#${cell.stage}/${cell.scenario}`;
  if (decodeURIComponent(location.hash) !== address) history.replaceState(null, "", address);
  drawer.onclose = () => { history.replaceState(null, "", location.pathname + location.search); from.focus(); };
}
// A cell has an address, matrix/index.html#uuid/release_race: it opens there, and its row and column come into sight.
function recall() {
  const [stage, scenario] = decodeURIComponent(location.hash.slice(1)).split("/"), column = heads.findIndex((head) => head.dataset.stage === stage);
  const row = rows.find((one) => one.dataset.scenario === scenario), button = row?.querySelectorAll("td button")[column];
  if (!button) return;
  if (view.elements.part && button.closest("[hidden]")) view.elements.part.value = "all";
  view.elements.one.value = view.elements.other.value = "";
  view.elements.alone.value = stage;
  show();
  showList();
  button.scrollIntoView({ block: "center", inline: "center" });
  matrix.querySelector(".linked")?.classList.remove("linked");
  button.classList.add("linked");
  open(cells.get(`${scenario} ${stage}`) || blank(scenario, stage), button);
}
function described(cell) {
  const parts = [make("p", {}, make("span", { className: `mark ${cell.mark}` }, data.signs[cell.mark]), " ", make("strong", {}, cell.outcome))];
  if (data.meanings[cell.mark]) parts.push(make("p", { className: "soft" }, say("that_is", { what: data.meanings[cell.mark] })));
  parts.push(make("p", {}, cell.why));
  if (cell.rounds) {
    const [lost, twice, failed, unknown] = cell.counts;
    parts.push(make("p", {}, say("counts", { lost, twice, failed, unknown, rate: cell.rounds })));
  }
  if (cell.orders) parts.push(make("p", {}, make("strong", {}, say("every_order")), " ", say("of_orders", { what: cell.orders })));
  if (cell.mark !== "impossible") {
    const command = `{{ command }} run ${cell.scenario} --stage ${cell.stage}${cell.options}`;
    const copy = make("button", { type: "button" }, say("copy")), code = make("code", {}, command);
    copy.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(command); copy.textContent = say("copied"); } catch { getSelection().selectAllChildren(code); copy.textContent = say("selected"); }
    });
    parts.push(make("p", { className: "command" }, code, " ", copy));
  }
  if (cell.links.length) parts.push(make("ul", {}, ...cell.links.map(([text, href]) => make("li", {}, make("a", { href }, text)))));
  return parts;
}
const place = (button) => { const cell = button.parentElement, row = cell.parentElement; return [rows.indexOf(row), [...row.querySelectorAll("td")].indexOf(cell)]; };
const blank = (scenario, stage) => ({ scenario, stage, mark: "impossible", outcome: data.words.impossible, why: say("does_not_fit"), rounds: "", counts: [], orders: "", options: "", links: [] });
matrix.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const [row, column] = place(button), scenario = rows[row].dataset.scenario;
  const stage = heads[column].dataset.stage;
  open(cells.get(`${scenario} ${stage}`) || blank(scenario, stage), button);
});

// Arrows move from cell to cell
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
matrix.addEventListener("keydown", (event) => {
  const step = STEPS[event.key], button = event.target.closest("button");
  if (!step || !button) return;
  event.preventDefault();
  let [row, column] = place(button);
  for (;;) {
    row += step[0];
    column += step[1];
    const next = rows[row] && rows[row].querySelectorAll("td")[column];
    if (!next) return;
    if (rows[row].hidden || next.hidden || next.closest("[hidden]")) continue;
    button.tabIndex = -1;
    next.firstElementChild.tabIndex = 0;
    next.firstElementChild.focus();
    return;
  }
});
view.addEventListener("change", () => { show(); showList(); });
view.addEventListener("submit", (event) => event.preventDefault());
for (const one of matrix.querySelectorAll("button")) one.tabIndex = -1; // but for one: arrows lead to the others
view.hidden = false;
show();
showList();
recall();
addEventListener("hashchange", recall);
})();

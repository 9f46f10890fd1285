// The table of all runs is filtered by the form. The address keeps the filters behind #, so links to them work from a disk as well.
(() => {
"use strict";
const form = document.getElementById("filters"), rows = [...document.querySelectorAll("#table tbody tr")], FILTERS = ["stage", "scenario", "verdict"];
const say = (name, places) => texts[name].replace(/\{(\w+)\}/g, (_, key) => places[key]);

function show() {
  for (const row of rows) row.hidden = FILTERS.some((name) => form.elements[name].value && row.dataset[name] !== form.elements[name].value);
  const n = rows.filter((row) => !row.hidden).length, all = rows.length;
  document.getElementById("shown").textContent = n === all ? say(n === 1 ? "number" : "number_several", { n }) : say("of_all", { n, all });
}
function remember() {
  const text = new URLSearchParams(FILTERS.map((name) => [name, form.elements[name].value]).filter(([, value]) => value)).toString();
  if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}
function recall() {
  if (location.hash && !location.hash.includes("=")) return; // a place on the page
  const words = new URLSearchParams(location.hash.slice(1));
  for (const name of FILTERS) {
    const value = words.get(name) || "";
    if (![...form.elements[name].options].some((option) => option.value === value)) form.elements[name].append(new Option(`${value} (0)`, value));
    form.elements[name].value = value;
  }
  show();
}
form.addEventListener("change", () => { show(); remember(); });
form.addEventListener("reset", () => setTimeout(() => { show(); remember(); }));
form.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", () => { recall(); if (location.hash.includes("=")) document.getElementById("runs").scrollIntoView(); });
form.hidden = false;
recall();
})();

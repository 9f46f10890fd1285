// Shows which levels were solved in this browser, where the browser remembers it: also when a level is solved in another tab, and
// when the reader comes back from a level.
(() => {
"use strict";
const items = [...document.querySelectorAll("#levels li")];
function mark(item) {
  try { return JSON.parse(localStorage.getItem(`lab.play.${item.dataset.name}`) || "null"); } catch { return null; /* a browser that remembers nothing shows no marks */ }
}
function show() {
  const solved = items.filter(mark).length;
  if (solved) document.getElementById("solved").textContent = say("levels_done", { n: solved, all: items.length });
  for (const item of items) {
    const one = mark(item);
    if (one) item.querySelector(".done").textContent = one.events ? say("done_in", { n: one.events }) : say("level_done");
  }
}
show();
addEventListener("pageshow", show);
addEventListener("storage", show);
})();

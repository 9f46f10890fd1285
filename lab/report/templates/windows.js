// Shows one picture of the run at a time: by the buttons, by the keys left and right, or by a click on the strip of the whole run.
(() => {
"use strict";
const figure = document.getElementById("windows"), all = (what) => [...figure.querySelectorAll(what)];
const pictures = all(".window"), buttons = all("[data-window]"), panes = all(".pane"), strip = figure.querySelector(".overview");
let now = 0;
function show(number) {
  now = (number + pictures.length) % pictures.length;
  pictures.forEach((one, place) => { one.hidden = place !== now; });
  buttons.forEach((one, place) => one.setAttribute("aria-pressed", place === now));
  panes.forEach((one, place) => { one.dataset.is = place === now ? "now" : ""; });
  const drawn = pictures[now].querySelector(".drawn"); // on a narrow screen it is scrolled to what it is about
  drawn.scrollLeft = drawn.dataset.at * drawn.scrollWidth - 0.6 * drawn.clientWidth; // the names of the lanes stay on the left
}
for (const bar of all(".bar")) bar.hidden = false;
figure.addEventListener("click", ({ target }) => {
  if (target.dataset.turn) show(now + +target.dataset.turn);
  else if (target.dataset.window) show(+target.dataset.window);
});
figure.addEventListener("keydown", (event) => {
  const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!turn || event.altKey || event.ctrlKey || event.metaKey || event.target.closest(".drawn")) return; // a wide picture is scrolled
  event.preventDefault();
  show(now + turn);
});
strip.addEventListener("click", (event) => {
  const far = panes.map((one) => { const box = one.getBoundingClientRect(); return Math.abs(box.x + box.width / 2 - event.clientX); });
  show(far.indexOf(Math.min(...far)));
});
show(0);
})();

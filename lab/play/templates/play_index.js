// Shows which levels were solved in this browser, where the browser remembers it.
(() => {
"use strict";
let done = {};
try { done = JSON.parse(localStorage.getItem("lab.play") || "{}"); } catch { /* a browser that remembers nothing shows no marks */ }
for (const item of document.querySelectorAll("#levels li")) {
  const one = done[item.dataset.name];
  if (one) item.querySelector(".done").textContent = one.events ? `✓ done in ${one.events}` : "✓ done";
}
})();

// The steps of a loss, one after the other: by the two buttons, or by the keys left and right. At first all steps are shown.
// Returns the function that shows a step; 0 is all of them. announce: returns the text for a step,
// by its number, how many there are, and its sentence. about: what is written while all are shown.
function fiveSteps(figure, announce) {
  const output = figure.querySelector("output"), lines = () => [...figure.querySelectorAll(".said li")];
  let now = 0, aboutAll = output.textContent;
  function show(number, about = aboutAll) {
    const said = lines();
    [now, aboutAll] = [number, about];
    said.forEach((line, place) => {
      const other = place + 1, is = now === 0 ? "" : other < now ? "past" : other === now ? "now" : "later";
      line.dataset.is = is;
      if (is === "now") line.setAttribute("aria-current", "step"); else line.removeAttribute("aria-current");
      for (const part of figure.querySelectorAll(`.drawn [id*="step-${other}-"]`)) part.dataset.is = is;
    });
    const words = now && said[now - 1].lastChild.textContent.trim();
    output.textContent = now ? announce(now, said.length, words) : about;
  }
  const go = {
    previous: () => show(now === 0 ? lines().length : Math.max(1, now - 1)),
    next: () => show(Math.min(lines().length, now + 1)),
    all: () => show(0),
  };
  figure.addEventListener("click", (event) => go[event.target.closest("[data-step]")?.dataset.step]?.());
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: "previous", ArrowRight: "next", Escape: "all" }[event.key];
    if (!step || !lines().length || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go[step]();
  });
  return show;
}

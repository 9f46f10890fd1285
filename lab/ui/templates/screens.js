// The verdict as three screens: the verdict and the votes, the loss step by step, and the curve of the run. Space, or an arrow, goes on.
class Screens { // teacher: whether this page leads, and does not only follow. post: sends where the class is. shown: is called with a screen and its step. ready: returns which places there are
  constructor({ view, teacher, post, shown, ready }) {
    Object.assign(this, { view, post, shown, ready, screen: "verdict", step: 0 });
    for (const [id, by] of [["screen-back", -1], ["screen-on", 1]]) document.getElementById(id).addEventListener("click", () => this.go(by));
    if (view === "phone" || !teacher) return;
    document.addEventListener("keydown", (event) => {
      const by = { " ": 1, ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
      if (!by || document.querySelector("main").dataset.state !== "say" || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.target.closest(event.key === " " ? "input, button, a" : "input")) return;
      event.preventDefault();
      this.go(by);
    });
  }
  places() { // in their order: each a screen and a step of it
    const { steps, picture, curve } = this.ready(), loss = steps ? Array.from({ length: steps }, (_, place) => ["loss", place + 1]) : picture ? [["loss", 0]] : [];
    return [["verdict", 0], ...loss, ...(curve ? [["curve", 0]] : [])];
  }
  go(by) {
    const all = this.places(), here = all.findIndex(([screen, step]) => screen === this.screen && step === this.step);
    const [screen, step] = all[Math.min(all.length - 1, Math.max(0, here + by))];
    this.show({ screen, step });
    this.post("screen", { screen, step });
  }
  show({ screen, step }) {
    const changed = screen !== this.screen;
    Object.assign(this, { screen, step });
    document.querySelector("main").dataset.screen = this.view === "phone" ? "verdict" : screen;
    this.shown(screen, step, changed);
  }
}

// The lesson on the lab's own page: the strip of its steps, and the situation of a step in a sentence, a drawing and a few lines of code.

function drawSituation(run, locked, say) { // run: null where two people are scheduled by hand. locked: whether Redis has a lock. Returns an SVG element
  const NS = "http://www.w3.org/2000/svg", root = document.createElementNS(NS, "svg");
  const add = (name, about, text = "") => Object.assign(root.appendChild(document.createElementNS(NS, name)), { textContent: text, about: Object.entries(about).forEach(([key, value]) => root.lastChild.setAttribute(key, value)) });
  const line = (x1, y1, x2, y2) => add("line", { x1, y1, x2, y2 });
  function box(x, y, wide, lines, name = "") { // in its middle
    const high = 14 + 22 * lines.length;
    add("rect", { x: x - wide / 2, y: y - high / 2, width: wide, height: high, rx: 6, class: name });
    lines.forEach((words, place) => add("text", { x, y: y + 22 * (place - (lines.length - 1) / 2), class: name }, words));
  }
  const dead = run?.fault === "process_dies";
  const servers = run ? run.replicas : 2, wrong = run?.fault ? Math.ceil(servers / 2) : 0, middle = Math.max(46, 6 + 23 * servers), high = 2 * middle;
  root.setAttribute("viewBox", `0 0 540 ${high}`);
  root.setAttribute("aria-hidden", "true"); // the sentence says the same
  const y = (place) => middle + 46 * (place - (servers + 1) / 2), numbers = Array.from({ length: servers }, (_, place) => place + 1);
  for (const place of numbers) {
    if (run) line(120, middle, 180, y(place));
    line(run ? 360 : 120, y(place), 395, middle);
  }
  if (run) box(65, middle, 110, [say("users", { n: run.users })]);
  for (const place of numbers) {
    const words = run ? [say("server", { n: place }) + (run.mutex ? ` · ${say("mutex")}` : "")] : ["AB"[place - 1]];
    if (place === wrong) words[0] = `\u2715 ${words[0]} ${say(dead ? "killed" : "stopped")}`;
    box(run ? 270 : 65, y(place), run ? 180 : 110, words, place === wrong ? "wrong" : "");
  }
  const lock = locked ? [run?.ttl_ms ? say("lock_ttl", { ttl: run.ttl_ms }) : say("lock")] : [];
  box(465, middle, 140, ["Redis", ...lock, say("counter_n")]);
  return root;
}

function showCode(place, code) { // a line of a step: what the step adds, and where it goes wrong
  place.replaceChildren(...code.map((text) => {
    const line = document.createElement("span"), wrong = text.trimEnd().endsWith("\u00d7");
    line.textContent = text.slice(2).trimEnd().replace(/\u00d7$/, "");
    if (text.startsWith("+")) line.className = "added";
    if (wrong) line.append(Object.assign(document.createElement("b"), { textContent: "\u2715", className: "bad" }));
    return line;
  }).flatMap((line) => [line, "\n"]));
}

class Lesson { // steps: as the server offers them, in the language of the page. post: sends where the class goes, and returns why that was refused
  constructor({ view, teacher, say, post }) {
    Object.assign(this, { steps: [], view, teacher, say, post, step: 0, run: 0 });
    const $ = this.$ = (id) => document.getElementById(id);
    for (const [id, by] of [["step-back", -1], ["step-on", 1]]) $(id).addEventListener("click", () => this.go(this.towards(by)));
    $("lesson-on").addEventListener("click", () => this.go([1, 0]));
    $("notes-switch").addEventListener("click", () => this.notes());
    $("lesson").addEventListener("click", (event) => { const one = event.target.closest("button"); if (one) this.go([Number(one.value), 0]); });
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() === "t" && !event.altKey && !event.ctrlKey && !event.metaKey && !event.target.closest("input, select, textarea")) this.notes();
    });
  }
  get now() { return this.steps[this.step - 1] ?? null; } // the step; null where the choice is free
  runOf(subject) { // the lesson's run of a stage under a scenario, if the class is at it
    const run = this.now?.runs[this.run];
    return run && run.stage === subject.stage && run.scenario === subject.scenario ? run : null;
  }
  towards(by) { // the run before, or after: in this step or in another; null at the ends
    const runs = this.now?.runs.length ?? 0, run = this.run + by, step = this.step + by;
    if (run >= 0 && run < runs) return [this.step, run];
    const other = this.steps[step - 1];
    return this.now && other ? [step, by > 0 ? 0 : Math.max(0, other.runs.length - 1)] : null;
  }
  async go(place) { if (place) this.$("refused").textContent = await this.post("lesson", { step: place[0], run: place[1] }); }
  notes() { // for the teacher only
    if (this.view !== "whole" || !this.now) return;
    const open = this.$("notes").hidden = !this.$("notes").hidden;
    this.$("notes-switch").setAttribute("aria-expanded", String(!open));
  }
  show({ step, run }) {
    Object.assign(this, { step, run });
    const { $, say, now } = this;
    for (const id of ["lesson", "situation", "step-back", "step-on", "notes-switch", "minutes"]) $(id).hidden = !now;
    $("lesson-on").hidden = Boolean(now) || !this.steps.length || this.view !== "whole" || !this.teacher;
    document.querySelector("main").dataset.lesson = !now ? "" : now.runs.length ? "run" : "pages";
    if (!now) { $("notes").hidden = true; return; }
    $("lesson").replaceChildren(...this.steps.map((one, place) => {
      const line = document.createElement("li"), own = document.createElement(this.view === "whole" ? "button" : "span");
      line.dataset.is = place + 1 < step ? "past" : place + 1 === step ? "now" : "later";
      if (line.dataset.is === "now") own.setAttribute("aria-current", "step");
      Object.assign(own, { textContent: line.dataset.is === "now" ? `${place + 1} ${one.title}` : place + 1, title: one.title, type: "button", value: place + 1 });
      line.append(own);
      return line;
    }));
    $("step-title").textContent = now.title;
    $("step-of").textContent = say("step_of", { n: step, all: this.steps.length });
    $("situation-says").textContent = now.situation;
    $("drawing").replaceChildren(drawSituation(now.runs[run] ?? null, now.code.some((line) => line.includes('"lock"')), say));
    showCode($("code"), now.code);
    $("pages").replaceChildren(...now.pages.map((address) => Object.assign(document.createElement("a"), { href: address, className: "button first", target: "_blank", textContent: say(`play_${address.split("/").at(-1).replace(".html", "")}`) })));
    $("pages").append(...now.commands.map((command) => Object.assign(document.createElement("code"), { textContent: command })));
    $("minutes").textContent = say("minutes", { from: now.minutes[0], to: now.minutes[1] });
    $("notes").replaceChildren(...now.notes.map(([name, text]) => {
      const line = document.createElement("p");
      line.append(Object.assign(document.createElement("b"), { textContent: name }), ` ${text}`);
      return line;
    }));
    $("step-back").disabled = !this.towards(-1); $("step-on").disabled = !this.towards(1);
  }
}

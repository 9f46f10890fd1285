// A level: walks the graph of all that can happen. Each move of it was executed by the real code; nothing is computed here.
(() => {
"use strict";
const D = JSON.parse(document.getElementById("data").textContent);
const LETTERS = [..."ABCD"].slice(0, D.clients), $ = (id) => document.getElementById(id);
const [LOCK, COUNTER, NOW, LEFT, WRITTEN, DISTANCE] = [0, 1, 2, 3, 4, 5].map((i) => D.clients + i);
const FAULTS = [ // key, event, label, the budget that it needs; the button for a pause resumes a client that is paused
  ["p", "p", "Pause", "pauses"], ["k", "k", "Kill", "crashes"],
  ["l", "l", "Lose the reply", "lost_replies"], ["d", "d", "Lose the command", "lost_replies"], ["x", "x", "Send it twice", "resends"],
];
let trail = [], given = [], answered = "", shown = false, hinted = 0, prefix = "", note = "";

const make = (name, about = {}, ...inside) => { const one = Object.assign(document.createElement(name), about); one.append(...inside); return one; };
const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const at = () => trail.length ? trail[trail.length - 1].to : 0;
const row = (state) => D.states[state];
const pane = (state, client) => { const [phase, mode, threads, answer, truth] = D.panes[row(state)[client]];
  return { phase, mode, answer, truth, threads: threads.map(([thread, kind, command, line, work, atMs]) => ({ thread, kind, command, line, work, atMs })) }; };
function movesOf(state) {
  const flat = D.moves[state], found = [];
  for (let i = 0; i < flat.length; i += 4) {
    const [sentence, chip, answer] = D.reports[flat[i + 2]];
    found.push({ event: D.events[flat[i]], from: state, to: flat[i + 1], sentence, chip, answer, breaks: D.findings[flat[i + 3]] });
  }
  return found;
}
const moveOf = (state, event) => movesOf(state).find((move) => move.event === event);
const reaches = (move) => move.breaks.some(([claim]) => D.goal.includes(claim));
const won = () => trail.findIndex(reaches) + 1; // after how many events; 0: not yet

// the short form of a schedule: A4BpAt3000BrA
function short(events) {
  let text = "";
  for (let i = 0; i < events.length;) {
    let times = 1;
    while (/^[A-Da-d]('\d)?$/.test(events[i]) && events[i + times] === events[i]) times += 1;
    text += events[i] + (times > 1 ? times : "");
    i += times;
  }
  return text;
}
function parse(text) {
  const found = [];
  for (const one of text.matchAll(/t\d+|w|([prkldx]?[A-Da-d](?:'\d)?(?:=\d+)?)(\d*)/g))
    found.push(...(one[1] ? Array(Math.min(99, Number(one[2] || 1))).fill(one[1]) : [one[0]]));
  return found;
}
function walk(events) { // as far as they are possible
  const moves = [];
  for (const event of events) {
    const move = moveOf(moves.length ? moves[moves.length - 1].to : 0, event);
    if (!move) break;
    moves.push(move);
  }
  return moves;
}

// why a move is not possible
function whyNotRun(state, client, thread = 0) {
  const one = pane(state, client), who = LETTERS[client], doing = one.threads.find((each) => each.thread === thread);
  if (one.mode === "dead") return `${who} is dead.`;
  if (one.mode === "paused") return `${who} is paused. Resume it first.`;
  if (!doing || doing.kind === "over") return `${who} has finished.`;
  if (doing.kind === "nap") return `${who} sleeps until its next try. It wakes when the lock’s store changes: before, a try would end the same way.`;
  if (doing.kind === "moment") return doing.atMs ? `${who} ${one.phase === "inside" ? "works" : "sleeps"} until ${doing.atMs} ms. Let time pass.` : `${who} waits for its other thread.`;
  if (doing.kind === "message") return `${who} waits for a message.`;
  return `${who} waits in the server.`;
}
function whyNot(state, event) {
  if (event === "t") return movesOf(state).some((move) => /^[A-Da-d](?![A-D])/.test(move.event))
    ? "Time passes only when no client that runs can do anything." : movesOf(state).length ? "Nothing is waiting for a moment. Resume a client first." : "Nothing is left that could happen.";
  const kind = event.length > 1 ? event[0] : "", letter = event[event.length - 1], client = LETTERS.indexOf(letter.toUpperCase()), one = pane(state, client);
  if (!kind) return whyNotRun(state, client, letter === letter.toUpperCase() ? 0 : 1);
  if (kind === "r") return `${letter} is not paused.`;
  const need = (FAULTS.find((fault) => fault[1] === kind) || FAULTS[0])[3], left = D.left[row(state)[LEFT]][need];
  if (!left) return "The faults of this level are used up. Undo, or start again.";
  if (one.mode === "paused" && kind !== "k") return `${letter} is paused already.`;
  if (one.mode !== "runs" || one.threads[0].kind === "over") return `${letter} has finished.`;
  if (kind === "d") return "It makes no difference here whether Redis executes the command: lose the reply instead.";
  return `${letter} sends no command to the lock’s store now.`;
}

// the buttons: made once, and never removed, so that the focus stays where it is
const buttons = [];
function button(into, label, keys, event, main = false) {
  const one = make("button", { type: "button", className: main ? "first" : "" }, label, ...(keys ? [" ", make("kbd", {}, keys)] : []));
  one.dataset.event = event;
  one.addEventListener("click", () => play(one.dataset.event));
  into.append(one);
  buttons.push(one);
}
for (const [client, letter] of LETTERS.entries()) {
  const into = document.querySelector(`.client[data-who=${letter}] .moves`);
  button(into, `Run ${letter}’s next line`, letter, letter, true);
  if (D.events.includes(letter.toLowerCase())) button(into, `Run ${letter}’s other thread`, `O ${letter}`, letter.toLowerCase());
  for (const [key, event, label, need] of FAULTS) if (D.budget[need]) button(into, label, `${key.toUpperCase()} ${letter}`, event + letter);
}
if (D.events.some((event) => event[0] === "t")) button($("time"), "Let time pass", "T", "t"); else { $("time").hidden = true; $("time-why").hidden = true; $("clock").hidden = true; }
for (const [label, event] of [...LETTERS.map((letter) => [`Run ${letter}`, letter]), ["Time", "t"]]) if (event !== "t" || !$("time").hidden) button($("quick"), label, "", event); // for a phone
$("quick").append(make("button", { type: "button", onclick: undo }, "← Undo"));
if (D.budget.restarts) button($("time"), "Restart without data", "W", "w");
for (const event of D.events) if (event.includes("=")) button(document.querySelector(`.client[data-who=${event[0].toUpperCase()}] .moves`), `Draw ${event.split("=")[1]}`, "", event);

const exact = (event) => event === "t" ? (movesOf(at()).find((move) => move.event[0] === "t") || {}).event : event;
function play(event) {
  const wanted = exact(event), move = wanted && moveOf(at(), wanted);
  hinted = 0; note = "";
  if (!move) { note = whyNot(at(), event); return show(); }
  trail.push(move);
  arrive();
}
function arrive() {
  if (won() === trail.length && trail.length && !shown) remember({ events: trail.length });
  show();
}
function undo() { note = trail.length ? "" : "This is the start."; trail.pop(); hinted = 0; show(); }
function again() { trail = []; shown = false; hinted = 0; note = "This is the start again."; show(); }
function back(number) { trail = trail.slice(0, number); hinted = 0; note = `You are back after ${counted(number, "event")}.`; show(); }
function hint() {
  const left = row(at())[DISTANCE];
  if (won()) note = "The claim is broken already. Undo to look for another way.";
  else if (D.kind !== "BREAK" && !answered) note = D.kind === "DECIDE" ? "Answer the question first: a hint would give it away." : "Predict first: a hint would give it away.";
  else if (left < 0) note = D.par ? "No break is possible any more from here. Undo, or start again." : "No break is possible, from here or from anywhere.";
  else if (hinted < 1) { note = `A break is still possible in ${counted(left, "move")}. Ask again for the next move.`; hinted = 1; return show(); }
  else { const next = better(); note = `A shortest way goes on with ${next.event}: ${label(next.event)}.`; hinted = 2; return show(); }
  show();
}
function better() {
  const left = row(at())[DISTANCE];
  return movesOf(at()).find((move) => left === 1 ? reaches(move) : row(move.to)[DISTANCE] === left - 1);
}
const label = (event) => { const found = buttons.find((one) => one.dataset.event === (event[0] === "t" ? "t" : event)); return found ? found.firstChild.textContent.replace(/^(Pause|Resume|Kill)$/, `$1 ${event[1]}`) : event; };
function showShortest() {
  if (D.kind !== "BREAK" && !answered) { note = "Answer first."; return show(); }
  if (!D.par) { note = `There is none: no schedule of ${thousands(D.schedules)} breaks it.`; return show(); }
  trail = walk(parse(D.shortest)); shown = true; hinted = 0; note = ""; show();
}

// the question of a level
const harm = () => walk(given).some(reaches);
function answer(word) {
  answered = word;
  const truth = D.kind === "DECIDE" ? D.par > 0 : harm(), right = (word === "yes") === truth;
  let text;
  if (D.kind === "SAME_MOVES") text = `You predict: ${word === "yes" ? "they break it here too" : "they do no harm here"}. Play them, and see.`;
  else if (right && truth) text = `Right: ${thousands(D.breaking)} of ${thousands(D.schedules)} schedules break it. Find one: the shortest has ${counted(D.par, "event")}.`;
  else if (right) text = `Right. ${thousands(D.schedules)} schedules were decided: every order, and every moment of each fault. None breaks it. ${D.lesson}`;
  else if (truth) text = `It can: ${thousands(D.breaking)} of ${thousands(D.schedules)} schedules break it, the shortest in ${counted(D.par, "event")}. Find one.`;
  else text = `It cannot. ${thousands(D.schedules)} schedules were decided: every order, and every moment of each fault. None breaks it. ${D.lesson}`;
  if (D.kind === "DECIDE" && !truth) remember({});
  $("answer").hidden = false;
  $("answer").textContent = text;
  for (const one of document.querySelectorAll("[data-answer]")) one.setAttribute("aria-pressed", String(one.dataset.answer === word));
  show();
}
function playGiven() {
  const done = trail.length, same = trail.every((move, i) => move.event === given[i]);
  hinted = 0;
  if (!answered) note = "Predict first: choose one of the two answers above.";
  else if (!same) note = "You have left the given moves. Start again to play them.";
  else if (done >= given.length) note = "These were all the given moves. Go on with your own.";
  else {
    const move = moveOf(at(), given[done]);
    if (move) { note = ""; trail.push(move); return arrive(); }
    note = `The given moves end here, after ${done} of ${given.length}. ${whyNot(at(), given[done][0] === "t" ? "t" : given[done])} Go on with your own.`;
  }
  show();
}
function givenIsOver() { return given.length > 0 && trail.length >= walk(given).length && trail.slice(0, walk(given).length).every((move, i) => move.event === given[i]); }

// what is shown
function show() {
  const state = at(), possible = movesOf(state);
  LETTERS.forEach((letter, client) => showClient(state, client, letter));
  showRedis(state);
  for (const one of buttons) {
    const turned = /^[pr][A-D]$/.exec(one.dataset.event);
    if (turned) {
      const letter = one.dataset.event[1], paused = pane(state, LETTERS.indexOf(letter)).mode === "paused";
      one.dataset.event = (paused ? "r" : "p") + letter;
      one.replaceChildren(paused ? "Resume" : "Pause", " ", make("kbd", {}, `${paused ? "R" : "P"} ${letter}`));
    }
    const able = possible.some((move) => move.event === one.dataset.event || (one.dataset.event === "t" && move.event[0] === "t"));
    one.setAttribute("aria-disabled", String(!able));
    one.title = able ? "" : whyNotFor(state, one.dataset.event);
    one.classList.toggle("hinted", hinted === 2 && better() && (better().event === one.dataset.event || (one.dataset.event === "t" && better().event[0] === "t")));
  }
  $("step").textContent = counted(trail.length, "event");
  $("undo").setAttribute("aria-disabled", String(!trail.length));
  showHappened(possible);
  showLanes();
  const text = short(trail.map((move) => move.event));
  $("short").textContent = text ? `${D.stage}:${text}` : "";
  if (location.hash.slice(1) !== text && !(location.hash.startsWith("#play=") && !text)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}
const whyNotFor = (state, event) => event.includes("=") || event === "w" ? "Not possible now." : whyNot(state, event);
function showClient(state, client, letter) {
  const one = pane(state, client), first = one.threads[0], card = document.querySelector(`.client[data-who=${letter}]`), get = (name) => card.querySelector(name);
  const over = first.kind === "over", phases = { waiting: "wants the lock", inside: "inside: it works", releasing: "releasing", done: "done" };
  const badge = get(".badge");
  badge.textContent = one.mode === "runs" ? phases[one.phase] || `error: ${one.phase}` : one.mode;
  badge.className = `badge ${one.mode === "runs" ? one.phase : one.mode}`;
  const able = moveOf(state, letter);
  get(".next").textContent = one.mode === "dead" ? "its process is dead" : first.kind === "command" ? `next: ${first.command}` : first.kind === "choice" ? "next: a random number" : over ? one.phase === "done" ? "its request is done" : `its request ended: ${one.phase}` : "nothing to send now";
  get(".why").textContent = able || movesOf(state).some((move) => move.event.startsWith(`${letter}=`)) ? "" : whyNotRun(state, client);
  const others = one.threads.slice(1).filter((each) => each.kind === "command");
  if (others.length) get(".why").textContent += ` Its other thread is next with ${others.map((each) => each.command).join(", ")}.`;
  get(".truth").hidden = !one.truth;
  get(".truth").textContent = one.truth ? `${letter} believes that it holds the lock, and goes on ${one.truth}.` : "";
  get(".answered").replaceChildren(...(one.answer ? ["last reply: ", make("code", {}, one.answer)] : []));
  const lit = over || one.mode === "dead" ? [] : first.work ? [`[data-work="${first.work}"]`] : first.line ? [`[data-line="${first.line}"]`] : [];
  for (const line of card.querySelectorAll(".lit, .near")) { line.classList.remove("lit", "near"); line.removeAttribute("aria-current"); }
  for (const line of card.querySelectorAll(lit.join() || "none")) { line.classList.add("lit"); line.setAttribute("aria-current", "step"); }
  if (!lit.length && one.mode !== "dead" && !over) card.querySelector(`[data-line="${lastLine(client)}"]`)?.classList.add("near");
  if (first.work && first.line) card.querySelector(`[data-line="${first.line}"]`)?.classList.add("near");
  for (const each of others) card.querySelector(`[data-line="${each.line}"]`)?.classList.add("near");
  const here = card.querySelector(".lit") || card.querySelector(".near"), box = get(".code");
  if (here) box.scrollTop = here.offsetTop - box.offsetTop - box.clientHeight / 2 + 12;
}
function lastLine(client) { // that a client ran before it began to wait
  for (const move of [...trail].reverse()) { const line = pane(move.from, client).threads[0].line; if (line) return line; }
  return -1;
}
function showRedis(state) {
  const keys = D.locks[row(state)[LOCK]], now = row(state)[NOW], owner = (one) => LETTERS[one[3]];
  $("keys").replaceChildren(...(keys.length ? keys.map((one) => {
    const [name, value, ttl] = one, item = make("li", { className: owner(one) ? `of-${owner(one)}` : "" }, make("code", {}, `${name} = ${value}`), owner(one) ? ` (made by ${owner(one)})` : "");
    const time = make("span", { className: "time" }, ttl ? `expires in ${ttl} ms, at ${now + ttl} ms` : "never expires");
    if (ttl) time.prepend(Object.assign(make("progress", { max: Math.max(D.ttl_ms, ttl), value: ttl }), { ariaHidden: "true" }));
    item.append(time);
    return item;
  }) : [make("li", { className: "none" }, D.locks.length > 1 ? "no key: the lock is free" : "no key: this stage asks Redis for no lock")]));
  $("clock").textContent = `The clock stands still at ${now} ms.`;
  const time = movesOf(state).find((move) => move.event[0] === "t");
  $("time-why").textContent = time ? `The next moment is ${time.event.slice(1)} ms.` : whyNot(state, "t");
  const values = D.counters[row(state)[COUNTER]], main = values.find(([name]) => name === D.number), others = values.filter((one) => one !== main);
  const written = row(state)[WRITTEN], value = main ? [...main[1].matchAll(/\d+(?=,|$)/g)].reduce((sum, [part]) => sum + Number(part), 0) : 0;
  $("counter").textContent = String(value);
  $("written").textContent = `${counted(written, "increment")} written${written > value ? `, ${written - value} lost` : ""}${others.map(([name, text]) => `; ${name} = ${text}`).join("")}`;
  $("written").classList.toggle("bad", written > value);
}
function showHappened(possible) {
  const last = trail[trail.length - 1], parts = [], result = [], events = won(), over = !possible.length;
  if (note) parts.push(make("p", {}, note));
  else if (last) parts.push(make("p", {}, `${trail.length}. ${last.sentence}`));
  else parts.push(make("p", {}, D.kind === "SAME_MOVES" ? "Nothing yet. Predict, then play the moves." : "Nothing yet. Run A or B."));
  if (last && !note) for (const [claim, mechanism] of last.breaks)
    if (!D.goal.includes(claim)) parts.push(make("p", { className: "other" }, `This breaks another claim, ${claim}: ${mechanism}. The goal of this level is still open.`));
  const all = given.length > 0 && givenIsOver();
  if (events) {
    const [claim, mechanism] = trail[events - 1].breaks.find(([name]) => D.goal.includes(name)), [promise, made] = D.promises[claim];
    const compared = events === D.par ? "There is no shorter way." : `The shortest way has ${D.par}.`;
    if (events === trail.length && !note) parts.push(make("p", { className: "other" }, make("strong", {}, "Broken."), ` ${mechanism}.`));
    result.push(make("p", {}, make("strong", {}, shown ? "This is the shortest schedule. " : `You broke it in ${counted(events, "event")}. ${compared} `), `${mechanism}.`));
    result.push(make("p", {}, "Broken is the claim ", make("code", {}, claim), `: “${promise}” ${made ? "The stage promises it." : "The stage does not promise it."}`));
    if (all) result.push(make("p", {}, `${answered === "yes" ? "As you predicted" : "Not as you predicted"}: the same moves break it here too.`));
    else if (D.lesson && D.kind !== "SAME_MOVES") result.push(make("p", {}, D.lesson));
  } else if (all && answered) {
    result.push(make("p", {}, make("strong", {}, `${answered === "no" ? "As you predicted" : "Not as you predicted"}: here the same moves do no harm. `), D.lesson));
    remember({});
  } else if (over) result.push(make("p", {}, make("strong", {}, "Nothing can happen any more, and the claim has held. "), D.par ? "Undo, or start again." : ""));
  if (result.length && (events || all || (answered && !D.par))) result.push(...ways(events));
  $("said").replaceChildren(...parts);
  $("result").replaceChildren(...result);
  $("result").hidden = !result.length;
  $("result").classList.toggle("won", Boolean(events));
}
function ways(events) {
  const mine = short(trail.slice(0, events).map((move) => move.event)), links = [];
  for (const [name, stage] of D.next) links.push(make("a", { href: `${name}.html${events ? `#play=${mine}` : ""}` }, `The same moves on ${stage}`), " · ");
  if (D.after.length) links.push(make("a", { href: `${D.after[0]}.html` }, "Next level"), " · ");
  links.push(make("a", { href: "index.html" }, "All levels"));
  const found = [make("p", {}, ...links)];
  if (events) found.push(make("p", { className: "soft" }, "The same schedule on a Redis of your own: ", make("code", {}, `lab replay ${D.stage}:${mine}${D.options}`)));
  return found;
}
function showLanes() {
  const lanes = $("lanes"), cells = [];
  const put = (one, column, line) => { one.style.gridColumn = String(column); one.style.gridRow = String(line); cells.push(one); };
  const lines = { A: 2, none: 3, B: 4 };
  for (const [name, line] of [["A", 2], ["Redis", 3], ["B", 4]]) put(make("span", { className: "name" }, name), 1, line);
  trail.forEach((move, i) => {
    const who = LETTERS.find((letter) => move.event.toUpperCase().replace(/^[PRKLDX](?=[A-D])/, "").startsWith(letter) && move.event[0] !== "t") || "none";
    const chip = make("button", { type: "button", className: `chip of-${who}${/^[prkldxw]/.test(move.event) ? " fault" : ""}${move.breaks.length ? " broke" : ""}` }, move.chip, make("span", { className: "back" }, move.answer ? `→ ${move.answer}` : move.event[0] === "t" ? `${move.event.slice(1)} ms` : ""));
    chip.setAttribute("aria-label", `Event ${i + 1}: ${move.sentence} Go back to it.`);
    chip.addEventListener("click", () => { back(i + 1); $("lanes").focus(); });
    put(make("span", { className: "no", ariaHidden: "true" }, String(i + 1)), i + 2, 1);
    put(chip, i + 2, who === "none" ? 3 : lines[who]);
    if (who !== "none") {
      const before = D.locks[row(move.from)[LOCK]], after = D.locks[row(move.to)[LOCK]], same = JSON.stringify(before) === JSON.stringify(after);
      const words = after.length ? after.map(([name, , , owner]) => owner >= 0 ? `${name}: ${LETTERS[owner]}’s` : name).slice(0, 1).join() : "free";
      put(make("span", { className: `chip ${same ? "same" : "key"}`, ariaHidden: "true" }, same ? "·" : words), i + 2, 3);
    }
  });
  const same = trail.every((move, i) => move.event === given[i]);
  if (same) given.slice(trail.length).forEach((event, i) => {
    const who = event[0] === "t" ? "none" : event[event.length - 1].toUpperCase();
    put(make("span", { className: "chip to-come" }, event), trail.length + i + 2, lines[who]);
  });
  const moved = lanes.childElementCount !== cells.length;
  lanes.replaceChildren(...cells);
  if (moved) lanes.scrollLeft = Math.max(0, (trail.length - 4) * 90);
}
function remember(one) {
  try {
    const done = JSON.parse(localStorage.getItem("lab.play") || "{}"), before = done[D.name];
    if (!before || (one.events && (!before.events || one.events < before.events))) done[D.name] = one;
    localStorage.setItem("lab.play", JSON.stringify(done));
  } catch { /* the page works without */ }
}

// keys
const KEYS = { z: undo, u: undo, backspace: undo, s: again, h: hint, n: playGiven };
document.addEventListener("keydown", (pressed) => {
  if (!$("use-keys").checked || pressed.ctrlKey || pressed.metaKey || pressed.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(pressed.target.tagName)) return;
  const key = pressed.key.toLowerCase(), letter = key.toUpperCase();
  const first = prefix;
  prefix = "";
  if (first && LETTERS.includes(letter)) play(first === "o" ? key : first + letter);
  else if (!first && LETTERS.includes(letter)) play(letter);
  else if (key === "t" || (key === "w" && D.budget.restarts)) { if (D.events.some((event) => event[0] === key)) play(key); }
  else if (key === "o" || FAULTS.some(([each, , , need]) => (each === key || (key === "r" && each === "p")) && D.budget[need])) { prefix = key; note = `${letter} and then? A or B.`; show(); }
  else if (KEYS[key] && (key !== "n" || given.length)) KEYS[key]();
  else if (key === "escape" && first) { note = ""; show(); }
  else return;
  pressed.preventDefault();
});
$("undo").addEventListener("click", undo);
$("again").addEventListener("click", again);
$("hint").addEventListener("click", hint);
$("show").addEventListener("click", showShortest);
$("given")?.addEventListener("click", playGiven);
for (const one of document.querySelectorAll("[data-answer]")) one.addEventListener("click", () => answer(one.dataset.answer));

function begin() {
  const text = decodeURIComponent(location.hash.slice(1)), planned = text.startsWith("play=");
  given = D.kind === "SAME_MOVES" ? parse(planned ? text.slice(5) : D.given) : [];
  const wanted = planned ? [] : parse(text);
  trail = walk(wanted);
  note = trail.length < wanted.length ? `The address has ${counted(wanted.length, "event")}; event ${trail.length + 1}, ${wanted[trail.length]}, is not possible here. The ones before it were played.` : "";
  show();
}
addEventListener("hashchange", begin);
begin();
})();

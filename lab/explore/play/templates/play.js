// A level: walks the graph of all that can happen. Each move of it was executed by the real code; nothing is computed here.
(() => {
"use strict";
const D = JSON.parse(document.getElementById("data").textContent);
const LETTERS = [..."ABCD"].slice(0, D.clients), $ = (id) => document.getElementById(id);
const [LOCK, COUNTER, NOW, LEFT, WRITTEN, DISTANCE] = [0, 1, 2, 3, 4, 5].map((i) => D.clients + i);
const FAULTS = [ // key, event, label, the budget that it needs; the button for a pause resumes a client that is paused
  ["p", "p", () => say("pause"), "pauses"], ["k", "k", () => say("kill"), "crashes"],
  ["l", "l", () => say("lose_reply"), "lost_replies"], ["d", "d", () => say("lose_command"), "lost_replies"], ["x", "x", () => say("send_twice"), "resends"],
  ["f", "f", () => say("fail_work"), "failures"],
];
let trail = [], given = [], answered = "", shown = false, hinted = 0, prefix = "", note = null; // note: returns a text

const make = (name, about = {}, ...inside) => { const one = Object.assign(document.createElement(name), about); one.append(...inside); return one; };
const counted = (n) => n === 1 ? say("event", { n }) : say("events", { n });
const thousands = (number) => number < 10000 ? String(number) : String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const at = () => trail.length ? trail[trail.length - 1].to : 0;
const row = (state) => D.states[state];
const pane = (state, client) => { const [phase, mode, threads, answer, truth] = D.panes[row(state)[client]];
  return { phase, mode, answer: D.words[answer], truth: D.words[truth], threads: threads.map(([thread, kind, command, line, work, atMs]) => ({ thread, kind, command: D.words[command], line, work, atMs })) }; };
function movesOf(state) {
  const flat = D.moves[state], found = [];
  for (let i = 0; i < flat.length; i += 4) {
    const [sentences, chip, answer] = D.reports[flat[i + 2]];
    found.push({ event: D.events[flat[i]], from: state, to: flat[i + 1], sentences, chip, answer, breaks: D.findings[flat[i + 3]] });
  }
  return found;
}
const moveOf = (state, event) => movesOf(state).find((move) => move.event === event);
const sentence = (move) => sentences(move.sentences.map((place) => D.sentences[place]));
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
  for (const one of text.matchAll(/t\d+|w|([prkldxf]?[A-Da-d](?:'\d)?(?:=\d+)?)(\d*)/g))
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
  if (one.mode === "dead") return say("is_dead", { who });
  if (one.mode === "paused") return say("is_paused", { who });
  if (!doing || doing.kind === "over") return say("has_finished", { who });
  if (doing.kind === "nap") return say("sleeps_until_try", { who });
  if (doing.kind === "moment" && !doing.atMs) return say("waits_for_thread", { who });
  if (doing.kind === "moment") return one.phase === "inside" ? say("works_until", { who, n: doing.atMs }) : say("sleeps_until", { who, n: doing.atMs });
  if (doing.kind === "message") return say("waits_for_message", { who });
  return say("waits_in_server", { who });
}
function whyNot(state, event) {
  const later = movesOf(state).find((move) => move.event[0] === "t");
  if (event === "t" && later) return say("next_moment", { n: later.event.slice(1) }); // and not the moment of a given move
  if (event === "t") return movesOf(state).some((move) => /^[A-Da-d](?![A-D])/.test(move.event))
    ? say("time_passes_only") : movesOf(state).length ? say("nothing_waits") : say("nothing_left");
  const kind = event.length > 1 ? event[0] : "", letter = event[event.length - 1], client = LETTERS.indexOf(letter.toUpperCase()), one = pane(state, client);
  if (!kind) return whyNotRun(state, client, letter === letter.toUpperCase() ? 0 : 1);
  if (kind === "r") return say("is_not_paused", { who: letter });
  const need = (FAULTS.find((fault) => fault[1] === kind) || FAULTS[0])[3], left = D.left[row(state)[LEFT]][need];
  if (!left) return say("faults_used_up");
  if (one.mode === "paused" && kind !== "k") return say("is_paused_already", { who: letter });
  if (one.mode !== "runs" || one.threads[0].kind === "over") return say("has_finished", { who: letter });
  if (kind === "d") return say("makes_no_difference");
  if (kind === "f") return say("is_not_in_work", { who: letter });
  return say("sends_no_command", { who: letter });
}

// the buttons: made once, and never removed, so that the focus stays where it is
const buttons = [];
function button(into, label, keys, event, main = false) { // label: returns its text
  const one = make("button", { type: "button", className: main ? "first" : "" });
  one.dataset.event = event;
  one.write = (text = label(), pressed = keys) => one.replaceChildren(text, ...(pressed ? [" ", make("kbd", {}, pressed)] : []));
  one.addEventListener("click", () => play(one.dataset.event));
  into.append(one);
  buttons.push(one);
}
for (const [client, letter] of LETTERS.entries()) {
  const into = document.querySelector(`.client[data-who=${letter}] .moves`);
  button(into, () => say("send_next", { who: letter }), letter, letter, true);
  if (D.events.includes(letter.toLowerCase())) button(into, () => say("run_other", { who: letter }), `O ${letter}`, letter.toLowerCase());
  for (const [key, event, label, need] of FAULTS) if (D.budget[need]) button(into, label, `${key.toUpperCase()} ${letter}`, event + letter);
}
if (D.events.some((event) => event[0] === "t")) button($("time"), () => say("let_time_pass"), "T", "t"); else { $("time").hidden = true; $("time-why").hidden = true; $("clock").hidden = true; }
for (const letter of LETTERS) button($("quick"), () => say("send", { who: letter }), "", letter); // for a phone
if (!$("time").hidden) button($("quick"), () => say("time"), "", "t");
$("quick").append(make("button", { type: "button", id: "quick-undo", onclick: undo }));
if (D.budget.restarts) button($("time"), () => say("restart"), "W", "w");
for (const event of D.events) if (event.includes("=")) button(document.querySelector(`.client[data-who=${event[0].toUpperCase()}] .moves`), () => say("draw", { n: event.split("=")[1] }), "", event);

const exact = (event) => event === "t" ? (movesOf(at()).find((move) => move.event[0] === "t") || {}).event : event;
function play(event) {
  const wanted = exact(event), move = wanted && moveOf(at(), wanted);
  hinted = 0; note = null;
  if (!move) { note = () => whyNot(at(), event); return show(); }
  trail.push(move);
  arrive();
}
function arrive() {
  if (won() === trail.length && trail.length && !shown) remember({ events: trail.length });
  show();
}
function undo() { note = trail.length ? null : () => say("this_is_the_start"); trail.pop(); hinted = 0; show(); }
function again() { trail = []; shown = false; hinted = 0; note = () => say("start_again"); show(); }
function back(number) { trail = trail.slice(0, number); hinted = 0; note = () => say("back_after", { events: counted(number) }); show(); }
function hint() {
  const left = row(at())[DISTANCE];
  if (won()) note = () => say("broken_already");
  else if (D.kind !== "BREAK" && !answered) note = () => D.kind === "DECIDE" ? say("answer_before_hint") : say("predict_before_hint");
  else if (left < 0) note = () => D.par ? say("no_break_from_here") : say("no_break_at_all");
  else if (hinted < 1) { note = () => left === 1 ? say("break_in_one") : say("break_in", { n: left }); hinted = 1; }
  else { const { event } = better(); note = () => say("goes_on_with", { event, move: label(event) }); hinted = 2; }
  show();
}
function better() {
  const left = row(at())[DISTANCE];
  return movesOf(at()).find((move) => left === 1 ? reaches(move) : row(move.to)[DISTANCE] === left - 1);
}
function label(event) {
  const found = buttons.find((one) => one.dataset.event === (event[0] === "t" ? "t" : event)), move = found?.firstChild.textContent ?? event;
  return /^[prk]/.test(event) ? say("move_of", { move, who: event[1] }) : move;
}
function showShortest() {
  if (D.kind !== "BREAK" && !answered) { note = () => say("answer_first"); return show(); }
  if (!D.par) { note = () => say("there_is_none", { n: thousands(D.schedules) }); return show(); }
  trail = walk(parse(D.shortest)); shown = true; hinted = 0; note = null; show();
}
function guide() { // on the first level: what to do next
  const left = row(at())[DISTANCE];
  if (D.name !== "none" || won()) return "";
  if (left < 0) return movesOf(at()).length ? say("guide_undo") : say("guide_both_there");
  return say(`guide_${trail.length}`, { who: better().event });
}

// the question of a level
function answer(word) {
  answered = word;
  if (D.kind === "DECIDE" && !D.par) remember({});
  show();
}
function showAnswer() {
  if (!answered) return;
  const truth = D.par > 0, right = (answered === "yes") === truth, all = { broken: thousands(D.breaking), all: thousands(D.schedules), events: counted(D.par), lesson: D.lesson };
  let text;
  if (D.kind === "SAME_MOVES") text = answered === "yes" ? say("predict_break") : say("predict_no_harm");
  else if (right && truth) text = say("right_broken", all);
  else if (right) text = say("right_none", all);
  else if (truth) text = say("it_can", all);
  else text = say("it_cannot", all);
  $("answer").hidden = false;
  if ($("answer").textContent !== text) $("answer").textContent = text; // a screen reader reads it once
  for (const one of document.querySelectorAll("[data-answer]")) one.setAttribute("aria-pressed", String(one.dataset.answer === answered));
}
function playGiven() {
  const done = trail.length, same = trail.every((move, i) => move.event === given[i]);
  hinted = 0;
  if (!answered) note = () => say("predict_first");
  else if (!same) note = () => say("left_given");
  else if (done >= given.length) note = () => say("all_given");
  else {
    const move = moveOf(at(), given[done]);
    if (move) { note = null; trail.push(move); return arrive(); }
    note = () => say("given_end", { n: done, all: given.length, why: whyNot(at(), given[done][0] === "t" ? "t" : given[done]) });
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
    if (!/^[pr][A-D]$/.test(one.dataset.event)) one.write();
    else {
      const letter = one.dataset.event[1], paused = pane(state, LETTERS.indexOf(letter)).mode === "paused";
      one.dataset.event = (paused ? "r" : "p") + letter;
      one.write(paused ? say("resume") : say("pause"), `${paused ? "R" : "P"} ${letter}`);
    }
    const able = possible.some((move) => move.event === one.dataset.event || (one.dataset.event === "t" && move.event[0] === "t"));
    one.setAttribute("aria-disabled", String(!able));
    one.title = able ? "" : whyNotFor(state, one.dataset.event);
    const best = hinted === 2 || guide() ? better() : null;
    one.classList.toggle("hinted", Boolean(best) && (best.event === one.dataset.event || (one.dataset.event === "t" && best.event[0] === "t")));
  }
  $("quick-undo").textContent = say("undo");
  $("step").textContent = counted(trail.length);
  $("undo").setAttribute("aria-disabled", String(!trail.length));
  showAnswer();
  showHappened(possible);
  showLanes();
  const text = short(trail.map((move) => move.event));
  $("short").textContent = text ? `${D.stage}:${text}` : "";
  $("language").hash = text; // the page in the other language begins with what has happened
  if (location.hash.slice(1) !== text && !(location.hash.startsWith("#play=") && !text)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}
const whyNotFor = (state, event) => event.includes("=") || event === "w" ? say("not_possible") : whyNot(state, event);
function showClient(state, client, letter) {
  const one = pane(state, client), first = one.threads[0], card = document.querySelector(`.client[data-who=${letter}]`), get = (name) => card.querySelector(name);
  const over = first.kind === "over", phases = { waiting: say("wants"), inside: say("inside"), releasing: say("releasing"), done: say("done") };
  const modes = { paused: say("paused"), dead: say("dead") }, commands = (threads) => threads.map((each) => each.command).join(", ");
  const badge = get(".badge");
  badge.textContent = one.mode === "runs" ? phases[one.phase] || say("error", { error: one.phase }) : modes[one.mode];
  badge.className = `badge ${one.mode === "runs" ? one.phase : one.mode}`;
  const able = moveOf(state, letter);
  get(".next").textContent = one.mode === "dead" ? say("process_dead") : first.kind === "command" ? say("next", { command: commands([first]) }) : first.kind === "choice" ? say("next_random") : over ? one.phase === "done" ? say("request_done") : say("request_ended", { error: one.phase }) : say("nothing_to_send");
  get(".why").textContent = able || movesOf(state).some((move) => move.event.startsWith(`${letter}=`)) ? "" : whyNotRun(state, client);
  const others = one.threads.slice(1).filter((each) => each.kind === "command");
  if (others.length) get(".why").textContent = sentences([get(".why").textContent, say("other_thread_next", { commands: commands(others) })]);
  get(".truth").hidden = !one.truth || D.locks.length < 2; // a stage without a lock believes nothing of one
  get(".truth").textContent = one.truth ? say("believes", { who: letter, why: one.truth }) : "";
  get(".answered").replaceChildren(...(one.answer ? [say("last_reply"), make("code", {}, one.answer)] : []));
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
    const [name, value, ttl] = one, item = make("li", { className: owner(one) ? `of-${owner(one)}` : "" }, make("code", {}, `${name} = ${value}`), owner(one) ? say("made_by", { who: owner(one) }) : "");
    const time = make("span", { className: "time" }, ttl ? say("expires_in", { n: ttl, n2: now + ttl }) : say("never_expires"));
    if (ttl) time.prepend(Object.assign(make("progress", { max: Math.max(D.ttl_ms, ttl), value: ttl }), { ariaHidden: "true" }));
    item.append(time);
    return item;
  }) : [make("li", { className: "none" }, D.locks.length > 1 ? say("no_key_free") : say("no_key_no_lock"))]));
  $("clock").textContent = say("clock_stands", { n: now });
  const time = movesOf(state).find((move) => move.event[0] === "t");
  $("time-why").textContent = time ? say("next_moment", { n: time.event.slice(1) }) : whyNot(state, "t");
  const values = D.counters[row(state)[COUNTER]], main = values.find(([name]) => name === D.number), others = values.filter((one) => one !== main);
  const written = row(state)[WRITTEN], value = main ? [...main[1].matchAll(/\d+(?=,|$)/g)].reduce((sum, [part]) => sum + Number(part), 0) : 0;
  $("counter").textContent = String(value);
  const made = written === 1 ? say("one_written") : say("written", { n: written });
  $("written").textContent = [made, written > value ? say("and_lost", { n: written - value }) : "", ...others.map(([name, text]) => `${isChinese ? "；" : "; "}${name} = ${text}`)].join("");
  $("written").classList.toggle("bad", written > value);
}
function showHappened(possible) {
  const last = trail[trail.length - 1], parts = [], result = [], events = won(), over = !possible.length;
  if (note) parts.push(make("p", {}, note()));
  else if (last) parts.push(make("p", {}, `${trail.length}. ${sentence(last)}`));
  else parts.push(make("p", {}, D.kind === "SAME_MOVES" ? say("nothing_yet_predict") : say("nothing_yet_send")));
  if (last && !note) for (const [claim, mechanism] of last.breaks)
    if (!D.goal.includes(claim)) parts.push(make("p", { className: "other" }, say("breaks_another", { claim, what: mechanism })));
  if (guide() && !note) parts.push(make("p", { className: "guide" }, guide()));
  const all = given.length > 0 && givenIsOver();
  if (events) {
    const [claim, mechanism] = trail[events - 1].breaks.find(([name]) => D.goal.includes(name)), [promise, made] = D.promises[claim];
    const what = say("sentence", { what: mechanism });
    const compared = events === D.par ? say("no_shorter") : say("shortest_has", { n: D.par });
    if (events === trail.length && !note) parts.push(make("p", { className: "other" }, make("strong", {}, say("broken")), gap, what));
    if (events === trail.length && !note && D.after) parts.push(make("p", {}, make("a", { href: `${D.after}${D.ending}` }, say("next_level")))); // on a phone, the result is further below
    result.push(make("p", {}, make("strong", {}, shown ? say("this_is_shortest") : sentences([say("you_broke_it", { events: counted(events) }), compared])), gap, what));
    result.push(make("p", {}, say("broken_is"), make("code", {}, claim), sentences([say("which_is", { promise: promise }), made ? say("promised") : say("not_promised")])));
    if (all) result.push(make("p", {}, answered === "yes" ? say("as_predicted_break") : say("not_as_predicted_break")));
    else if (D.lesson && D.kind !== "SAME_MOVES") result.push(make("p", {}, D.lesson));
  } else if (all && answered) {
    result.push(make("p", {}, make("strong", {}, answered === "no" ? say("as_predicted_harmless") : say("not_as_predicted_harmless")), gap, D.lesson));
    remember({});
  } else if (over && !guide()) result.push(make("p", {}, make("strong", {}, say("claim_has_held")), gap, D.par ? say("undo_or_again") : ""));
  if (result.length && (events || all || (answered && !D.par))) result.push(...ways(events));
  $("said").replaceChildren(...parts);
  $("result").replaceChildren(...result);
  $("result").hidden = !result.length;
  $("result").classList.toggle("won", Boolean(events));
}
function ways(events) {
  const mine = short(trail.slice(0, events).map((move) => move.event)), links = [];
  for (const [name, stage] of D.next) links.push(make("a", { href: `${name}${D.ending}${events ? `#play=${mine}` : ""}` }, say("same_moves_on", { stage })), " · ");
  if (D.after) links.push(make("a", { href: `${D.after}${D.ending}` }, say("next_level")), " · ");
  links.push(make("a", { href: `index${D.ending}` }, say("all_levels")));
  const found = [make("p", {}, ...links)];
  if (events) found.push(make("p", { className: "soft" }, say("on_your_redis"), make("code", {}, `lab explore --replay ${mine.includes("'") ? `"${D.stage}:${mine}"` : `${D.stage}:${mine}`}${D.options}`)));
  return found;
}
function showLanes() {
  const lanes = $("lanes"), cells = [];
  const put = (one, column, line) => { one.style.gridColumn = String(column); one.style.gridRow = String(line); cells.push(one); };
  const lines = { A: 2, none: 3, B: 4 };
  for (const [name, line] of [["A", 2], ["Redis", 3], ["B", 4]]) put(make("span", { className: "name" }, name), 1, line);
  trail.forEach((move, i) => {
    const who = LETTERS.find((letter) => move.event.toUpperCase().replace(/^[PRKLDXF](?=[A-D])/, "").startsWith(letter) && move.event[0] !== "t") || "none";
    const chip = make("button", { type: "button", className: `chip of-${who}${/^[prkldxfw]/.test(move.event) ? " fault" : ""}${move.breaks.length ? " broke" : ""}` }, move.chip, make("span", { className: "back" }, move.answer ? `→ ${move.answer}` : move.event[0] === "t" ? say("ms", { n: move.event.slice(1) }) : ""));
    chip.title = sentences([say("event_is", { n: i + 1, what: sentence(move) }), say("go_back")]); // its name is what is written in it
    chip.addEventListener("click", () => { back(i + 1); $("lanes").focus(); });
    put(make("span", { className: "no", ariaHidden: "true" }, String(i + 1)), i + 2, 1);
    put(chip, i + 2, who === "none" ? 3 : lines[who]);
    if (who !== "none") {
      const before = D.locks[row(move.from)[LOCK]], after = D.locks[row(move.to)[LOCK]], same = JSON.stringify(before) === JSON.stringify(after);
      const held = after.length ? after.map(([name, , , owner]) => owner >= 0 ? say("key_of", { key: name, who: LETTERS[owner] }) : name).slice(0, 1).join() : say("free");
      put(make("span", { className: `chip ${same ? "same" : "key"}`, ariaHidden: "true" }, same ? "·" : held), i + 2, 3);
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
    const key = `lab.play.${D.name}`; // a key for each level: two pages that write at once lose neither mark
    const before = JSON.parse(localStorage.getItem(key) || "null");
    if (!before || (one.events && (!before.events || one.events < before.events))) localStorage.setItem(key, JSON.stringify(one));
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
  else if (key === "o" || FAULTS.some(([each, , , need]) => (each === key || (key === "r" && each === "p")) && D.budget[need])) { prefix = key; note = () => say("key_and_then", { key: letter }); show(); }
  else if (KEYS[key] && (key !== "n" || given.length)) KEYS[key]();
  else if (key === "escape" && first) { note = null; show(); }
  else return;
  pressed.preventDefault();
});
$("undo").addEventListener("click", undo);
$("again").addEventListener("click", again);
$("hint").addEventListener("click", hint);
$("show").addEventListener("click", showShortest);
$("all-code").addEventListener("click", () => {
  const { dataset } = document.querySelector("main"), all = dataset.code === "short";
  dataset.code = all ? "all" : "short";
  $("all-code").setAttribute("aria-pressed", String(all));
  show(); // the current line comes into sight
});
$("given")?.addEventListener("click", playGiven);
for (const one of document.querySelectorAll("[data-answer]")) one.addEventListener("click", () => answer(one.dataset.answer));

if (location.protocol !== "file:") for (const one of document.querySelectorAll('.chapter[href$=".md"]')) one.hidden = true; // a server of the pages has no documents

function begin() {
  const text = decodeURIComponent(location.hash.slice(1)), planned = text.startsWith("play=");
  given = D.kind === "SAME_MOVES" ? parse(planned ? text.slice(5) : D.given) : [];
  const wanted = planned ? [] : parse(text);
  trail = walk(wanted);
  const { length } = trail;
  note = length < wanted.length ? () => say("address_has", { events: counted(wanted.length), n: length + 1, event: wanted[length] }) : null;
  show();
}
addEventListener("hashchange", begin);
begin();
})();

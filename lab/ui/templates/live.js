// The lab's own page: news by server-sent events; predictions, Start and the question by post. All content is set as text, never as markup.
{
  const $ = (id) => document.getElementById(id);
  const { titles, questions, unfit, texts: inAll, chinese, lesson: steps, language: byDefault, teacher } = JSON.parse($("data").textContent);
  let language = "en", texts = inAll.en;
  const say = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const local = (text) => language === "zh" ? chinese[text] ?? text : text; // of what the server sends in English
  const form = $("what"), main = document.querySelector("main");
  const chart = new Paper("envelope"), strip = new Strip(new Paper("strip"));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let points = [], look = null, about = null, phase = "waiting", everything = false, receivedAt = 0, questioned = 0, why = "", result = null;
  const asked = { stage: form.elements.stage.value, scenario: form.elements.scenario.value }; // what the class is asked

  // the views: all of it, what a projector shows, what a phone shows
  const view = { "/vote": "phone", "/projector": "projector" }[location.pathname] ?? "whole";
  document.documentElement.dataset.view = view;
  $("to-locust").href = `${location.protocol}//${location.hostname}:${LOCUST_PORT}/`;
  if (view !== "whole") Object.assign($("to-other-view"), { href: "/", target: "" }).dataset.text = "control";
  $("to-other-view").hidden = $("to-locust").hidden = !teacher; // another visitor only follows

  if ($("name")) { // where the lab asks for names
    try { $("name").value = localStorage.getItem("lab-name"); } catch { /* no name is kept here */ }
    $("name").addEventListener("change", () => { try { localStorage.setItem("lab-name", $("name").value); } catch { /* the name is not kept */ } });
  }

  const cell = (tag, text, name = "") => Object.assign(document.createElement(tag), { textContent: text, className: name });
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  const asks = ({ text, choices }) => ({ text: local(text), choices: choices.map(local) });
  const questionOf = (subject) => asks(lesson.runOf(subject) ?? questions[subject.scenario]); // in the words of the lesson, where the class is at it
  const chosen = () => questionOf(asked);
  const listed = (numbers, all) => numbers.map((number, place) => number ? `${number} × “${all[place]}”` : "").filter(Boolean).join(language === "zh" ? "，" : ", ");
  const sentences = (...all) => all.filter(Boolean).join(language === "zh" ? "" : " ");
  const isRun = () => about && about.stage === asked.stage && about.scenario === asked.scenario;
  const replicas = (number) => number === 1 ? say("one_replica") : say("replicas", { n: number });

  // what the class is asked, and its predictions
  function bars(list, numbers) { // a bar behind each choice
    const most = Math.max(1, sum(numbers));
    [...list.children].forEach((one, place) => {
      one.querySelector(".count").textContent = numbers[place] || "";
      one.querySelector(".fill").style.width = `${100 * (numbers[place] || 0) / most}%`;
    });
  }
  function choice(tag, words) {
    const one = cell(tag, "", "choice"), count = cell("span", "", "count"), fill = cell("span", "", "fill");
    count.setAttribute("aria-hidden", "true");
    one.append(fill, cell("span", words, "words"), count);
    return one;
  }
  function shares(list, all, numbers, answer = null) { // what the class predicted for a run; answer: the choice that came true
    list.replaceChildren(...all.map((words, place) => {
      const line = choice("li", words);
      line.classList.toggle("came-true", place === answer);
      return line;
    }));
    bars(list, numbers);
    list.hidden = !sum(numbers);
  }
  function show(row) { // scrolls its list only, and only if need be
    const list = row.closest(".rows"), above = row.offsetTop - list.offsetTop;
    if (above < list.scrollTop || above + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = above - list.clientHeight / 3;
  }
  function go(stage, scenario, place = lesson) { // all pages are asked the same
    Object.assign(asked, { stage, scenario });
    lesson.show(place);
    form.elements.stage.value = stage; form.elements.scenario.value = scenario;
    for (const row of form.querySelectorAll("[name=scenario]")) row.closest("label").classList.toggle("unfit", unfit[row.value].includes(stage));
    const others = Object.values(unfit).filter((one) => one.includes(stage)).length;
    $("more").textContent = others ? say("more", { n: others }) : "";
    for (const one of form.querySelectorAll(":checked")) show(one.closest("label"));
    $("refused").textContent = unfit[scenario].includes(stage) ? say("no_fit") : "";
    const { text, choices: all } = chosen();
    document.querySelector(".subject").textContent = say("subject", asked);
    $("asks").textContent = text;
    const buttons = $("choices").children, there = [...buttons].map((one) => one.querySelector(".words").textContent);
    if (there.join("\n") !== all.join("\n")) { // otherwise they stay: one may be under somebody's finger
      $("choices").replaceChildren(...all.map((words, place) => {
        const button = choice("button", words);
        button.type = "button"; button.dataset.choice = place;
        return button;
      }));
    }
    for (const button of buttons) button.setAttribute("aria-pressed", "false");
    bars($("choices"), []);
    $("title").textContent = local(titles[stage]);
    own();
  }
  function ladder(message) {
    for (const one of message.rungs) {
      const badge = form.querySelector(`[data-stage="${one.stage}"]`);
      badge.textContent = one.cell === null ? say("new_stage") : one.cell.said[language];
      badge.className = `badge ${one.cell?.verdict ? `area ${one.cell.verdict}` : "soft"}`;
    }
    mine(message.mine);
    voted(message.voted);
  }
  function mine(message) { // the visitor's own prediction: it stays, and the run answers it
    const { next, last } = message, { choices: all } = chosen();
    const said = next ?? (isRun() && phase !== "waiting" ? last?.choice : null);
    for (const button of $("choices").children) button.setAttribute("aria-pressed", String(Number(button.dataset.choice) === said));
    const answered = last && (last.right === null ? say("under_way") : say(last.right ? "right" : "wrong"));
    const score = message.right + message.wrong && say("yours", { right: message.right, all: message.right + message.wrong });
    $("mine").textContent = next !== null ? say("you_said_next", { choice: all[next] })
      : last ? sentences(say("you_said", { choice: all[last.choice] }), answered, score) : "";
    $("mine").className = last && last.right !== null && next === null ? (last.right ? "good" : "bad") : "";
    $("mine").hidden = !$("mine").textContent;
  }
  function voted(number) { // how many predictions there are; what they say comes at Start
    const { choices: all } = chosen(), ofRun = !number && isRun() && phase !== "waiting" && sum(about.predicted);
    bars($("choices"), ofRun ? about.predicted : []);
    $("said").textContent = ofRun ? say("said_of_run", { votes: listed(about.predicted, all) }) : number ? say(number === 1 ? "said_one" : "said", { n: number }) : say("said_none");
  }
  async function post(what, content) { // returns why it was refused, or an empty text
    const how = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) };
    const answer = await fetch(`/live/${what}`, how).catch(() => null);
    const message = await answer?.json().catch(() => null);
    return message ? local(message.refused ?? "") : say("silent");
  }
  async function own() { // what this visitor may see and has predicted
    const mine = ++questioned, words = new URLSearchParams(asked);
    if (everything) words.set("all", "1");
    const message = await fetch(`/live/ladder?${words}`).then((answer) => answer.json()).catch(() => null);
    if (message && !message.refused && mine === questioned) ladder(message);
  }
  async function predict(choice) {
    const refused = await post("prediction", { name: $("name")?.value ?? "", ...asked, choice });
    if (refused) $("said").textContent = refused; else own();
  }
  async function subject(stage, scenario) {
    $("refused").textContent = await post("subject", { stage, scenario });
  }
  const lesson = new Lesson(steps, { view, say, local, post });
  $("lesson-off").addEventListener("click", () => subject(asked.stage, asked.scenario));
  form.addEventListener("change", () => subject(form.elements.stage.value, form.elements.scenario.value));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    $("start").disabled = true;
    $("phase").textContent = say("starting", asked);
    $("refused").textContent = await post("start", asked);
    $("start").disabled = false;
    if ($("refused").textContent) enter(phase);
  });
  $("choices").addEventListener("click", (event) => { const button = event.target.closest("[data-choice]"); if (button) predict(Number(button.dataset.choice)); });
  $("reveal").addEventListener("click", () => { everything = !everything; $("reveal").setAttribute("aria-pressed", String(everything)); own(); });
  $("stop").addEventListener("click", () => post("stop", {}));
  $("again").addEventListener("click", () => subject(asked.stage, asked.scenario));
  $("next").addEventListener("click", () => { if (lesson.runOf(result)) lesson.go(lesson.towards(1)); else subject(result.next, result.scenario); });

  // the run
  const STATES = { waiting: "ask", starting: "run", running: "run", judged: "say", drawn: "say", refused: "say" };
  function enter(now) {
    phase = now;
    const state = main.dataset.state = STATES[now], named = about && { stage: about.stage, scenario: about.scenario };
    $("ask").hidden = state !== "ask"; $("run").hidden = state === "ask" || now === "refused"; $("outcome").hidden = state !== "say";
    $("starting").hidden = now !== "starting";
    for (const one of document.querySelectorAll("#run > .seen, #run > .inside, #run > .under")) one.hidden = now === "starting";
    document.querySelector("#run > .inside").hidden = now !== "running" && !frames;
    $("stop").hidden = now !== "running"; $("now-title").hidden = state === "say";
    $("phase").textContent = now === "waiting" ? (lesson.now && !lesson.now.runs.length ? say("waiting_pages") : view === "whole" && !lesson.now ? say("waiting") : say("waiting_phone")) : now === "refused" ? say("refused", { why: local(why) })
      : say(now, { ...named, requests: thin(about.requests), replicas: replicas(about.replicas) });
    if (about) $("now-title").textContent = say("titled", { subject: say("subject", named), title: local(about.title) });
    if (now === "refused") refusal();
    draw();
  }
  function refusal() {
    $("outcome-title").textContent = say("refused", { why: local(why) });
    for (const id of ["outcome-asks", "result", "result-says", "why", "against", "promise", "locust-result", "counter-result"]) $(id).textContent = "";
    $("next").hidden = $("to-run").hidden = $("votes").hidden = true;
  }
  function clear(message) {
    about = message.about; points = []; look = null; result = null;
    forget();
    strip.clear(Array.from({ length: about.replicas }, (_, number) => `replica-${number + 1}`));
    $("to-run").hidden = true;
    const gap = about.live === "gap";
    $("of-gap").hidden = !gap; $("of-refusals").hidden = gap;
    big("–", ""); $("locust-says").textContent = $("counter-says").textContent = "";
    go(about.stage, about.scenario, lesson.runOf(about) ? lesson : { step: 0, run: 0 });
  }
  function big(number, words, tone = "plain") {
    $("gap").textContent = number; $("gap").className = `big ${tone}`;
    $("gap-says").textContent = words;
  }
  function both({ acknowledged, counter, failed, unknown, answered }) { // what Locust reports, and what it cannot see
    const share = answered ? 100 * (failed + unknown) / answered : 0;
    $("locust-says").textContent = say("locust_says", { percent: share > 0 && share < 1 ? share.toFixed(1) : Math.round(share) });
    $("counter-says").textContent = counter === null ? "" : say("counter_says", { n: thin(Math.max(0, acknowledged - counter)) });
  }
  function figures(message) { // while the run goes on: nothing is kept before the verdict, so nothing is green
    const gap = Math.max(0, message.acknowledged - message.counter);
    const idle = message.idle_s >= 1 && message.acknowledged ? say("idle", { s: message.idle_s.toFixed(1) }) : "";
    if (about.live === "gap") big(thin(gap), say("gap"), gap > 0 ? "bad" : "plain");
    else big(thin(message.failed), say("refusals", { requests: thin(about.requests), idle }));
    for (const name of ["acknowledged", "counter", "unknown", "failed", "kept_per_s"]) $(name).textContent = thin(message[name]);
    legends(message.unknown);
    both(message);
  }
  function legends(unknown) { // name only what is in the picture
    const there = { unknown, fault: (frames ?? look)?.faults?.length };
    for (const one of document.querySelectorAll("[data-if]")) one.hidden = !there[one.dataset.if];
  }
  function onStrip(bins) {
    strip.add(bins);
    $("with-lock").hidden = bins.locked === false; $("without-lock").hidden = bins.locked !== false;
  }
  const bands = (faults = []) => faults.map((one) => ({ ...one, kind: local(one.kind) }));
  function draw() {
    if (!$("run").checkVisibility() || phase === "starting") return;
    if (frames) { seek(now()); return; }
    if (about.live === "gap") envelope(chart, points, bands(look?.faults));
    else liveness(chart, points, bands(look?.faults), about.requests);
    if (phase === "running" && (still.matches || !look)) strip.draw(look ? look.at_s : STRIP_S);
  }
  // a run that was short, once more: by the reader's hand, or at a tenth of its speed and less around the loss
  let frames = null, since = 0; // since: when the replay that plays would have begun, in milliseconds; 0 while it is still
  function seek(share) {
    const atS = momentOf(frames.pace, share);
    const seen = frames.points.filter((one) => one[0] <= atS), [, acknowledged, unknown, counter, failed] = seen.at(-1) ?? [0, 0, 0, 0, 0];
    const faults = bands(frames.faults).filter((one) => one.from_s <= atS).map((one) => ({ ...one, until_s: one.until_s && Math.min(one.until_s, atS) }));
    $("scrub").value = Math.round(1000 * share);
    $("moment").textContent = say("moment", { s: atS.toFixed(2), all: frames.until_s.toFixed(2) });
    if (about.live === "gap") envelope(chart, seen, faults, frames.points, frames.pace);
    else liveness(chart, seen, faults, about.requests, frames.points, frames.pace);
    lanes(strip.paper, frames, atS);
    if (share >= 1) verdict(result);
    else figures({ acknowledged, unknown, counter, failed, answered: acknowledged + unknown + failed, kept_per_s: result.kept_per_s, idle_s: 0 });
  }
  const now = () => Number($("scrub").value) / 1000;
  function play(on) {
    since = on ? performance.now() - (now() >= 1 ? 0 : now()) * frames.until_s * 10000 : 0;
    $("play").textContent = say(on ? "pause" : "replay");
    wake();
  }
  function tick() { // at a tenth of the speed: ten seconds for one
    if (!since || !frames) return;
    const share = Math.min(1, (performance.now() - since) / 10000 / frames.until_s);
    seek(share);
    if (share >= 1) play(false);
  }
  async function load() {
    const found = await fetch("/live/replay").then((answer) => answer.json()).catch(() => null);
    if (!found?.points || main.dataset.state !== "say") return;
    frames = found;
    $("replay").hidden = false;
    document.querySelector("#run > .inside").hidden = view === "phone";
    for (const id of ["with-lock", "without-lock"]) $(id).hidden = true;
    $("of-stays").hidden = false;
    for (const one of $("of-stays").children) one.hidden = one.dataset.state === "pace" ? frames.pace.length === 2 : !frames.stays.some((stay) => stay[3] === Number(one.dataset.state));
    $("moment").textContent = "";
    draw();
  }
  function forget() {
    frames = null; since = 0; drawing = null; $("loss").querySelector("figure").replaceChildren();
    $("replay").hidden = $("of-stays").hidden = true; $("scrub").value = 1000; $("play").textContent = say("replay");
    screens.show({ screen: "verdict", step: 0 });
  }
  $("play").addEventListener("click", () => play(!since));
  $("scrub").addEventListener("input", () => { play(false); seek(now()); });
  const figure = (text) => /^\d+$/.test(text) ? thin(Number(text)) : text;
  function verdict(one) { // two writes can have the same time stamp; the judged figures decide
    big(figure(one.answer.number), one.answer.words[language], one.answer.tone);
    const { acknowledged, unknown, failed, final: counter, kept_per_s } = one;
    for (const [name, value] of Object.entries({ acknowledged, unknown, failed, counter, kept_per_s })) $(name).textContent = thin(value);
    legends(unknown);
    both({ acknowledged, counter, failed, unknown, answered: one.requests });
  }
  function judged(message) {
    result = message.result;
    Object.assign(chinese, result.chinese);
    const one = result, { answer } = one, { predicted } = about, { text, choices: all } = questionOf(one);
    const duplicated = one.duplicated ? say("duplicated", { n: thin(one.duplicated) }) : "", voted = sum(predicted);
    $("outcome-asks").textContent = text;
    $("outcome-title").textContent = answer.choice === null ? say("void") : all[answer.choice];
    $("result").textContent = figure(answer.number); $("result").className = `big ${answer.tone}`;
    $("result-says").textContent = `${answer.words[language]}${duplicated}`;
    $("why").textContent = local(one.why);
    $("against").textContent = answer.choice === null ? "" : voted ? say("against", { right: predicted[answer.choice], all: voted }) : say("nobody");
    shares($("votes"), all, predicted, answer.choice);
    $("promise").replaceChildren(`${say("titled", { subject: say("subject", one), title: say(`promise_${one.verdict}`) })} `, cell("span", local(one.headline), `verdict ${one.verdict}${one.lost_otherwise ? " otherwise" : ""}`));
    verdict(one);
    $("locust-result").textContent = $("locust-says").textContent; $("counter-result").textContent = $("counter-says").textContent;
    const after = lesson.runOf(one) && lesson.towards(1);
    $("next").hidden = !(after || one.next);
    $("again").textContent = say(lesson.runOf(one) ? "free_choice" : "again");
    $("next").textContent = after ? say("step_on") : one.next ? say("next", { stage: one.next }) : "";
    tally(message.tally);
    own();
  }
  function tally(message) {
    const all = message.right + message.wrong;
    $("tally").hidden = !all; $("names").hidden = !message.names.length;
    $("tally").textContent = say("group", { right: message.right, all });
    $("names").replaceChildren(...message.names.map((one) => cell("li", say("named", { name: one.name, right: one.right, all: one.right + one.wrong }))));
  }
  let drawing = null; // what is said of the run's picture
  function loss(now) { // a step of the loss that the run is about; without steps, the picture is the timeline
    [...$("loss").querySelectorAll(".said li")].forEach((line, place) => {
      const other = place + 1, is = other < now ? "past" : other === now ? "now" : "later";
      line.dataset.is = is;
      for (const part of $("loss").querySelectorAll(`figure [id*="step-${other}-"]`)) part.dataset.is = is;
    });
  }
  function shown(screen, step, changed) {
    if (screen === "loss") loss(step);
    if (screen !== "replay") return;
    if (frames && changed && !still.matches) { $("scrub").value = 1000; play(true); } else draw();
  }
  const screens = new Screens({
    view, teacher, post, shown, ready: () => ({ steps: drawing?.steps?.said.length ?? 0, picture: Boolean(drawing), replay: points.length > 1 || frames }),
  });
  async function drawn(message) {
    const home = `/runs/${encodeURIComponent(message.drawn.run)}`;
    const { caption, steps } = drawing = message.drawn.said[language];
    $("loss-title").textContent = steps ? say(steps.cause ? "steps_why" : "steps_of", steps) : caption;
    $("loss").dataset.steps = steps?.said.length ?? 0;
    $("loss").querySelector(".said").replaceChildren(...(steps?.said ?? []).map(({ sentence }) => cell("li", sentence)));
    $("to-run").hidden = $("to-runs").hidden = $("to-matrix").hidden = false;
    $("to-run").href = `${home}/report.html`;
    const answer = await fetch(`${home}/${steps ? "five_steps" : "timeline"}${language === "zh" ? ".zh" : ""}.svg`);
    if (!answer.ok || phase !== "drawn") return;
    const picture = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement; // the lab's own drawing; a script in it would not run
    picture.setAttribute("aria-hidden", "true");
    if (picture.dataset.lanes) { // its title and its sentences are next to it
      const [, top, wide] = picture.dataset.lanes.split(" ").map(Number);
      picture.setAttribute("viewBox", picture.dataset.lanes);
      for (const one of picture.querySelectorAll("text")) if (one.getAttribute("x") > 0.92 * wide || one.getAttribute("y") < top) one.remove();
    }
    $("loss").querySelector("figure").replaceChildren(document.importNode(picture, true));
    screens.show(screens);
  }
  const HANDLERS = {
    hello(message) {
      about = message.about || null; why = message.why || ""; phase = message.phase; tally(message.tally);
      lesson.show(message.votes);
      if (about) clear(message);
      else go(message.votes.stage, message.votes.scenario, message.votes);
      points = message.points;
      if (message.strip) onStrip(message.strip);
      if (message.look) { look = message.look; receivedAt = performance.now(); figures(look); }
      if (message.result) judged(message);
      if (phase === "starting") starts();
      enter(phase);
      if (message.drawn) drawn(message);
      if (message.replay) load();
      if (message.screen) screens.show(message.screen);
      wake();
    },
    screen: (message) => screens.show(message),
    replay: load,
    asked(message) { forget(); go(message.stage, message.scenario, message); enter("waiting"); },
    votes(message) { if (message.stage === asked.stage && message.scenario === asked.scenario) voted(message.voted); },
    starting(message) { phase = "starting"; clear(message); starts(); enter("starting"); },
    begin(message) { if (phase !== "starting") { phase = "running"; clear(message); } enter("running"); },
    look(message) {
      look = message; receivedAt = performance.now();
      points.push([message.at_s, message.acknowledged, message.unknown, message.counter, message.failed]);
      if (points.length > 1200) points = points.filter((_, number) => number % 2 === 0);
      if (message.bins) onStrip(message.bins);
      figures(message);
      draw();
      wake();
    },
    judged(message) { phase = "judged"; judged(message); enter("judged"); },
    drawn(message) { enter("drawn"); drawn(message); },
    refused(message) { why = message.why; enter("refused"); own(); },
  };
  const STORES = { redis: "Redis", redis_nodes: "Redis", mysql: "MariaDB", postgresql: "PostgreSQL", zookeeper: "ZooKeeper", etcd: "etcd" };
  function starts() { // what is being started
    const lines = [replicas(about.replicas), say("proxy"), say("counter_store")];
    if (about.store) lines.push(say("lock_store", { n: about.servers, store: STORES[about.store] ?? about.store }));
    lines.push(say("load", { requests: thin(about.requests) }));
    $("starts").replaceChildren(...lines.map((line) => cell("li", line)));
    shares($("predicted"), chosen().choices, about.predicted);
  }
  let news = null;
  function listen() { // the server sends once more all that there is
    news?.close();
    news = new EventSource("/live/news");
    news.onmessage = (event) => { const message = JSON.parse(event.data); HANDLERS[message.kind](message); };
    news.onerror = () => { $("phase").textContent = say(news.readyState === EventSource.CLOSED ? "open_again" : "silent"); };
  }
  languageSwitch($("language"), byDefault, (now) => {
    language = now; texts = inAll[now];
    document.title = say("title");
    writeTexts(texts);
    for (const one of document.querySelectorAll("[data-said]")) one.textContent = local(one.dataset.said);
    $("qr")?.setAttribute("aria-label", say("qr", { address: $("qr").dataset.address }));
    listen();
  });
  const FRAME_MS = 40; // each frame draws anew; a beamer at its full rate would take a third of a core from the run
  let awake = false;
  const moves = () => Boolean(since) || !still.matches && look && phase === "running";
  function wake() { // a page on which nothing moves asks for no frames: it takes no processor time from the run
    if (!awake && moves()) awake = Boolean(setTimeout(() => requestAnimationFrame(move), FRAME_MS));
  }
  function move() { // between two messages the strip moves on with the clock
    awake = false;
    tick();
    if (!still.matches && look && phase === "running") strip.draw(look.at_s + (performance.now() - receivedAt) / 1000);
    wake();
  }
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("pagehide", () => news.close());
}

// The lab's own page: news by server-sent events; predictions and the lesson by post. All content is set as text, never as markup.
{
  const $ = (id) => document.getElementById(id);
  const { texts: inAll, lessons, language: byDefault, teacher } = JSON.parse($("data").textContent);
  let language = "en", texts = inAll.en;
  const say = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const local = (said) => said[language] ?? said; // of what the server sends in both languages, or else in English
  const main = document.querySelector("main"), chart = new Paper("envelope");
  let points = [], look = null, about = null, phase = "waiting", questioned = 0, why = "", result = null;
  const asked = { stage: "", scenario: "" }; // what the class is asked

  // the views: all of it, what a projector shows, what a phone shows
  const view = { "/vote": "phone", "/projector": "projector" }[location.pathname] ?? "whole";
  document.documentElement.dataset.view = view;
  $("to-locust").href = $("to-start").href = `${location.protocol}//${location.hostname}:${LOCUST_PORT}/`;
  if (view !== "whole") Object.assign($("to-other-view"), { href: "/", target: "" }).dataset.text = "control";
  $("to-other-view").hidden = $("to-locust").hidden = $("to-start").hidden = !teacher; // another visitor only follows

  const cell = (tag, text, name = "") => Object.assign(document.createElement(tag), { textContent: text, className: name });
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  const chosen = () => lesson.runOf(asked) ?? about?.question[language] ?? { text: "", choices: [] }; // in the words of the lesson, if the class is at it
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
  function go(stage, scenario, place = lesson) { // all pages are asked the same
    Object.assign(asked, { stage, scenario });
    lesson.show(place);
    $("refused").textContent = "";
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
    own();
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
    return message ? message[language] ?? message.refused ?? "" : say("silent");
  }
  async function own() { // what this visitor has predicted
    const now = ++questioned;
    const message = await fetch("/live/mine").then((answer) => answer.json()).catch(() => null);
    if (!message || message.refused || now !== questioned) return;
    mine(message.mine);
    voted(message.voted);
  }
  async function predict(choice) {
    const refused = await post("prediction", { ...asked, choice });
    if (refused) $("said").textContent = refused; else own();
  }
  const lesson = new Lesson({ view, teacher, say, post });
  $("start").addEventListener("click", async () => {
    $("start").disabled = true;
    $("phase").textContent = say("starting", asked);
    $("refused").textContent = await post("start", {});
    $("start").disabled = false;
    if ($("refused").textContent) enter(phase);
  });
  $("choices").addEventListener("click", (event) => { const button = event.target.closest("[data-choice]"); if (button) predict(Number(button.dataset.choice)); });
  $("stop").addEventListener("click", () => post("stop", {}));
  $("next").addEventListener("click", () => lesson.go(lesson.towards(1) ?? [0, 0]));

  // the run
  const STATES = { waiting: "ask", starting: "run", running: "run", judged: "say", drawn: "say", refused: "say" };
  function enter(now) {
    phase = now;
    const state = main.dataset.state = STATES[now], named = about && { stage: about.stage, scenario: about.scenario };
    $("ask").hidden = state !== "ask"; $("run").hidden = state === "ask" || now === "refused"; $("outcome").hidden = state !== "say";
    $("starting").hidden = now !== "starting";
    for (const one of document.querySelectorAll("#run > .seen, #run > .under")) one.hidden = now === "starting";
    $("stop").hidden = now !== "running"; $("now-title").hidden = state === "say";
    $("phase").textContent = now === "waiting" ? (!lesson.now ? say("waiting") : lesson.now.runs.length ? say("waiting_phone") : say("waiting_pages")) : now === "refused" ? say("refused", { why })
      : say(now === "running" && about.requests && look?.answered >= about.requests ? "judging" : now, { ...named, requests: thin(about.requests), replicas: replicas(about.replicas) });
    const pending = now === "judged"; // the key that goes on to the pictures says that there are none yet
    $("pending").hidden = !pending;
    $("screen-on").textContent = pending ? say("drawing") : "›";
    $("screen-on").setAttribute("aria-label", say(pending ? "drawing" : "step_after"));
    if (about) $("now-title").textContent = say("titled", { subject: say("subject", named), title: local(about.title) });
    $("rest-says").textContent = $("lost").hidden ? say(teacher ? "rest" : "waiting") : say("seen_so_far");
    if (now === "refused") refusal();
    draw();
  }
  function refusal() {
    $("outcome-title").textContent = say("refused", { why });
    for (const id of ["outcome-asks", "result", "result-says", "why", "against", "promise", "locust-result", "counter-result"]) $(id).textContent = "";
    $("next").hidden = $("to-run").hidden = $("votes").hidden = true;
  }
  function clear(message) {
    about = message.about; points = []; look = null; result = null;
    forget();
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
    const there = { unknown, fault: look?.faults?.length };
    for (const one of document.querySelectorAll("[data-if]")) one.hidden = !there[one.dataset.if];
  }
  const bands = (faults = []) => faults.map((one) => ({ ...one, kind: local(one.kind) }));
  function draw() {
    if (!$("run").checkVisibility() || phase === "starting") return;
    if (about.live === "gap") envelope(chart, points, bands(look?.faults));
    else liveness(chart, points, bands(look?.faults), about.requests);
  }
  function forget() {
    drawing = null; $("loss").querySelector("figure").replaceChildren();
    screens.show({ screen: "verdict", step: 0 });
  }
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
    const one = result, { answer } = one, { predicted } = about, { text, choices: all } = chosen();
    const duplicated = one.duplicated ? say("duplicated", { n: thin(one.duplicated) }) : "", voted = sum(predicted);
    $("outcome-asks").textContent = text;
    $("outcome-title").textContent = answer.choice === null ? say("void") : all[answer.choice];
    $("result").textContent = figure(answer.number); $("result").className = `big ${answer.tone}`;
    $("result-says").textContent = answer.number || view === "phone" ? `${answer.words[language]}${duplicated}` : ""; // without a number, the reasons below say it
    $("why").textContent = local(one.why);
    $("against").textContent = answer.choice === null ? "" : voted ? say("against", { right: predicted[answer.choice], all: voted }) : lesson.now ? say("nobody") : "";
    shares($("votes"), all, predicted, answer.choice);
    $("promise").replaceChildren(`${say("titled", { subject: say("subject", one), title: say(`promise_${one.verdict}`) })} `, cell("span", local(one.headline), `verdict ${one.verdict}${one.lost_otherwise ? " otherwise" : ""}`));
    verdict(one);
    $("locust-result").textContent = $("locust-says").textContent; $("counter-result").textContent = $("counter-says").textContent;
    $("next").hidden = false;
    $("next").textContent = say(lesson.towards(1) ? "step_on" : "seen_so_far");
    tally(message.tally);
    own();
  }
  function tally(message) {
    const all = message.right + message.wrong;
    $("tally").hidden = !all;
    $("tally").textContent = say("group", { right: message.right, all });
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
    if (screen === "curve" && changed) draw();
  }
  const screens = new Screens({
    view, teacher, post, shown, ready: () => ({ steps: drawing?.steps?.said.length ?? 0, picture: Boolean(drawing), curve: points.length > 1 }),
  });
  async function drawn(message) {
    const home = `/runs/${encodeURIComponent(message.drawn.run)}`;
    const { caption, steps } = drawing = message.drawn.said[language];
    $("loss-title").textContent = steps ? say(steps.cause ? "steps_why" : "steps_of", steps) : caption;
    $("loss").dataset.steps = steps?.said.length ?? 0;
    $("loss").querySelector(".said").replaceChildren(...(steps?.said ?? []).map(({ sentence }) => cell("li", sentence)));
    $("to-run").hidden = $("to-runs").hidden = $("to-matrix").hidden = false;
    $("to-run").href = `${home}/report${language === "zh" ? ".zh" : ""}.html`;
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
      lost(message.lost, message.speeds);
      if (message.look) { look = message.look; figures(look); }
      if (message.result) judged(message);
      if (phase === "starting") starts();
      enter(phase);
      if (message.drawn) drawn(message);
      if (message.screen) screens.show(message.screen);
    },
    screen: (message) => screens.show(message.screen),
    lost: (message) => lost(true, message.speeds),
    asked(message) { forget(); go(message.stage, message.scenario, message); enter("waiting"); },
    votes(message) { if (message.stage === asked.stage && message.scenario === asked.scenario) voted(message.voted); },
    starting(message) { phase = "starting"; clear(message); starts(); enter("starting"); },
    begin(message) { if (phase !== "starting") { phase = "running"; clear(message); } enter("running"); },
    look(message) {
      ({ look } = message);
      points.push([look.at_s, look.acknowledged, look.unknown, look.counter, look.failed]);
      if (points.length > 1200) points = points.filter((_, number) => number % 2 === 0);
      figures(look);
      if (about.requests && look.answered >= about.requests) enter("running");
      draw();
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
  let speeds = {};
  function lost(is, of = speeds) { // the picture of the lost increments of all runs, and their speeds; it grows with each run
    speeds = of;
    $("lost").hidden = $("keep").hidden = !is;
    const shown = Object.entries(speeds).map(([stage, number]) => `${stage} ${thin(number)}`).join(" · ");
    $("speeds").textContent = shown && say("speeds", { shown });
    if (is) $("lost").src = `/live/lost.svg?${Date.now()}`;
  }
  $("save-png").addEventListener("click", () => savePng($("lost"), "lost"));
  let news = null;
  function listen() { // the server sends once more all that there is
    news?.close();
    news = new EventSource("/live/news");
    news.onmessage = (event) => { const message = JSON.parse(event.data); HANDLERS[message.kind](message); };
    news.onerror = () => { $("phase").textContent = say(news.readyState === EventSource.CLOSED ? "open_again" : "silent"); };
  }
  languageSwitch($("language"), view === "phone" ? "" : byDefault, (now) => {
    language = now; texts = inAll[now]; lesson.steps = lessons[now];
    document.title = say("title");
    writeTexts(texts);
    $("lost").alt = say("lost_picture");
    $("qr")?.setAttribute("aria-label", say("qr", { address: $("qr").dataset.address }));
    listen();
  });
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("pagehide", () => news.close());
}

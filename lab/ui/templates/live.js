// The live page: news by server-sent events, predictions by post. All content is set as text, never as markup.
{
  const $ = (id) => document.getElementById(id);
  const question = $("question"), { ideas, questions } = JSON.parse($("data").textContent);
  const papers = { envelope: new Paper("envelope"), speed: new Paper("speed") };
  const strip = new Strip(new Paper("strip"));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let points = [], look = null, about = null, phase = "waiting", everything = false, receivedAt = 0, asked = 0, why = "";
  let voter = false; // whether the visitor has predicted: the own answer stays until the visitor goes on
  let touched = false; // whether the visitor chose a question on this page since the last run began: then others' predictions do not move it
  $("to-locust").href = `${location.protocol}//${location.hostname}:${LOCUST_PORT}/`;

  const remembered = (key, make) => {
    try { const kept = localStorage.getItem(key) ?? make(); localStorage.setItem(key, kept); return kept; } catch { return make(); }
  };
  const reader = remembered("lab-reader", () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (one) => one.toString(16).padStart(2, "0")).join(""));
  const field = (name) => question.elements.namedItem(name); // question.name would be the form's own
  field("name").value = remembered("lab-name", () => "");
  field("name").addEventListener("change", () => { try { localStorage.setItem("lab-name", field("name").value); } catch { /* the name is not kept */ } });

  // the ladder, and the predictions
  const cell = (tag, text, name = "") => Object.assign(document.createElement(tag), { textContent: text, className: name });
  function ladder(message) {
    $("under").textContent = field("scenario").value;
    $("rungs").replaceChildren(...message.rungs.map((one) => {
      const row = document.createElement("tr"), head = cell("th", "");
      head.scope = "row";
      head.append(cell("code", one.stage));
      if (one.core) head.append(cell("span", " core", "soft"));
      head.title = one.idea;
      if (one.stage === field("stage").value) row.setAttribute("aria-current", "true");
      const seen = one.cell === null ? cell("td", "? predict it first", "soft") : cell("td", one.cell.said, one.cell.verdict ? `area ${one.cell.verdict}` : "soft");
      row.append(head, seen);
      return row;
    }));
    mine(message.mine);
    votes(message.votes);
    $("idea").textContent = ideas[field("stage").value];
  }
  const chosen = () => questions[field("scenario").value];
  const isRun = () => about && about.stage === field("stage").value && about.scenario === field("scenario").value;
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  function choices() { // the question of the scenario's claim
    const { text, choices: all } = chosen();
    $("asks").textContent = text;
    $("choices").replaceChildren(...all.map((words, place) => {
      const button = cell("button", words);
      button.type = "button"; button.dataset.choice = place; button.setAttribute("aria-pressed", "false");
      return button;
    }));
  }
  function mine(message) { // the visitor's own prediction: it stays, and the run answers it
    voter ||= message.next !== null || message.last !== null;
    const { next, last } = message, { choices: all } = chosen(), running = isRun() && phase === "running";
    const said = next ?? (running ? last?.choice : null);
    for (const button of $("choices").children) button.setAttribute("aria-pressed", String(Number(button.dataset.choice) === said));
    const answered = last && last.right !== null ? ` ${last.right ? "You were right." : "You were wrong."}` : "";
    const before = last ? `You said: ${all[last.choice]}.${answered || " The run is under way."}` : "";
    const ahead = next === null ? "" : `You said: ${all[next]}. It counts for the next run.`;
    const score = message.right + message.wrong ? ` Yours so far: ${message.right} of ${message.right + message.wrong} right.` : "";
    $("mine").textContent = ahead || (before && before + score);
    $("mine").hidden = !$("mine").textContent;
  }
  const listed = (numbers, all) => numbers.map((number, place) => number ? `${number} × “${all[place]}”` : "").filter(Boolean).join(", ");
  function votes(numbers) { // of all visitors
    const { choices: all } = chosen();
    $("said").textContent = sum(numbers) ? `Predictions for the next run: ${listed(numbers, all)}.`
      : isRun() && sum(about.predicted) ? `Predictions for this run: ${listed(about.predicted, all)}.`
      : "No predictions for the next run yet.";
  }
  const get = async (address, how) => {
    const answer = await fetch(address, how), message = await answer.json();
    if (message.refused) { $("said").textContent = message.refused; return null; }
    return message;
  };
  async function ask() {
    const mine = ++asked;
    const words = new URLSearchParams({ scenario: field("scenario").value, stage: field("stage").value, reader });
    if (everything) words.set("all", "1");
    const message = await get(`/live/ladder?${words}`);
    if (message && mine === asked) ladder(message);
  }
  async function predict(choice) {
    touched = true;
    const said = { reader, name: field("name").value, stage: field("stage").value, scenario: field("scenario").value, choice };
    if (await get("/live/prediction", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(said) })) await ask();
  }
  function go(stage, scenario) {
    field("stage").value = stage; field("scenario").value = scenario;
    $("elsewhere").hidden = true;
    choices(); ask();
  }
  question.addEventListener("submit", (event) => event.preventDefault());
  question.addEventListener("change", (event) => { if (event.target.name !== "name") { touched = true; go(field("stage").value, field("scenario").value); } });
  question.addEventListener("click", (event) => { const button = event.target.closest("[data-choice]"); if (button) predict(Number(button.dataset.choice)); });
  $("reveal").addEventListener("click", () => { everything = !everything; $("reveal").setAttribute("aria-pressed", String(everything)); ask(); });

  // the run
  const PHASES = {
    waiting: () => "No run yet. Choose a stage and a scenario, predict, then start the run in Locust's page.",
    running: () => `${about.stage} under ${about.scenario}: running, ${thin(about.requests)} requests over ${about.replicas} replica${about.replicas === 1 ? "" : "s"}.`,
    judged: () => `${about.stage} under ${about.scenario}: ended; its page is being drawn …`,
    drawn: () => `${about.stage} under ${about.scenario}: ended.`,
    refused: () => `Not run: ${why}`,
  };
  function enter(now) {
    phase = now;
    $("phase").textContent = PHASES[now]();
    if (about) $("now-title").textContent = `${about.stage} under ${about.scenario}: ${about.title}`;
  }
  function begin(message) {
    about = message.about; points = []; look = null; touched = false;
    strip.clear(Array.from({ length: about.replicas }, (_, number) => `replica-${number + 1}`));
    $("outcome").hidden = $("timeline").hidden = $("to-run").hidden = true;
    $("caption").textContent = "";
    enter("running"); go(about.stage, about.scenario);
  }
  function big(number, words, tone = "plain") {
    $("gap").textContent = number; $("gap").className = `big ${tone}`;
    $("gap-says").textContent = words;
  }
  function figures(message) { // while the run goes on: nothing is kept before the verdict, so nothing is green
    const gap = Math.max(0, message.acknowledged - message.counter);
    const idle = message.idle_s >= 1 && message.acknowledged ? `; no request has been inside for ${message.idle_s.toFixed(1)}\u2009s` : "";
    if (about.live === "gap") big(thin(gap), "acknowledged, but not in the counter", gap > 0 ? "bad" : "plain");
    else big(thin(message.failed), `of ${thin(about.requests)} requests refused so far${idle}`);
    for (const name of ["acknowledged", "counter", "unknown", "failed", "kept_per_s"]) $(name).textContent = thin(message[name]);
  }
  function glance(message) {
    look = message; receivedAt = performance.now();
    points.push([message.at_s, message.acknowledged, message.unknown, message.counter]);
    if (points.length > 1200) points = points.filter((_, number) => number % 2 === 0);
    if (message.bins) onStrip(message.bins);
    figures(message);
  }
  function onStrip(bins) {
    strip.add(bins);
    $("with-lock").hidden = bins.locked === false; $("without-lock").hidden = bins.locked !== false;
  }
  function draw() {
    envelope(papers.envelope, points, look?.faults || []);
    speed(papers.speed, points, look?.faults || []);
  }
  function result(message) {
    const one = message.result, { answer } = one, { predicted } = about, { choices: all } = questions[one.scenario];
    const number = /^\d+$/.test(answer.number) ? thin(Number(answer.number)) : answer.number;
    const title = $("outcome-title");
    title.replaceChildren(cell("span", one.headline, `verdict ${one.verdict}${one.lost_otherwise ? " otherwise" : ""}`), ` ${one.stage} under ${one.scenario}: ${number} ${answer.words}` + (one.duplicated ? `, ${thin(one.duplicated)} duplicated` : ""));
    $("why").textContent = one.why;
    $("against").textContent = answer.choice === null ? "This run proves nothing, so no prediction counts."
      : sum(predicted) ? `Predictions: ${listed(predicted, all)}. The answer is “${all[answer.choice]}”: ${predicted[answer.choice]} of ${sum(predicted)} right.`
      : "There were no predictions.";
    big(number, answer.words, answer.tone);
    // two writes can have the same time stamp; the judged figures decide
    const { acknowledged, unknown, failed, final: counter, kept_per_s } = one;
    for (const [name, value] of Object.entries({ acknowledged, unknown, failed, counter, kept_per_s })) $(name).textContent = thin(value);
    $("outcome").hidden = false;
    tally(message.tally);
    ask();
  }
  function tally(message) {
    const all = message.right + message.wrong;
    $("tally").hidden = !all; $("names").hidden = !message.names.length;
    $("tally").textContent = `The group so far: ${message.right} of ${all} predictions right.`;
    $("names").replaceChildren(...message.names.map((one) => cell("li", `${one.name}: ${one.right} of ${one.right + one.wrong}`)));
  }
  async function drawn(message) {
    const run = encodeURIComponent(message.drawn.run), home = `/runs/${run}`;
    $("caption").textContent = message.drawn.caption;
    $("to-run").hidden = false;
    $("to-run").firstElementChild.href = `${home}/report.html`;
    const answer = await fetch(`${home}/timeline.svg`);
    if (!answer.ok || phase !== "drawn") return;
    const picture = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement; // the lab's own drawing; a script in it would not run
    picture.setAttribute("aria-hidden", "true");
    $("timeline").querySelector("figure").replaceChildren(document.importNode(picture, true));
    $("timeline").hidden = false;
  }
  const HANDLERS = {
    hello(message) {
      const left = touched && { stage: field("stage").value, scenario: field("scenario").value }; // the line was cut: the visitor's choice stays
      about = message.about || null; why = message.why || ""; tally(message.tally);
      if (about) begin(message); else choices();
      points = message.points;
      if (message.strip) onStrip(message.strip);
      if (message.look) { look = message.look; receivedAt = performance.now(); figures(look); }
      if (message.result) result(message);
      enter(message.phase);
      if (message.drawn) drawn(message);
      if (left) { go(left.stage, left.scenario); touched = true; } else if (message.votes) HANDLERS.votes(message.votes); else ask();
      again();
    },
    votes(message) { // other visitors predict: a page that only shows, as on a projector, goes with them
      if (message.stage === field("stage").value && message.scenario === field("scenario").value) { votes(message.votes); return; }
      if (!touched && !voter) { go(message.stage, message.scenario); return; }
      const button = $("elsewhere").firstElementChild, number = sum(message.votes);
      button.textContent = `${number} prediction${number === 1 ? "" : "s"} for ${message.stage} under ${message.scenario}: go there`;
      button.onclick = () => go(message.stage, message.scenario);
      $("elsewhere").hidden = false;
    },
    begin,
    look(message) { glance(message); draw(); if (still.matches) strip.draw(message.at_s); },
    judged(message) { enter("judged"); result(message); draw(); },
    drawn(message) { enter("drawn"); drawn(message); },
    refused(message) { why = message.why; enter("refused"); ask(); },
  };
  const news = new EventSource("/live/news");
  news.onmessage = (event) => { const message = JSON.parse(event.data); HANDLERS[message.kind](message); };
  news.onerror = () => { $("phase").textContent = "The lab does not answer. Waiting for it …"; };
  function move() { // between two messages the strip moves on with the clock
    if (!still.matches && look && phase === "running") strip.draw(look.at_s + (performance.now() - receivedAt) / 1000);
    requestAnimationFrame(move);
  }
  requestAnimationFrame(move);
  const again = () => { draw(); strip.draw(look ? look.at_s : STRIP_S); };
  addEventListener("resize", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("pagehide", () => news.close());
}

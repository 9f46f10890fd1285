// The live page: news by server-sent events, predictions by post. All content is set as text, never as markup.
{
  const $ = (id) => document.getElementById(id);
  const question = $("question"), ideas = JSON.parse($("ideas").textContent);
  const papers = { envelope: new Paper("envelope"), speed: new Paper("speed") };
  const strip = new Strip(new Paper("strip"));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let points = [], look = null, about = null, phase = "waiting", everything = false, receivedAt = 0, asked = 0, why = "";
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
    for (const button of question.querySelectorAll("[data-loses]")) button.setAttribute("aria-pressed", String(String(message.mine) === button.dataset.loses));
    $("idea").textContent = ideas[field("stage").value];
    const { some, none } = message.asked;
    $("said").textContent = some + none ? `Predictions for the next run: ${some} for some lost, ${none} for none.` : "No predictions for the next run yet.";
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
  async function predict(loses) {
    const said = { reader, name: field("name").value, stage: field("stage").value, scenario: field("scenario").value, loses };
    if (await get("/live/prediction", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(said) })) await ask();
  }
  question.addEventListener("submit", (event) => event.preventDefault());
  question.addEventListener("change", (event) => { if (event.target.name !== "name") ask(); });
  question.addEventListener("click", (event) => { const button = event.target.closest("[data-loses]"); if (button) predict(button.dataset.loses === "true"); });
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
    about = message.about; points = []; look = null;
    strip.clear(Array.from({ length: about.replicas }, (_, number) => `replica-${number + 1}`));
    $("outcome").hidden = $("timeline").hidden = $("to-run").hidden = true;
    $("caption").textContent = "";
    field("stage").value = about.stage; field("scenario").value = about.scenario;
    enter("running"); ask();
  }
  function figures(message) {
    const gap = message.acknowledged - message.counter;
    $("gap").textContent = thin(Math.max(0, gap));
    $("gap").className = gap > 0 ? "big bad" : "big good";
    for (const name of ["acknowledged", "counter", "unknown", "failed", "per_s"]) $(name).textContent = thin(message[name]);
  }
  function glance(message) {
    look = message; receivedAt = performance.now();
    points.push([message.at_s, message.acknowledged, message.unknown, message.counter]);
    if (points.length > 1200) points = points.filter((_, number) => number % 2 === 0);
    if (message.bins) strip.add(message.bins);
    figures(message);
  }
  function draw() {
    envelope(papers.envelope, points, look?.faults || []);
    speed(papers.speed, points, look?.faults || []);
  }
  function result(message) {
    const one = message.result, some = one.lost > 0, { predicted } = about;
    const title = $("outcome-title");
    title.replaceChildren(cell("span", one.verdict, `verdict ${one.verdict}`), ` ${one.stage} under ${one.scenario}: ${some ? `${thin(one.lost)} lost` : "none lost"}` + (one.duplicated ? `, ${thin(one.duplicated)} duplicated` : ""));
    $("why").textContent = one.why;
    const said = predicted.some + predicted.none, right = some ? predicted.some : predicted.none;
    $("against").textContent = one.verdict === "VOID" ? "This run proves nothing, so no prediction counts."
      : said ? `Predictions: ${predicted.some} for some lost, ${predicted.none} for none. The run ${some ? "lost some" : "lost none"}: ${right} of ${said} right.`
      : "There were no predictions.";
    // two writes can have the same time stamp; the judged figures decide
    const { acknowledged, unknown, failed, final: counter, lost: gap } = one;
    for (const [name, value] of Object.entries({ acknowledged, unknown, failed, counter, gap })) $(name).textContent = thin(value);
    $("gap").className = some ? "big bad" : "big good";
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
      about = message.about || null; why = message.why || ""; tally(message.tally);
      if (about) begin(message);
      points = message.points || [];
      if (message.look) { look = message.look; figures(look); }
      if (message.result) result(message);
      enter(message.phase);
      if (message.drawn) drawn(message);
      draw(); ask();
    },
    begin,
    look(message) { glance(message); draw(); if (still.matches) strip.draw(message.at_s); },
    judged(message) { enter("judged"); result(message); draw(); },
    drawn(message) { enter("drawn"); drawn(message); },
    refused(message) { why = message.why; enter("refused"); },
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

// The live page: news by server-sent events, predictions by post. What is written is text, never markup.
{
  const $ = (id) => document.getElementById(id);
  const question = $("question"), ideas = JSON.parse($("ideas").textContent);
  const papers = { envelope: new Paper("envelope"), speed: new Paper("speed") };
  const strip = new Strip(new Paper("strip"));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let points = [], look = null, about = null, phase = "waiting", everything = false, heardAt = 0, asked = 0, why = "";
  $("to-locust").href = `${location.protocol}//${location.hostname}:${LOCUST_PORT}/`;

  const remembered = (key, make) => {
    try { const kept = localStorage.getItem(key) ?? make(); localStorage.setItem(key, kept); return kept; } catch { return make(); }
  };
  const reader = remembered("lab-reader", () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (one) => one.toString(16).padStart(2, "0")).join(""));
  const field = (name) => question.elements.namedItem(name); // question.name would be the form's own
  field("name").value = remembered("lab-name", () => "");
  field("name").addEventListener("change", () => { try { localStorage.setItem("lab-name", field("name").value); } catch { /* then not */ } });

  // the ladder, and what was said of it
  const cell = (tag, text, name = "") => Object.assign(document.createElement(tag), { textContent: text, className: name });
  function ladder(told) {
    $("under").textContent = field("scenario").value;
    $("rungs").replaceChildren(...told.rungs.map((one) => {
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
    for (const button of question.querySelectorAll("[data-loses]")) button.setAttribute("aria-pressed", String(String(told.mine) === button.dataset.loses));
    $("idea").textContent = ideas[field("stage").value];
    const { some, none } = told.asked;
    $("said").textContent = some + none ? `Of the next run of it, ${some} say it will lose some, ${none} say none.` : "Nobody has predicted its next run yet.";
  }
  const get = async (address, how) => {
    const answer = await fetch(address, how), told = await answer.json();
    if (told.refused) { $("said").textContent = told.refused; return null; }
    return told;
  };
  async function ask() {
    const mine = ++asked;
    const words = new URLSearchParams({ scenario: field("scenario").value, stage: field("stage").value, reader });
    if (everything) words.set("all", "1");
    const told = await get(`/live/ladder?${words}`);
    if (told && mine === asked) ladder(told);
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
    waiting: () => "No run yet: choose, predict, and start one in Locust's page.",
    running: () => `${about.stage} under ${about.scenario}: running, ${thin(about.requests)} requests over ${about.replicas} replica${about.replicas === 1 ? "" : "s"}.`,
    judged: () => `${about.stage} under ${about.scenario}: over; its page is being drawn …`,
    drawn: () => `${about.stage} under ${about.scenario}: over.`,
    refused: () => `Not run: ${why}`,
  };
  function enter(now) {
    phase = now;
    $("phase").textContent = PHASES[now]();
    if (about) $("now-title").textContent = `${about.stage} under ${about.scenario}: ${about.title}`;
  }
  function begin(told) {
    about = told.about; points = []; look = null;
    strip.clear(Array.from({ length: about.replicas }, (_, number) => `replica-${number + 1}`));
    $("outcome").hidden = $("timeline").hidden = $("to-run").hidden = true;
    $("caption").textContent = "";
    field("stage").value = about.stage; field("scenario").value = about.scenario;
    enter("running"); ask();
  }
  function figures(told) {
    const gap = told.acknowledged - told.counter;
    $("gap").textContent = thin(Math.max(0, gap));
    $("gap").className = gap > 0 ? "big bad" : "big good";
    for (const name of ["acknowledged", "counter", "unknown", "failed", "per_s"]) $(name).textContent = thin(told[name]);
  }
  function glance(told) {
    look = told; heardAt = performance.now();
    points.push([told.at_s, told.acknowledged, told.unknown, told.counter]);
    if (points.length > 1200) points = points.filter((_, number) => number % 2 === 0);
    if (told.bins) strip.add(told.bins);
    figures(told);
  }
  function draw() {
    envelope(papers.envelope, points, look?.faults || []);
    speed(papers.speed, points, look?.faults || []);
  }
  function result(told) {
    const one = told.result, some = one.lost > 0, { predicted } = about;
    const title = $("outcome-title");
    title.replaceChildren(cell("span", one.verdict, `verdict ${one.verdict}`), ` ${one.stage} under ${one.scenario}: ${some ? `${thin(one.lost)} lost` : "none lost"}` + (one.duplicated ? `, ${thin(one.duplicated)} duplicated` : ""));
    $("why").textContent = one.why;
    const said = predicted.some + predicted.none, right = some ? predicted.some : predicted.none;
    $("against").textContent = one.verdict === "VOID" ? "It proves nothing, so nobody's prediction counts."
      : said ? `Predicted: ${predicted.some} said it would lose some, ${predicted.none} said none. It ${some ? "lost some" : "lost none"}: ${right} of ${said} right.`
      : "Nobody had predicted it.";
    // of two writes at the same moment, the stamps do not say which came last: what was judged stands
    const { acknowledged, unknown, failed, final: counter, lost: gap } = one;
    for (const [name, value] of Object.entries({ acknowledged, unknown, failed, counter, gap })) $(name).textContent = thin(value);
    $("gap").className = some ? "big bad" : "big good";
    $("outcome").hidden = false;
    tally(told.tally);
    ask();
  }
  function tally(told) {
    const all = told.right + told.wrong;
    $("tally").hidden = !all; $("names").hidden = !told.names.length;
    $("tally").textContent = `The class so far: ${told.right} of ${all} predictions right.`;
    $("names").replaceChildren(...told.names.map((one) => cell("li", `${one.name}: ${one.right} of ${one.right + one.wrong}`)));
  }
  async function drawn(told) {
    const run = encodeURIComponent(told.drawn.run), home = `/runs/${run}`;
    $("caption").textContent = told.drawn.caption;
    $("to-run").hidden = false;
    $("to-run").firstElementChild.href = `${home}/report.html`;
    const answer = await fetch(`${home}/timeline.svg`);
    if (!answer.ok || phase !== "drawn") return;
    const picture = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement; // the lab's own drawing; scripts in it would not run
    picture.setAttribute("aria-hidden", "true");
    $("timeline").querySelector("figure").replaceChildren(document.importNode(picture, true));
    $("timeline").hidden = false;
  }
  const HEAR = {
    hello(told) {
      about = told.about || null; why = told.why || ""; tally(told.tally);
      if (about) begin(told);
      points = told.points || [];
      if (told.look) { look = told.look; figures(look); }
      if (told.result) result(told);
      enter(told.phase);
      if (told.drawn) drawn(told);
      draw(); ask();
    },
    begin,
    look(told) { glance(told); draw(); if (still.matches) strip.draw(told.at_s); },
    judged(told) { enter("judged"); result(told); draw(); },
    drawn(told) { enter("drawn"); drawn(told); },
    refused(told) { why = told.why; enter("refused"); },
  };
  const news = new EventSource("/live/news");
  news.onmessage = (event) => { const told = JSON.parse(event.data); HEAR[told.kind](told); };
  news.onerror = () => { $("phase").textContent = "The lab does not answer; waiting for it …"; };
  function move() { // between two looks the strip moves on as time does
    if (!still.matches && look && phase === "running") strip.draw(look.at_s + (performance.now() - heardAt) / 1000);
    requestAnimationFrame(move);
  }
  requestAnimationFrame(move);
  const again = () => { draw(); strip.draw(look ? look.at_s : STRIP_S); };
  addEventListener("resize", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("pagehide", () => news.close());
}

// Add to Locust's page a link to the live page, the verdict of the last run, links to reports in the tab's cells, and what its form lacks.
{
  const port = "PORT";
  const home = `${location.protocol}//${location.hostname}:${port}`;
  const link = (text, address) => Object.assign(document.createElement("a"), { textContent: text, href: address, target: "_blank", rel: "noopener" });
  const live = link("Watch it live", `${home}/live`);
  live.id = "lab-live";
  live.style.cssText = "color:inherit;font-weight:600";
  const note = document.createElement("span");
  note.textContent = "RPS and Failures are Locust's own figures, of answers. What was kept of them is in the tab Lost increments.";
  const refused = document.createElement("strong"), verdict = document.createElement("strong");
  refused.setAttribute("role", "alert"); verdict.setAttribute("role", "status"); verdict.id = "lab-verdict";
  const report = (run) => `${home}/runs/${encodeURIComponent(run)}/report.html`;
  const region = document.createElement("nav");
  region.setAttribute("aria-label", "The lab");
  region.style.cssText = "position:sticky;bottom:0;z-index:1400;display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;padding:.45rem 1.5rem;background:#00507d;color:#fff;font:1rem/1.4 system-ui,sans-serif";
  region.append(live, verdict, note, refused);
  // Start stays in sight, above the bar, below stage and scenario; the lab sets the host
  const style = document.createElement("style");
  style.textContent = `form button[type=submit] { position: sticky; bottom: 5rem; z-index: 2; } .MuiModal-root form button[type=submit] { bottom: .5rem; }
    .MuiFormControl-root:has(> * > input[name=host]) { display: none; }`;
  document.head.append(style);
  document.body.append(region);

  const send = window.fetch;
  window.fetch = async (...words) => {
    const answer = await send(...words), address = words[0]?.url ?? String(words[0]);
    const path = new URL(address, location.href).pathname;
    if (path.endsWith("/swarm")) swarmed(new URLSearchParams(String(words[1]?.body ?? "")), answer.clone());
    if (path.endsWith("/stats/requests")) answer.clone().json().then(({ state, judging, extended_stats: tables }) => ended(judging ? "judging" : state, tables?.[0]?.data)).catch(() => {});
    return answer;
  };
  const kept = {}; // the stage and the scenario of the last run, which the form of the next one begins with
  async function swarmed(form, answer) { // the reason of a refusal stands far below, or nowhere: here it is in sight
    const { success, message } = await answer.json().catch(() => ({ success: true }));
    await new Promise((done) => setTimeout(done, 200)); // until a form that was accepted has closed
    const what = document.querySelector('input[name="userCount"]') ? "started" : "changed";
    refused.textContent = success ? "" : `Not ${what}: ${message}`;
    if (!success) return;
    for (const name of ["stage", "scenario"]) if (form.has(name)) kept[name] = form.get(name);
    verdict.replaceChildren();
  }
  let shown = null;
  const picture = Object.assign(document.createElement("img"), { alt: "How many increments each run lost; the table below has the numbers", hidden: true });
  picture.id = "lab-lost";
  picture.style.cssText = "display:block;width:100%;max-width:75rem;margin:0 auto 1.5rem;background:#fff";
  function ended(state, runs = []) { // the tab has the figures; the bar says what they mean. runs: the last one first
    const run = runs[0], now = state === "judging" ? state : run && state !== "running" && state !== "spawning" ? `${runs.length} ${run.said}` : "";
    if (now === shown) return;
    shown = now;
    verdict.replaceChildren();
    if (state === "judging") verdict.append("All answers are here. The lab is judging the run, and draws its page \u2026");
    if (!now || state === "judging") return;
    if (run.run) Object.assign(picture, { hidden: false, src: `${home}/live/lost.svg?${runs.length}` });
    verdict.append(`${run.stage} under ${run.scenario}: ${run.said}`);
    if (!run.run) return; // there was no run
    const to = link("report", report(run.run));
    to.style.color = "inherit";
    verdict.append(" · ", to);
  }
  send("/lab").then((answer) => answer.json()).then(({ verdicts }) => ended("", verdicts.reverse())).catch(() => {}); // of a run before this page was opened
  const run = /^\d{8}T\d{6}\.\d{3}Z-[\w-]+$/;
  const opened = new WeakSet(); // the form's own section with stage and scenario is opened once; the visitor may close it
  const open = () => {
    for (const summary of document.querySelectorAll('[aria-expanded="false"]')) {
      if (summary.textContent.trim() !== "Custom parameters" || opened.has(summary)) continue;
      opened.add(summary);
      summary.click();
    }
  };
  // each form opens with the scenario's own number of users: Locust would offer those of the run before
  const fields = "FIELDS", options = "OPTIONS";
  const type = (input, value) => { // as a visitor does: the page takes no value that it does not hear of
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const choose = (list) => { // the page has filled it with what the lab was started with
    if (opened.has(list)) return;
    opened.add(list);
    if (list.name in kept) {
      Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(list, kept[list.name]);
      list.dispatchEvent(new Event("change", { bubbles: true }));
    }
    if (list.name === "scenario") list.addEventListener("change", () => { // a number that was typed was for the scenario before
      for (const input of list.form.querySelectorAll("input")) if (options.includes(input.name)) type(input, "0");
    });
  };
  const begin = () => {
    for (const list of document.querySelectorAll("select[name=stage], select[name=scenario]")) choose(list);
    for (const [name, value] of Object.entries(fields)) {
      for (const input of document.querySelectorAll(`input[name="${name}"]`)) {
        if (opened.has(input)) continue;
        opened.add(input);
        setTimeout(() => type(input, value)); // after the page has filled it
        if (name !== "userCount") continue;
        refused.textContent = "";
        const hint = document.createElement("small");
        hint.textContent = "0: as many users as the scenario has";
        hint.style.cssText = "margin-top:-1.6rem;padding-left:.9rem";
        (input.closest(".MuiFormControl-root") ?? input).after(hint);
      }
    }
  };
  const mark = () => {
    open(); begin();
    const table = [...document.querySelectorAll("th")].find((one) => one.textContent.trim() === "duplicated")?.closest("table").parentElement;
    if (table && table.previousSibling !== picture) table.before(picture);
    for (const cell of document.querySelectorAll("td")) {
      const name = cell.firstChild?.nodeType === Node.TEXT_NODE ? cell.firstChild.nodeValue : ""; // keep this text: Locust rewrites it
      let added = cell.querySelector("a.lab-report");
      if (!run.test(name)) { added?.remove(); continue; }
      const address = report(name);
      if (!added) {
        added = link("open the report", address);
        added.className = "lab-report";
        added.style.cssText = "margin-left:.6rem;color:inherit;white-space:nowrap";
        cell.append(added);
      }
      if (added.href !== address) added.href = address;
    }
  };
  new MutationObserver(mark).observe(document.body, { // the form of the next run stands outside of the page's root
    childList: true, subtree: true, characterData: true });
}

// Add to Locust's page a link to the live page, links to the runs' reports in the tab's cells, and what its form lacks.
{
  const port = "PORT";
  const home = `${location.protocol}//${location.hostname}:${port}`;
  const link = (text, address) => Object.assign(document.createElement("a"), { textContent: text, href: address, target: "_blank", rel: "noopener" });
  const live = link("Watch it live, and predict", `${home}/live`);
  live.id = "lab-live";
  live.style.cssText = "color:inherit;font-weight:600";
  const note = document.createElement("span");
  note.textContent = "RPS and Failures are Locust's own figures, of answers. What was kept of them is in the tab Lost increments.";
  const refused = document.createElement("strong");
  refused.setAttribute("role", "alert");
  const region = document.createElement("nav");
  region.setAttribute("aria-label", "The lab");
  region.style.cssText = "position:sticky;bottom:0;z-index:1200;display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;padding:.45rem 1.5rem;background:#00507d;color:#fff;font:1rem/1.4 system-ui,sans-serif";
  region.append(live, note, refused);
  document.body.append(region);

  // Locust's page closes the form of a running test without a word when its change is refused
  const send = window.fetch;
  window.fetch = async (...words) => {
    const answer = await send(...words), address = words[0]?.url ?? String(words[0]);
    if (new URL(address, location.href).pathname.endsWith("/swarm")) report(answer.clone());
    return answer;
  };
  const report = async (answer) => {
    const { success, message } = await answer.json().catch(() => ({ success: true }));
    await new Promise((done) => setTimeout(done, 200)); // the form of a new run stays, and shows the reason itself
    refused.textContent = success || document.querySelector('input[name="userCount"]') ? "" : `Not changed: ${message}`;
  };
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
  const fields = "FIELDS";
  const type = (input, value) => { // as a visitor does: the page takes no value that it does not hear of
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const begin = () => {
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
    for (const cell of document.querySelectorAll("td")) {
      const name = cell.firstChild?.nodeType === Node.TEXT_NODE ? cell.firstChild.nodeValue : ""; // keep this text: Locust rewrites it
      let added = cell.querySelector("a.lab-report");
      if (!run.test(name)) { added?.remove(); continue; }
      const address = `${home}/runs/${encodeURIComponent(name)}/report.html`;
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

// Add to Locust's page a link to the live page, and links to the runs' reports in the tab's cells.
{
  const port = "PORT";
  const home = `${location.protocol}//${location.hostname}:${port}`;
  const link = (text, address) => Object.assign(document.createElement("a"), { textContent: text, href: address, target: "_blank", rel: "noopener" });
  const live = link("Watch it live, and predict", `${home}/live`);
  live.id = "lab-live";
  live.style.cssText = "position:fixed;left:1rem;bottom:1rem;z-index:2000;padding:.6rem 1rem;border-radius:.5rem;background:#00507d;color:#fff;font:600 1rem/1.3 system-ui,sans-serif;text-decoration:none;border:2px solid #fff";
  const region = document.createElement("nav");
  region.setAttribute("aria-label", "The lab");
  region.append(live);
  document.body.append(region);
  const run = /^\d{8}T\d{6}\.\d{3}Z-[\w-]+$/;
  const opened = new WeakSet(); // the form's own section with stage and scenario is opened once; the visitor may close it
  const open = () => {
    for (const summary of document.querySelectorAll('[aria-expanded="false"]')) {
      if (summary.textContent.trim() !== "Custom parameters" || opened.has(summary)) continue;
      opened.add(summary);
      summary.click();
    }
  };
  const mark = () => {
    open();
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
  new MutationObserver(mark).observe(document.getElementById("root"), { childList: true, subtree: true, characterData: true });
}

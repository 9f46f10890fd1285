// Locust's page has no place for a link: the way to the live page, and reports of runs made links in the tab's cells.
{
  const port = "PORT";
  const home = `${location.protocol}//${location.hostname}:${port}`;
  const link = (text, address) => Object.assign(document.createElement("a"), { textContent: text, href: address, target: "_blank", rel: "noopener" });
  const way = link("Watch it live, and predict", `${home}/live`);
  way.id = "lab-live";
  way.style.cssText = "position:fixed;left:1rem;bottom:1rem;z-index:2000;padding:.6rem 1rem;border-radius:.5rem;background:#00507d;color:#fff;font:600 1rem/1.3 system-ui,sans-serif;text-decoration:none;border:2px solid #fff";
  const region = document.createElement("nav");
  region.setAttribute("aria-label", "The lab");
  region.append(way);
  document.body.append(region);
  const run = /^\d{8}T\d{6}\.\d{3}Z-[\w-]+$/;
  const opened = new WeakSet(); // which lock and which scenario are what the form is about: they are shown, until somebody closes them
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
      const name = cell.firstChild?.nodeType === Node.TEXT_NODE ? cell.firstChild.nodeValue : ""; // stays: it is Locust's to change
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

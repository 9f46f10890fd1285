// What a page of the website can do beside those of the lab: no way of its own that stands above it as well, an open contents list on a
// wide screen, a button that copies a block, and a way to save each picture.
{% include "save_ways.js" %}

addEventListener("DOMContentLoaded", () => {
  const says = website[document.documentElement.lang.startsWith("zh") ? "zh" : "en"];
  const make = (name, about) => Object.assign(document.createElement(name), about);
  const above = new Set([...document.querySelectorAll(".site a")].map((way) => way.pathname));
  for (const way of document.querySelectorAll("main .ways a")) if (above.has(way.pathname)) way.remove();
  for (const last of document.querySelectorAll(".neighbours a:last-of-type")) if (above.has(last.pathname)) { // the other language
    last.previousSibling?.remove();
    last.remove();
  }
  for (const ways of document.querySelectorAll("main .ways")) ways.hidden = !ways.children.length;
  const list = document.querySelector(".contents details");
  if (list) list.open = matchMedia("(min-width: 76rem)").matches;
  for (const code of document.querySelectorAll("article pre > code")) {
    const button = make("button", { type: "button", textContent: says.copy });
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(code.textContent.trimEnd()); button.textContent = says.copied; } catch { getSelection().selectAllChildren(code); button.textContent = says.selected; }
    });
    const block = make("div", { className: "block" });
    code.parentElement.replaceWith(block);
    code.parentElement.tabIndex = 0; // a wide block scrolls by keyboard as well
    block.append(code.parentElement, button);
  }
  const source = [...document.querySelectorAll("footer.site")].find((foot) => foot.checkVisibility()).textContent;
  for (const picture of document.querySelectorAll("article img[src$='.svg']"))
    saveWays(picture, picture.closest("p"), new URL(picture.src).pathname.split("/").slice(-2).join("-").replace(/\.svg$/, ""), [picture.alt, source], says.save);
  for (const drawn of document.querySelectorAll(".pictures figure > svg")) { // of a page that has its pictures inside
    const title = drawn.querySelector("title")?.textContent ?? document.title;
    saveWays(drawn, drawn, title, [title, source], says.save);
  }
});

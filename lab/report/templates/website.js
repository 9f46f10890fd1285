// What a page of the website can do beside those of the lab: no way of its own that stands above it as well, an open contents list on a
// wide screen, a button that copies a block, and a way to save each picture.
{% include "save_png.js" %}

addEventListener("DOMContentLoaded", () => {
  const says = website[document.documentElement.lang.startsWith("zh") ? "zh" : "en"];
  const make = (name, about) => Object.assign(document.createElement(name), about);
  const above = new Set([...document.querySelectorAll(".site a")].map((way) => way.pathname));
  for (const way of document.querySelectorAll("main .ways a")) if (above.has(way.pathname)) way.remove();
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
  const pictures = [...document.querySelectorAll("article img[src$='.svg']")].map((one) => [one, one.alt, one.closest("p")]);
  for (const drawn of document.querySelectorAll(".pictures figure > svg")) { // of a page that has its pictures inside
    const file = new Blob([new XMLSerializer().serializeToString(drawn)], { type: "image/svg+xml" });
    const picture = make("img", { src: URL.createObjectURL(file) });
    pictures.push([picture, drawn.querySelector("title")?.textContent ?? document.title, drawn]);
  }
  for (const [picture, title, place] of pictures) {
    const name = picture.alt ? new URL(picture.src).pathname.split("/").slice(-2).join("-").replace(/\.svg$/, "") : title;
    const button = make("button", { type: "button", textContent: "PNG" }), ways = make("p", { className: "save soft" });
    button.addEventListener("click", () => savePng(picture, name, [title, source]));
    ways.append(says.save, " ", make("a", { href: picture.src, download: `${name}.svg`, textContent: "SVG" }), " ", button);
    place.after(ways);
  }
});

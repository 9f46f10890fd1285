// Puts two ways to save a picture after a place in the page, as SVG and as PNG. picture: an image, or a drawing inside the page.
// lines: its title and its source, which a saved drawing has below it.
{% include "save_png.js" %}

function saveWays(picture, place, name, lines, words) {
  const make = (kind, about) => Object.assign(document.createElement(kind), about), isImage = picture.localName === "img";
  const svg = make("a", { href: isImage ? picture.src : "#", download: `${name}.svg`, textContent: "SVG" });
  const png = make("button", { type: "button", textContent: "PNG" }), ways = make("p", { className: "save soft" });
  const drawn = () => URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(whole(picture, lines))], { type: "image/svg+xml" }));
  if (!isImage) svg.addEventListener("click", () => { svg.href = drawn(); });
  png.addEventListener("click", async () => {
    const image = isImage ? picture : make("img", { src: drawn() });
    await image.decode();
    savePng(image, name, isImage ? lines : []);
  });
  ways.append(words, " ", svg, " ", png);
  place.after(ways);
}

// A copy of a drawing that needs nothing of its page: with the styles of each element, with the signs that it uses, and with lines below.
function whole(drawing, lines) {
  const copy = drawing.cloneNode(true), { x, y, width, height } = drawing.viewBox.baseVal, page = getComputedStyle(document.body), step = 20;
  const inks = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-opacity", "paint-order", "opacity", "visibility", "display", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "marker-start", "marker-end"];
  const elements = drawing.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, number) => {
    if (element.closest("defs")) return; // a sign takes the colours of the place that uses it
    const style = getComputedStyle(elements[number]);
    for (const ink of inks) element.style.setProperty(ink, style.getPropertyValue(ink));
  });
  for (const signs of document.querySelectorAll("svg.overview defs")) copy.prepend(signs.cloneNode(true));
  copy.style.background = page.backgroundColor;
  copy.removeAttribute("class");
  copy.setAttribute("viewBox", `${x} ${y} ${width} ${height + step * lines.length + step / 2}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height + step * lines.length + step / 2);
  lines.forEach((line, number) => {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    text.setAttribute("style", `fill: ${page.color}; font: 13px sans-serif`);
    text.setAttribute("x", x + 10);
    text.setAttribute("y", y + height + step * (number + 1));
    text.textContent = line;
    copy.append(text);
  });
  return copy;
}

// The texts of a page by their names, with what stands in their places.
const TEXTS = JSON.parse(document.getElementById("texts").textContent);
const isChinese = document.documentElement.lang.startsWith("zh");
const say = (name, places = {}) => TEXTS[name].replace(/\{(\w+)\}/g, (place, name) => places[name] ?? place);
const gap = isChinese ? "" : " "; // between two sentences
const sentences = (several) => several.filter(Boolean).join(gap);

// The texts of the pages in the language that the reader chose: one text, or two, in English and in Chinese.
const TEXTS = JSON.parse(document.getElementById("texts").textContent);
const isChinese = () => document.documentElement.lang.startsWith("zh");
const said = (one) => typeof one === "string" ? one : one[isChinese() ? 1 : 0];
const say = (name, places = {}) => said(TEXTS[name]).replace(/\{(\w+)\}/g, (place, name) => places[name] ?? place);
const gap = () => isChinese() ? "" : " "; // between two sentences
const sentences = (several) => several.filter(Boolean).join(gap());

// A language that the address names, or that was chosen on this page, is that of the pages to which this page leads. What the browser
// remembers is not enough: for files, it may remember each page apart, or reach the next page a moment too late.
let chosen = null, isWritten = false;
function keepLanguage() {
  const lang = chosen ?? new URLSearchParams(location.search).get("lang");
  for (const one of document.querySelectorAll('a[href*=".html"]')) one.search = lang ? `?lang=${lang}` : "";
}
function writeLabels() {
  for (const one of document.querySelectorAll("[data-zh]")) one.setAttribute("aria-label", isChinese() ? one.dataset.zh : one.dataset.en);
  keepLanguage();
}
document.addEventListener("DOMContentLoaded", writeLabels);
addEventListener("pageshow", (shown) => { // the reader comes back, and may have chosen on another page
  if (shown.persisted && languageOf("{{ language }}") !== (isChinese() ? "zh" : "en")) location.reload();
});
document.addEventListener("language", writeLabels);
languageSwitch(document.getElementById("language"), "{{ language }}", (language) => {
  if (isWritten) chosen = language;
  isWritten = true;
  document.title = say("title");
  document.dispatchEvent(new Event("language"));
});

// The texts of the pages in the language that the reader chose. What has no Chinese stays English.
const ZH = JSON.parse(document.getElementById("zh").textContent), TITLE = document.title;
const isChinese = () => document.documentElement.lang.startsWith("zh");
const say = (text, places = {}) => ((isChinese() && ZH[text]) || text).replace(/\{(\w+)\}/g, (place, name) => places[name] ?? place);
const gap = () => isChinese() ? "" : " "; // between two sentences
const sentences = (several) => several.filter(Boolean).join(gap());
const words = (command) => isChinese() ? command.replace(/([A-D])’s token/g, "$1的随机值").replace(/^([A-D])’s$/, "$1的").replace(/^no reply$/, "没有响应") : command;

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
  document.title = say(TITLE);
  document.dispatchEvent(new Event("language"));
});

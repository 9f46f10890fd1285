// The language of a page, "en" or "zh". Its address decides (?lang=zh), then what the reader chose at the switch of any page, which
// this browser remembers; without a choice, the page's own language, and for a page that is a file that of the browser.
const LANGUAGES = {{ languages|tojson }};

function languageOf(byDefault) {
  let kept = null;
  try { kept = localStorage.getItem("lab-language"); } catch { /* nothing is remembered here */ }
  const asked = new URLSearchParams(location.search).get("lang"), browser = navigator.language.startsWith("zh") ? "zh" : "en";
  return [asked, kept, byDefault || browser].find((one) => Object.hasOwn(LANGUAGES, one ?? ""));
}

// For a page that has a file for each language: remembers a choice; the English file goes to that of the reader's language. The
// Chinese file stays, as only Chinese pages lead to it. own: the language of this file. files: the names of all, by their language.
function languageOfFile(own, files) {
  const language = languageOf();
  if (language !== own && own === "en") location.replace(`${files[language]}?lang=${language}${location.hash}`);
  else if (location.search) try { localStorage.setItem("lab-language", own); } catch { /* the choice holds for this page */ }
}

// Makes a button the switch of the page. show: writes the page in a language; it is called now, and at each choice.
function languageSwitch(button, byDefault, show) {
  let language = languageOf(byDefault);
  function put() {
    const other = LANGUAGES[language === "zh" ? "en" : "zh"];
    document.documentElement.lang = LANGUAGES[language].tag;
    Object.assign(button, { textContent: other.button, lang: other.tag });
    show(language);
  }
  button.addEventListener("click", () => {
    language = language === "zh" ? "en" : "zh";
    try { localStorage.setItem("lab-language", language); } catch { /* the choice holds for this page */ }
    const here = new URL(location.href);
    if (here.searchParams.has("lang")) { here.searchParams.delete("lang"); history.replaceState(null, "", here); } // the last choice counts
    put();
  });
  put();
}

// Writes the fixed texts of a page: each element names its text in data-text, and the text for its label in data-label.
function writeTexts(texts) {
  for (const one of document.querySelectorAll("[data-text]")) one.textContent = texts[one.dataset.text];
  for (const one of document.querySelectorAll("[data-label]")) one.setAttribute("aria-label", texts[one.dataset.label]);
}

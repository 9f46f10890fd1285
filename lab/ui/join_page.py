"""The small page on which a phone types the word of the class."""

from __future__ import annotations

import msgspec

from lab.language.choice import Language
from lab.report.html import page
from lab.ui import chinese
from lab.ui.joining import PAUSE_S, Admission
from lab.ui.live_page import TEMPLATES


def text(entry: Admission, language: Language, action: str) -> str:
    """Return the page, with its texts in all languages.

    entry: what became of the last word; OPEN for a visitor without one. action: where the word is posted.
    """
    both = {Language.ENGLISH: chinese.TEXTS, Language.CHINESE: chinese.texts()}
    texts = {
        tongue: {name: said.replace("{s}", f"{PAUSE_S:.0f}") for name, said in said_in.items() if name.startswith("join")}
        for tongue, said_in in both.items()
    }
    data = msgspec.json.encode({"texts": texts, "language": language}).decode().replace("<", "\\u003c")
    return page("join.html", TEMPLATES, data=data, action=action, wrong=entry.value, t=texts[Language.ENGLISH])

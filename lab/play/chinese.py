"""The texts of the pages in both languages: what a template writes, and what a script may write.

A page is English; each text of a template stands in it in Chinese as well, and the style shows one of the two. A script takes the
Chinese of what it writes from a table in the page. A text without a phrase in ``lab/language/zh`` stays English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup, escape

from lab.language.phrases import exactly, in_chinese

EXACT = ("scheduler", "play", "claim")  # the parts of the catalogue with texts of a page, goals, claims
MOVE = "move"  # the part with patterns of sentences
TEMPLATES = Path(__file__).with_name("templates")
SCRIPTS = ("play_language.js", "play.js", "play_index.js")
SAYS = re.compile(r'\bsay\("((?:[^"\\]|\\.)*)"')  # a text that a script writes
MARKS = {  # in a text of a template
    re.compile(r"`([^`]+)`"): r"<code>\1</code>",
    re.compile(r"\[(\w{1,3})\]"): r"<kbd>\1</kbd>",
    re.compile(r"\*\*([^*]+)\*\*"): r"<strong>\1</strong>",
}


def chinese(text: str) -> str:
    """Return a text of a page in Chinese, with its places as they are; the text itself where the catalogue has no phrase."""
    for part in EXACT:
        if known := exactly(part, [text]):
            return known[text]
    made = in_chinese(MOVE, text)
    return f"{made[:-1]}。" if made != text and made.endswith(".") else made


def both(text: str, **places: Any) -> Markup:
    """Return a text for a template, in both languages. places: what stands in its places, by name."""
    english = _marked(text.format(**places))
    there = {name: chinese(str(value)) for name, value in places.items()}
    translated = _marked(chinese(text).format(**there))
    if translated == english:
        return english
    return Markup('<span class="en">{}</span><span class="zh">{}</span>').format(english, translated)


def _marked(text: str) -> Markup:
    made = str(escape(text))
    for mark, tag in MARKS.items():
        made = mark.sub(tag, made)
    return Markup(made)  # noqa: S704 - escaped above


def label(text: str, **places: Any) -> Markup:
    """Return the attributes with which an element has a label in both languages; a script shows one of them."""
    return Markup('aria-label="{0}" data-en="{0}" data-zh="{1}"').format(text.format(**places), chinese(text).format(**places))


def said_by(*scripts: str) -> list[str]:
    """Return the texts that scripts write. scripts: names of files in the folder of templates."""
    return [text for name in scripts for text in SAYS.findall((TEMPLATES / name).read_text(encoding="utf-8"))]


def table(texts: Iterable[str], known: Mapping[str, str]) -> str:
    """Return a table for the scripts of a page, as JSON: each of the texts with its Chinese, where it has one.

    known: texts whose Chinese is not in the catalogue as a whole.
    """
    found = {text: made for text in sorted(set(texts)) if (made := chinese(text)) != text}
    return msgspec.json.encode({**found, **known}).decode().replace("<", "\\u003c")

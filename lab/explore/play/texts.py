"""The texts of the pages in both languages: what a template writes, and what a script may write.

A page is English; each text of a template stands in it in Chinese as well, and the style shows one of the two. A script takes the
Chinese of what it writes from a table in the page. Texts that stay the same are in ``lab/language/zh``, word for word; what is
made of facts comes from ``lab.story`` in both languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup, escape

from lab.explore.search.event import Budget
from lab.language import Language, exactly
from lab.story import say

PARTS = ("scheduler", "play", "claim")  # the parts of the catalogue with texts of a page, goals, claims
TEMPLATES = Path(__file__).with_name("templates")
SAYS = re.compile(r'\bsay\("((?:[^"\\]|\\.)*)"')  # a text that a script writes
MARKS = {  # in a text of a template
    re.compile(r"`([^`]+)`"): r"<code>\1</code>",
    re.compile(r"\[(\w{1,3})\]"): r"<kbd>\1</kbd>",
    re.compile(r"\*\*([^*]+)\*\*"): r"<strong>\1</strong>",
}


class Said(NamedTuple):
    """A text in both languages."""

    english: str
    chinese: str


def chinese(text: str) -> str:
    """Return a text of the catalogue in Chinese, with its places as they are; the text itself where it is not there."""
    return next((known[text] for part in PARTS if (known := exactly(part, [text]))), text)


def said(text: object) -> Said:
    """Return a text of the catalogue, or what stands in a place, in both languages."""
    return text if isinstance(text, Said) else Said(str(text), chinese(str(text)))


def faults(budget: Budget) -> Said:
    """Return the faults of a level."""
    return Said(*(say.faults(budget._asdict(), language) for language in Language))


def both(text: str | Said, **places: Any) -> Markup:
    """Return a text for a template, in both languages. places: what stands in its places, by name."""
    there, values = said(text), {name: said(value) for name, value in places.items()}
    english = _marked(there.english.format(**{name: one.english for name, one in values.items()}))
    translated = _marked(there.chinese.format(**{name: one.chinese for name, one in values.items()}))
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

    known: texts whose Chinese is not in the catalogue.
    """
    found = {text: made for text in sorted(set(texts)) if (made := known.get(text) or chinese(text)) != text}
    return msgspec.json.encode(found).decode().replace("<", "\\u003c")

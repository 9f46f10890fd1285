"""What the lab states in English, in Chinese: a catalogue of phrases, as gettext has them.

The English phrase is the key, word for word. So a phrase that changes in English is missed in the catalogue, and a test fails.
It has what is written once in English, where it is about something: in a stage, a scenario, a claim or a page. What is made of
facts has its words by names, in ``lab/story/words``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lab.language.choice import Language

CATALOGUE = Path(__file__).with_name("zh")  # a shelf: each file has groups of phrases


class Phrase(NamedTuple):
    """A text with its Chinese."""

    # what it is: the idea of a stage, the title of a scenario, a text of a page …
    parts: frozenset[str]
    english: str
    chinese: str


@cache
def phrases() -> list[Phrase]:
    """Return the catalogue."""
    shelf = sorted(CATALOGUE.glob("*.toml"))
    groups = [group for path in shelf for group in tomllib.loads(path.read_text(encoding="utf-8"))["group"]]
    return [Phrase(frozenset(group["parts"]), *pair) for group in groups for pair in group["phrases"].items()]


@cache
def _by_text(part: str) -> dict[str, str]:
    return {phrase.english: phrase.chinese for phrase in phrases() if part in phrase.parts}


def exactly(part: str, texts: Iterable[str]) -> dict[str, str]:
    """Map texts of a page to their Chinese. A text that the catalogue does not have word for word is left out."""
    known = _by_text(part)
    return {text: known[text] for text in texts if text in known}


def quoted(part: str, text: str, language: Language) -> str:
    """Return a text of a stage, a claim or a scenario in a language; in English where the catalogue does not have it."""
    return text if language is Language.ENGLISH else _by_text(part).get(text, text)

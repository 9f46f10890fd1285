"""Choose the language that a reader gets, and hold the lab's texts in Chinese.

A page's address decides (``?lang=zh``); then the reader's choice at the switch of a page, which the browser remembers
(``lab/report/templates/language.js``). Without a choice, the page of the class follows the environment of its command, and a page
that is a file follows the browser.

In it: that choice, and phrases of pages with their Chinese, by the English phrase, in files in ``zh/``. All other texts are in
``lab/story/words.toml`` by name. Not in it: the Chinese prose of docs/zh, which a person writes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

CATALOGUE = Path(__file__).with_name("zh")  # a shelf: each file has groups of phrases


class Language(StrEnum):
    """Name a language of the pages, as addresses and the browser's memory have it."""

    ENGLISH = "en"
    CHINESE = "zh"


class LanguageName(NamedTuple):
    """The words by which pages name a language."""

    # in the page's markup
    tag: str
    # on the button that leads to it: in both languages, because its reader may know only one
    button: str


NAMES = {Language.ENGLISH: LanguageName("en", "English / 英文"), Language.CHINESE: LanguageName("zh-CN", "中文 / Chinese")}

# as for every program, the first variable that is set and not empty decides
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def of_environment(environment: Mapping[str, str]) -> Language:
    """Return the language that the environment of a command asks for; English for each language that the lab does not have."""
    locale = next((environment[name] for name in VARIABLES if environment.get(name)), "")
    return Language.CHINESE if locale.lower().startswith("zh") else Language.ENGLISH


class Phrase(NamedTuple):
    """A text and its Chinese."""

    # the kinds of the text: the idea of a stage, the title of a scenario, a text of a page …
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
    """Map texts of a page to their Chinese. A text that the catalogue lacks word for word is left out."""
    known = _by_text(part)
    return {text: known[text] for text in texts if text in known}

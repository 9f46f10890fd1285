"""The lab's texts in Chinese, and which language a reader gets.

A page's address decides (``?lang=zh``), then what the reader chose at the switch of a page, which the browser remembers
(``lab/report/templates/language.js``). Without a choice, the page of the class follows the environment of its command, and a
page that is a file follows the browser.

In it: that choice, and the catalogue of phrases, a shelf of files in ``zh/``, one for each kind of text. As gettext has it, the
English phrase is the key, word for word. So a phrase that changes in English is missed in the catalogue, and a test fails. It has
what is written once in English, where it is about something: in a stage, a scenario, a claim or a page. What is made of facts has
its words by names, in ``lab/story/words``. Not in it: the Chinese prose of docs/zh, which a person writes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lab.paths import SCENARIOS

CATALOGUE = Path(__file__).with_name("zh")  # a shelf: each file has groups of phrases


class Language(StrEnum):
    """A language of the pages, by its name in addresses and in the browser's memory."""

    ENGLISH = "en"
    CHINESE = "zh"


class LanguageName(NamedTuple):
    """How pages name a language."""

    # in the markup
    tag: str
    # on the button that leads to it: in that language and in the other, since its reader may know one of them only
    button: str


NAMES = {Language.ENGLISH: LanguageName("en", "English / 英文"), Language.CHINESE: LanguageName("zh-CN", "中文 / Chinese")}

# the first that is set and not empty decides, as for every program
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def of_environment(environment: Mapping[str, str]) -> Language:
    """Return the language that the environment of a command asks for; English for all languages that the lab does not have."""
    locale = next((environment[name] for name in VARIABLES if environment.get(name)), "")
    return Language.CHINESE if locale.lower().startswith("zh") else Language.ENGLISH


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
    of_groups = [Phrase(frozenset(group["parts"]), *pair) for group in groups for pair in group["phrases"].items()]
    return [*of_groups, *_of_scenarios()]


def _of_scenarios() -> Iterator[Phrase]:
    """Yield the titles of the lab's scenarios, and their names in a picture: each file has its Chinese beside the English."""
    for path in sorted(SCENARIOS.glob("*.toml")):
        words = tomllib.loads(path.read_text(encoding="utf-8"))
        if "title_zh" in words:
            yield Phrase(frozenset({"picture", "title"}), words["title"], words["title_zh"])
        if "name_zh" in words:
            yield Phrase(frozenset({"scenario"}), path.stem.replace("_", " "), words["name_zh"])


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

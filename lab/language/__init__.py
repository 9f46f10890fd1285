"""Choose the language that a reader gets.

A page's address decides (``?lang=zh``); then the reader's choice at the switch of a page, which the browser remembers
(``lab/report/templates/language.js``). Without a choice, the page of the class follows the environment of its command, and a page
that is a file follows the browser. Not in it: the texts, which are in ``lab/story/words.toml`` by name, and the Chinese prose of
docs/zh, which a person writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


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

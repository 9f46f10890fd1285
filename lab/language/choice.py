"""Which language a reader gets.

A page's address decides (``?lang=zh``), then what the reader chose at the switch of a page, which the browser remembers
(``lab/report/templates/language.js``). Without a choice, the page of the class follows the environment of its command, and a
page that is a file follows the browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


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

"""What the lab states in English, in Chinese: a catalogue of phrases, as gettext has them.

The English phrase is the key, word for word. So a phrase that changes in English is missed in the catalogue, and a test fails.
A phrase may have places such as ``{stage}``, which stand for a link, a name or a figure. Code is never translated.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lab.language.choice import Language

CATALOGUE = Path(__file__).with_name("zh")  # a shelf: each file has groups of phrases
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r"\\\{(\w+)\\\}")
# what a place stands for, by its name; {n2} is a second number
KINDS = {
    "n": r"\d(?:[\d\u2009.]*\d)?",  # with a thin space between thousands
    "t": r"\+[\d.]+ s",  # a moment
    "r": r"r\d+",  # a request
    "p": r"replica-\d+",
    "plural": r"s?",
    "x": r"[^\n]+?",  # anything, also with brackets
}
ANYTHING = r"(?:(?>\[[^\]\n]*\]\([^)\n]*\))|[^\[\n])+?"  # within a line; a link is not cut
ENGLISH = re.compile(r"(?<![`\w])[A-Za-z]{2,} [a-z]{2,}(?![`\w])")  # two words in a row
AFTER_A_SIGN = re.compile(r"(?<=[，。：；、]) +")  # Chinese signs need no space


class Phrase(NamedTuple):
    """A phrase of the generated parts."""

    # where it is translated: generated parts of documents, or texts of a page
    parts: frozenset[str]
    english: str
    chinese: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return what finds it."""
        places = PLACE.sub(_group, re.escape(self.english))
        # a word is not a piece of another word, nor a name in code
        before = r"(?<![A-Za-z0-9_`])" if self.english[0].isalnum() else ""
        after = r"(?![A-Za-z0-9_`])" if self.english[-1].isalnum() else ""
        return re.compile(f"{before}{places}{after}")


def _group(place: re.Match[str]) -> str:
    return f"(?P<{place[1]}>{KINDS.get(place[1].rstrip('0123456789'), ANYTHING)})"


@cache
def phrases() -> list[Phrase]:
    """Return the catalogue, longer phrases first: a phrase may be a piece of a longer one."""
    shelf = sorted(CATALOGUE.glob("*.toml"))
    groups = [group for path in shelf for group in tomllib.loads(path.read_text(encoding="utf-8"))["group"]]
    found = (Phrase(frozenset(group["parts"]), *pair) for group in groups for pair in group["phrases"].items())
    return sorted(found, key=lambda one: -len(one.english))


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


def sentences(part: str, texts: Iterable[str]) -> dict[str, str]:
    """Map sentences with names and figures to their Chinese. A sentence of which English words are left is left out."""
    found = {text: in_chinese(part, text) for text in texts}
    return {text: _ended(chinese) for text, chinese in found.items() if chinese != text and not ENGLISH.search(chinese)}


def _ended(chinese: str) -> str:
    return f"{chinese.removesuffix('.')}。" if chinese.endswith(".") else chinese


def in_chinese(part: str, made: str) -> str:
    """Return a generated part or a sentence in Chinese, as far as the catalogue goes. part: where it is shown."""
    return "".join(_pieces(part, made))


def _pieces(part: str, made: str) -> Iterator[str]:
    mine = _patterns(part)
    for place, piece in enumerate(FENCED.split(made)):
        is_code = place % 2 == 1
        yield piece if is_code or not mine else AFTER_A_SIGN.sub("", _translated(piece, mine))


@cache
def _patterns(part: str) -> list[tuple[re.Pattern[str], str]]:
    return [(phrase.pattern, phrase.chinese) for phrase in phrases() if part in phrase.parts]


def _translated(text: str, mine: list[tuple[re.Pattern[str], str]]) -> str:
    for pattern, chinese in mine:
        text = pattern.sub(lambda found, chinese=chinese: chinese.format(**found.groupdict()), text)  # type: ignore[misc]
    return text

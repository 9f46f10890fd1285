"""Format numbers and nouns, and break texts into lines."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

WIDTH = 80  # letters in a line, on a terminal and in a pipe
CLOSING = "，。：；、）”"  # signs that do not begin a line
# controls without tabs and newlines, and all other signs that XML does not allow
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
PIECE = re.compile(r"[（“]?(?:[!-~]+|.)", re.DOTALL)  # finds a piece of a Chinese line: a number, a name, or one sign


def printable(text: str) -> str:
    """Return a foreign text so that it is harmless on a terminal: a control character is printed as its number."""
    return CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: ``1 write``, ``2 writes``. nouns: the plural, if it does not end with an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"


def thousands(number: float) -> str:
    """Return a whole number; from five digits on, with a thin space between thousands."""
    digits = f"{number:,.0f}"
    return digits.replace(",", "" if len(digits) == len("9,999") else "\u2009")


def hanging(label: str, text: str, indent: int) -> str:
    """Return a text of several lines, each of at most WIDTH letters, with its label before the first line."""
    return label.ljust(indent) + f"\n{' ' * indent}".join(wrapped(text, WIDTH - indent))


def letters_of(text: str) -> int:
    """Return the width of a text, in letters: a Chinese sign is as wide as two letters."""
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)


def wrapped(text: str, letters: int) -> list[str]:
    """Return the lines of a text. In Chinese, a line may end after each sign, and not within a number or a name."""
    if letters_of(text) == len(text):
        return textwrap.wrap(text, letters, break_long_words=False, break_on_hyphens=False)
    lines, line = [], ""
    for piece in PIECE.findall(text):
        if letters_of(line + piece) > letters and piece not in CLOSING:
            lines.append(line.rstrip())
            line = ""
        line += piece if line else piece.lstrip()
    return [*lines, line]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, a line for each row."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ["---"] * len(head), *rows))

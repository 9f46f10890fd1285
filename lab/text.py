"""Numbers and nouns as the lab prints them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

WIDTH = 80  # of a terminal, and of what is printed into a pipe


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: ``1 write``, ``2 writes``. nouns: the plural, where it is not made with an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"


def seconds(ms: int) -> str:
    """Return a time in seconds, with a space at which no line breaks."""
    return f"{ms / 1000:g}\u00a0s"


def thousands(number: float) -> str:
    """Return a whole number with a thin space between thousands."""
    return f"{number:,.0f}".replace(",", "\u2009")


def in_few_words(text: str, width: int) -> str:
    """Return the beginning of a sentence that fits: to a colon, or to a late comma, otherwise to the end of a word."""
    text = text.rstrip(".")
    if len(text) <= width:
        return text
    ends = {found.start(): found[0] for found in re.finditer(r"[:;,](?=\s)", text[: width + 2])}
    colons = [place for place, sign in ends.items() if sign != "," and place >= width // 4]
    commas = [place for place, sign in ends.items() if sign == "," and place >= width * 3 // 4]
    cut = max(colons or commas, default=0)
    return text[:cut] if cut else textwrap.shorten(text, width, placeholder=" …")


def hanging(label: str, text: str, indent: int) -> str:
    """Return a text of several lines, each of at most WIDTH characters, with its label before the first line."""
    filled = textwrap.fill(
        text,
        WIDTH,
        initial_indent=f"{label:<{indent}}",
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled or label


def folded(summary: str, text: str) -> str:
    """Return Markdown that stands folded below its summary, here and on GitHub."""
    return f"<details><summary>{summary}</summary>\n\n{text.rstrip()}\n\n</details>\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, a line for each row."""
    return table_rows([head, ["---"] * len(head), *rows])


def table_rows(rows: Iterable[Iterable[str]]) -> str:
    """Return the rows of a Markdown table whose head stands elsewhere."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)

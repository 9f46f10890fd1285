"""What pictures of marked cells share: the looks of the marks in ``marks.svg.j2``, and the legend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from lab.report.html import page
from lab.report.palette import HARMS, NAMES, SIGNS, Mark, Paper

FONTS = "'DejaVu Sans', Verdana, Arial, sans-serif"  # a browser without the first takes the next


class LegendMark(NamedTuple):
    """A mark in the legend: its left end, and the middle of its line."""

    mark: Mark
    x: float
    y: float


def legend(marks: Iterable[Mark], place: tuple[float, float, float], size: float) -> list[LegendMark]:
    """Return the legend of these marks, in lines.

    place: the left end, the middle of the first line, the right end. size: of a letter.
    """
    left, y, right = place
    x, found, shown = left, [], set(marks)
    for mark in Mark:
        if mark not in shown:
            continue
        needs = 34 + 0.59 * size * len(mark.value)
        if x + needs > right:
            x, y = left, y + 24
        found.append(LegendMark(mark, x, y))
        x += needs + 14
    return found


def write(template: str, path: Path, paper: Paper, say: Callable[[str], str] = str, fonts: str = FONTS, **values: Any) -> Path:
    """Write a picture from a template. Return its path. say: gives the words in the picture's language."""
    text = page(template, paper=paper, say=say, fonts=fonts, names=NAMES, signs=SIGNS, harms=HARMS, **{"language": "", **values})
    path.write_text(text, encoding="utf-8")
    return path

"""Draw the first picture: light and dark, 850 px wide, so that a letter has the size at which GitHub shows it.

The Chinese one is the same drawing with other words. The drawing has no widths of letters in it, so it needs no Chinese font
where it is made; the browser that shows it has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from io import BytesIO
from pathlib import Path

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lab.language.phrases import in_chinese
from lab.report import hero
from lab.report.cell_picture import FONTS, draw_mark, legend, sheet
from lab.report.chart import STYLE
from lab.report.hero import FAULTS, LAST, RUNGS, Rung
from lab.report.palette import PAPERS, Mark, Paper

STEM, CHINESE = "hero", "hero-zh"
WIDTH = 850  # px, and units of the picture
ROW, GAP, TOP, BELOW = 45, 12, 128, 48  # the height of a row, the space before the last, above the rows, and below them
NAMES, BARS, CELLS = 14, 206, 456  # where each part begins
LONGEST = 140  # of a bar
COLUMN = 48
BAR = 21  # the height of a bar
WORDS = re.compile(r"(<text\b[^>]*>|<title>|<dc:title>)(.*?)(?=</)", re.DOTALL)
# of macOS, Windows, and Linux; letters and figures stay those of the English picture
CHINESE_FONTS = "'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'Source Han Sans SC', 'WenQuanYi Micro Hei'"


def draw(folder: Path) -> list[Path]:
    """Write ``hero.svg`` and ``hero-dark.svg``. Return their paths."""
    return [draw_one(folder, name) for name in PAPERS]


def draw_one(folder: Path, name: str) -> Path:
    """Write the picture on one paper: its file's name ends with ``name``. Return its path."""
    path = folder / f"{STEM}{name}.svg"
    path.write_bytes(_drawn(name))
    return path


def draw_in_chinese(folder: Path, name: str) -> Path:
    """Write the picture with Chinese words. Return its path."""
    path = folder / f"{CHINESE}{name}.svg"
    path.write_text(translated(_drawn(name).decode()), encoding="utf-8")
    return path


def _drawn(name: str) -> bytes:
    rows, content = hero.rungs(), BytesIO()
    with style.context([STYLE, FONTS]):
        figure = picture(rows, PAPERS[name])
        about = {"Date": None, "Title": hero.finding(rows)}
        figure.savefig(content, format="svg", metadata=about, facecolor=PAPERS[name].page)
    return content.getvalue()


def translated(svg: str) -> str:
    """Return the picture, as SVG, with Chinese words and with fonts that have them. Names of stages stay."""
    words = _in_chinese([unescape(found[2]) for found in WORDS.finditer(svg)])
    chinese = WORDS.sub(lambda found: found[1] + escape(next(words), quote=False), svg)
    return chinese.replace("'DejaVu Sans',", f"'DejaVu Sans', {CHINESE_FONTS},").replace("<svg ", '<svg xml:lang="zh-CN" ', 1)


def _in_chinese(texts: Sequence[str]) -> Iterator[str]:
    """Yield the texts in Chinese. The two lines of a fault's name are one phrase, with a space between them."""
    two_lines = {tuple(name.split("\n")) for name in FAULTS.values()}
    place = 0
    while place < len(texts):
        pair = tuple(texts[place : place + 2])
        if pair in two_lines:
            yield from in_chinese("hero", " ".join(pair)).split(" ")
        else:
            yield texts[place] if texts[place] in RUNGS else in_chinese("hero", texts[place])
        place += 2 if pair in two_lines else 1


def picture(rows: Sequence[Rung], paper: Paper) -> Figure:
    """Return the picture of these rows."""
    figure, axes = sheet(WIDTH, TOP + ROW * len(rows) + GAP + BELOW, paper)
    _head(axes, list(rows), paper)
    scale = LONGEST / max(max(row.acknowledged.value, row.acknowledged.high) for row in rows)
    for number, row in enumerate(rows):
        top = TOP + ROW * number + (GAP if row.stage == LAST else 0)
        axes.plot([NAMES, WIDTH - NAMES], [top, top], color=paper.line, linewidth=0.8)
        axes.text(NAMES, top + 17, row.stage, fontsize=10.5, fontweight="bold", color=paper.text, va="center")
        axes.text(NAMES, top + 33, row.words, fontsize=9, color=paper.soft, va="center")
        _bar(axes, row, top, scale, paper)
        if row.stage == LAST and not row.harmed:
            words = "One command reads, adds, writes."
            axes.text(CELLS + 2 * COLUMN + 8, top + 24, words, fontsize=9, color=paper.soft, va="center")
        for place, mark in enumerate(row.marks):
            if row.stage != LAST or mark is not Mark.IMPOSSIBLE:
                draw_mark(axes, (CELLS + COLUMN * place + 2, top + 4, COLUMN - 4, ROW - 8), mark, paper)
    found = {mark for row in rows for mark in row.marks}
    legend(axes, (NAMES, TOP + ROW * len(rows) + GAP + 26, WIDTH - NAMES), [mark for mark in Mark if mark in found], paper)
    return figure


def _head(axes: Axes, rows: list[Rung], paper: Paper) -> None:
    axes.text(NAMES, 24, hero.finding(rows), fontsize=13, fontweight="bold", color=paper.text, va="center")
    axes.text(NAMES, 47, hero.conditions(rows), fontsize=9, color=paper.soft, va="center")
    axes.text(BARS, 77, "increments a second", fontsize=9, color=paper.text, va="center")
    for x, colour, words in ((BARS, paper.stays, "stay"), (BARS + 54, paper.vanished, "acknowledged, vanished")):
        axes.add_patch(Rectangle((x, 95), 11, 11, facecolor=colour, linewidth=0))
        axes.text(x + 16, 101, words, fontsize=9, color=paper.text, va="center")
    axes.text(CELLS, 77, "the situation: increments lost, or the lock stuck or late", fontsize=9, color=paper.text, va="center")
    for place, words in enumerate(FAULTS.values()):
        middle = CELLS + COLUMN * (place + 0.5)
        for line, word in enumerate(words.split("\n")):
            axes.text(middle, 99 + 15 * line, word, fontsize=9, color=paper.text, ha="center", va="center")


def _bar(axes: Axes, row: Rung, top: float, scale: float, paper: Paper) -> None:
    """Draw what stays, what vanished, and the interval of each end."""
    stays, whole = row.stays.value * scale, row.acknowledged.value * scale
    axes.add_patch(Rectangle((BARS, top + 12), stays, BAR, facecolor=paper.stays, linewidth=0))
    axes.add_patch(Rectangle((BARS + stays, top + 12), whole - stays, BAR, facecolor=paper.vanished, linewidth=0))
    ends = [row.stays] if whole - stays < 1 else [row.stays, row.acknowledged]
    for spread in ends if row.stays.runs > 1 else ():
        low, high = (BARS + max(0.0, end) * scale for end in (spread.low, spread.high))
        axes.plot([low, high], [top + 22.5] * 2, color=paper.text, linewidth=1.4)
        for end in (low, high):
            axes.plot([end, end], [top + 18, top + 27], color=paper.text, linewidth=1.4)
    right = BARS + max(whole, max(0.0, ends[-1].high) * scale)
    axes.text(right + 6, top + 23, row.figure, fontsize=9.5, fontweight="bold", color=paper.text, va="center")

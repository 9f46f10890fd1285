"""The rule of titles: each figure states something with a number, is no list of names, and has a title of its own."""

import re
from collections import Counter
from pathlib import Path

from lab.paths import HOME, REFERENCE
from lab.text import counted
from tests.every import every

KEPT = sorted(REFERENCE.rglob("*.svg"))
BOLD = re.compile(r"<text style=\"(?=[^\"]*font-weight: (?:700|bold))(?=[^\"]*font-size: 1[3-9]px)[^\"]*\"[^>]*>([^<]*)</text>")
TITLE = re.compile(r"<title[^>]*>([^<]*)</title>")  # of a picture that the lab draws itself
ZERO = re.compile(r"\b(no|none|nothing|never)\b", re.IGNORECASE)
LONGEST = 150  # letters: two lines
MOST_COMMAS = 3  # more make a list of names


def title_of(path: Path) -> str:
    """Return the title that a figure shows: its large bold text, its title, or its longest text."""
    text = path.read_text(encoding="utf-8")
    return " ".join(BOLD.findall(text) or TITLE.findall(text)) or max(re.findall(r"<text[^>]*>([^<]*)</text>", text), key=len)


def faults_of(title: str) -> list[str]:
    """Return how a title breaks the rule."""
    rules = {
        "is a question": "?" in title,
        "has no number": not re.search(r"\d", title) and not ZERO.search(title),
        "is a list of names": title.count(",") > MOST_COMMAS,
        "is too long": len(title) > LONGEST,
    }
    return [fault for fault, is_broken in rules.items() if is_broken]


@every("path", KEPT)
def test_kept_figure_states_what_it_shows(path):
    assert faults_of(title_of(path)) == [], title_of(path)


def test_no_two_kept_figures_have_the_same_title():
    """A figure on dark paper is the twin of the one on light paper."""
    number = Counter(title_of(path) for path in KEPT if not path.stem.endswith("-dark"))

    assert [f"{title}: {counted(times, 'figure')}" for title, times in number.items() if times > 1] == []


def test_chapters_show_only_kept_figures():
    """Each picture of the book is a kept figure, so the rule covers the whole book."""
    shown = [
        (chapter.parent / link).resolve()
        for chapter in (HOME / "docs").rglob("*.md")
        for link in re.findall(r"!\[[^\]]*\]\(([^)]+\.svg)\)", chapter.read_text(encoding="utf-8"))
    ]

    assert set(shown) <= {path.resolve() for path in KEPT}

"""Test the sentences and pictures of the documents about every order of events."""

import re

import pytest
from msgspec import structs

from app.locks import stages
from lab.errors import BadInput
from lab.evidence import decided as kept
from lab.evidence.decided import KeptDecision, why_not
from lab.explore.questions import TTL_MS, by_default
from lab.paths import DOCS
from lab.story.searches import conditions
from tests.every import every
from tests.stories import LOST, breaks, kept_search
from tools.book import chapters, explored

LETTER_PX = 6.6  # the width of a letter in a legend
ASKED = [name for name, stage in stages().items() if not why_not(stage)]
STORY_OF_UUID = KeptDecision(
    stage="uuid",
    sha256="",
    ttl_ms=3000,
    story=LOST,
    searches=[
        kept_search(
            faults={"pauses": 1},
            schedules=1552,
            breaks={"releases_atomically": breaks(140), "survives_a_late_freeze": breaks(1)},
            holds=["exclusive"],
        )
    ],
)


@every("name", stages)
def test_chapters_with_a_schedule(name):
    """The chapter of each stage that is explored has the part about every order, and no other chapter has it."""
    text = (chapters.FOLDER / f"{name}.md").read_text(encoding="utf-8")

    assert (f"<!-- generated: schedule {name} -->" in text) == (name in ASKED)


def test_chapter_in_which_nothing_breaks(monkeypatch):
    """If no schedule is drawn, the chapter states the number of schedules; a broken promise without a schedule is refused."""
    monkeypatch.setattr(kept, "current", lambda stage: structs.replace(STORY_OF_UUID, story=None))

    assert {"1552", "1"} <= set(explored.PARTS["schedule"]("uuid").split())
    with pytest.raises(BadInput, match="lua breaks releases_atomically in some order, and its document names no schedule"):
        explored.PARTS["schedule"]("lua")


@every("path", explored.pictures)
def test_legend_of_a_schedule_is_not_cut_off(path):
    """The legend of each drawn schedule ends within the picture."""
    legend = re.findall(r'<text x="(\d+)" [^>]*class="soft small"[^>]*>([^<]*)<', path.read_text(encoding="utf-8"))

    assert [words for x, words in legend if int(x) + LETTER_PX * len(words) > 850] == []


def test_list_of_searches_is_complete():
    """The page about the explorer has a row for each default search of a reentrant lock."""
    page = (DOCS / "explore.md").read_text(encoding="utf-8")
    rows = [conditions(one.as_fields(TTL_MS), TTL_MS) for one in by_default(stages()["reentrant"], TTL_MS)]

    assert [row for row in rows if f"| {row} |" not in page] == []

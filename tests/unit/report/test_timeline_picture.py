"""The still timeline: its lanes, its legend and its title, from histories made by hand."""

from __future__ import annotations

import re
from html import unescape

import pytest

from app.journal import Renewed, Started
from lab.report.lanes.drawing import still
from lab.story.say import text
from tests.builders import MS, Made, outlived, picture_of


@pytest.fixture
def drawn(made):
    """Return the texts of the picture of a made run."""

    def draw(final: int, **about: object) -> list[str]:
        svg = still(picture_of(made, final, **about), "conditions")  # type: ignore[arg-type] # what picture_of takes
        return [unescape(one) for one in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]

    return draw


def marked(*meanings: str) -> set[str]:
    """Return what the legend says of marks."""
    return {text("mark_of_lane", one) for one in meanings}


def killed_for_good(made: Made) -> None:
    """r0 dies with a lock that has no time to live, and r1 waits in vain."""
    made.key_event("set", 10)
    made.increment("r0", 0, None, at=(10, 11, 12, 13), outcome="unknown")
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=300 * MS, pid=2))
    made.fault("kill", "r0", 20, 21)
    made.gave_up("r1", 900)


def test_stuck_lock_is_held_for_ever(made, drawn):
    """The picture of a lock that is never freed states so, and explains the dead process and the waiting."""
    killed_for_good(made)

    texts = drawn(final=0, tests="freed_after_crash")

    assert text("lane", "for_ever") in texts
    assert marked("process_gone", "waiters", "fault_begins") <= set(texts)


def test_legend_explains_what_is_drawn(made, drawn):
    outlived(made)

    texts = drawn(final=1, ttl_ms=300, tests="held_to_the_end")

    assert marked("lease", "alone", "both") | {text("lane_name", "counter")} <= set(texts)
    assert not marked("renewal") & set(texts)


def test_renewals_are_drawn(made, drawn):
    made.key_event("set", 1).key_event("expire", 1).key_event("expire", 50).key_event("del", 101)
    made.increment("a", 0, 0, at=(1, 2, 100, 101))
    made.line("journal/replica-1.jsonl", Renewed(request="", key="lock", renewed_ns=50 * MS, answer="1"))

    assert marked("renewal") <= set(drawn(final=1, ttl_ms=100))


def test_empty_lanes_are_left_out(made, drawn):
    """Without events of the lock's store, without faults and without waiting, there are no such lanes."""
    made.increment("a", 0, 0, at=(1, 2, 6, 7), key="").increment("b", 0, 1, at=(2, 3, 8, 9), key="", replica="replica-2")

    texts = drawn(final=1, store=None)

    assert not {text("lane_name", name) for name in ("store", "faults", "waiting")} & set(texts)
    assert marked("in_work") <= set(texts)
    assert not marked("believes", "lease") & set(texts)


def test_evidence_without_an_order_is_marked(made, drawn):
    made.increment("a", 0, 0, at=(1, 2, 3, 4)).increment("b", 7, 7, at=(11, 12, 13, 14))

    assert marked("gap") <= set(drawn(final=8))

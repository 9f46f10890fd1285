"""The story of each claim that breaks without a loss, from histories made by hand."""

from __future__ import annotations

import pytest

from lab.judge.examples import Wait, deadlock
from lab.report.caption import caption
from lab.report.caption_liveness import claim_story
from tests.builders import Made, picture_of


def liveness_caption(made: Made, final: int, tests: str, **about: object) -> str:
    one = claim_story(made.analyse(final=final, tests=tests, **about))
    assert one is not None
    return one.words


def waits(made: Made, request: str, asked_ms: int, got_ms: int, number: int) -> Made:
    """An increment that was asked for before the lock was got."""
    return made.increment(request, number, number, at=(got_ms, got_ms + 1, got_ms + 2, got_ms + 3), asked=asked_ms)


def test_most_overtaken_request(made):
    """The caption names the request that was overtaken most, and how often."""
    waits(waits(waits(made, "b", 40, 45, 0), "c", 50, 55, 1), "a", 10, 100, 2)

    assert liveness_caption(made, 3, "fair") == (
        "a at replica-1 was overtaken most: it asked for the lock at +0.00 s and got it after 90 ms; "
        "meanwhile 2 of 3 grants went to requests that had asked later"
    )


def test_that_nobody_was_overtaken(made):
    waits(waits(made, "a", 10, 20, 0), "b", 30, 40, 1)

    assert (
        liveness_caption(made, 2, "fair")
        == "No request was overtaken: the 2 grants went in the order in which the requests had asked"
    )


def test_longest_idle_lock(made):
    """The caption states how long a free lock stayed unused, and which request took it late."""
    waits(waits(waits(made, "a", 10, 20, 0), "b", 11, 30, 1), "c", 12, 90, 2)

    assert liveness_caption(made, 3, "prompt_handover") == (
        "In half of 2 hand-overs the lock stayed free for 57 ms or more while a request waited; "
        "the longest time, c got it 57 ms after b had begun its release at +0.01 s"
    )


def test_waiter_that_slept_on(made):
    """The caption names the waiter that waited for a release which had happened."""
    waits(made, "a", 0, 5, 0).gave_up("b", 4010)

    assert "b at replica-1 began to wait when the lock was released already, and gave up after" in liveness_caption(
        made, 1, "loses_no_wakeup", wait_ms=4000
    )


def test_lock_that_was_left(made):
    """The caption names the request that failed, and what became of the lock that it left."""
    made.increment("left", 0, 0, at=(1, 2, 3, 4), released=5, result="error: not sent", release_commands=0, answer="").key_event(
        "hincrby", 1
    )
    made.fault("fail_command", "left", 4, 4, "release.before_last")
    made.increment("next", 1, 1, at=(350, 351, 352, 353)).key_event("expired", 345)

    assert liveness_caption(made, 2, "reenters_only_its_own", ttl_ms=300, reports_keys=True) == (
        "left at replica-1 failed and left its lock behind; 0 requests of that replica asked for it before its TTL was over, "
        "and none entered; next got it after 346 ms"
    )


def test_lock_that_was_entered(made):
    made.increment("left", 0, 0, at=(1, 2, 3, 4), released=5, result="error: not sent", release_commands=0, answer="").key_event(
        "hincrby", 1
    )
    made.fault("fail_command", "left", 4, 4, "release.before_last")
    made.increment("next", 1, 1, at=(20, 21, 22, 23)).key_event("hincrby", 20)

    assert liveness_caption(made, 2, "reenters_only_its_own", ttl_ms=300, reports_keys=True) == (
        "left at replica-1 failed at +0.00 s and left its lock behind; next entered it at +0.02 s, and 1 request did so in all"
    )


def test_work_done_how_often(made):
    """The caption names the request that did its work again, and how often."""
    made.increment("a", 0, 0, at=(10, 11, 12, 13)).increment("b", 1, 1, at=(20, 21, 22, 23))
    for turn in (2, 3):
        start = 20 * turn
        made.increment("b", turn, turn, at=(start, start + 1, start + 2, start + 3), turn=turn, outcome=None)

    assert liveness_caption(made, 4, "counts_once") == (
        "b did its work 3 times; all requests together made 2 writes more than one for each request"
    )


def test_who_waited_for_itself_and_gave_up(made):
    made.gave_up("b", 700, wanted="lab:run:mine:lock").gave_up("a", 800, wanted="lab:run:mine:lock", holding="lab:run:mine:lock")

    assert liveness_caption(made, 0, "reentrant", nested="same") == (
        "a at replica-1 held “lock” and asked for it again: it waited for itself and gave up after 800 ms"
    )


@pytest.mark.parametrize(
    ("got_ms", "end"),
    [
        (330, "it waited for itself for 320 ms, until its own lease of 300 ms had ended"),
        (15, "it had both grants within 5 ms, and no request took longer"),
    ],
)
def test_reentry_that_succeeds(made, got_ms, end):
    """The caption names the request that asked for its own lock again and got it."""
    waits(made, "a", 10, got_ms, 0)

    assert (
        liveness_caption(made, 1, "reentrant", nested="same", ttl_ms=300)
        == f"a at replica-1 held “lock” and asked for it again: {end}"
    )


def test_deadlock_of_two_locks(made):
    """The caption states which request held which lock, and for which lock it waited."""
    made.gave_up("a", 700, wanted="run:x", holding="run:y").gave_up("b", 800, wanted="run:y", holding="run:x")

    assert liveness_caption(made, 0, "breaks_deadlock", nested="crossed") == (
        "a held “y” and waited for “x”, while b held “x” and waited for “y”: "
        "they gave up after 700 ms and 800 ms, and 2 requests gave up in all"
    )


def test_that_everybody_got_out_of_it(made):
    waits(made, "a", 10, 330, 0)

    assert liveness_caption(made, 1, "breaks_deadlock", nested="crossed").endswith("a at replica-1, had both locks after 320 ms")


def test_deadlock_needs_two_crossing():
    """A deadlock needs two requests that cross at the same time."""
    one = Wait("a", "replica-1", 0, 10, got=False, wanted="x", holding="y")

    assert deadlock([one, Wait("b", "replica-1", 5, 15, got=False, wanted="y", holding="x")]) is not None
    assert deadlock([one, Wait("b", "replica-1", 11, 15, got=False, wanted="y", holding="x")]) is None
    assert deadlock([one, Wait("b", "replica-1", 5, 15, got=False, wanted="y", holding="")]) is None
    assert deadlock([one, Wait("b", "replica-1", 5, 15, got=False, wanted="x", holding="y")]) is None


def test_claim_with_losses_has_no_story(made):
    """A claim that its losses explain needs no other story."""
    waits(made, "a", 10, 20, 0)

    assert claim_story(made.analyse(final=1, tests="exclusive")) is None


def test_caption_and_picture_open_on_it(made):
    """The caption has the story with its cost, and the picture opens on it."""
    waits(waits(waits(made, "b", 20, 30, 0), "c", 40, 50, 1), "a", 10, 900, 2)
    picture = picture_of(made, final=3, tests="fair")

    assert caption(picture).startswith("a at replica-1 was overtaken most: it asked for the lock at")
    assert caption(picture).endswith("that had asked later; no increment was lost.")
    assert picture.about[1] - picture.about[0] == 890_000
    assert (picture.opens[0], picture.opens[1] >= picture.about[1]) == (0, True)


def test_loss_comes_second(made):
    """The caption of a loss comes after the story."""
    made.increment("a", 0, 0, at=(10, 20, 60, 61)).increment("b", 0, 1, at=(30, 40, 80, 81), replica="replica-2")
    made.increment("b", 1, 1, at=(90, 91, 92, 93), replica="replica-2", turn=2, outcome=None)

    text = caption(picture_of(made, final=2, tests="counts_once"))

    assert text.startswith(
        "b did its work 2 times; all requests together made 1 write more than one for each request. "
        "The lock was granted to b at replica-2"
    )

"""One sentence for each way in which a run can go wrong, from histories made by hand."""

from __future__ import annotations

import pytest

from app.journal import GaveUp, Started
from lab.evidence.mechanism import Mechanism
from lab.report.caption import caption
from lab.story.timeline import NEVER
from tests.builders import MS, Made, outlived, picture_of


def killed(made: Made) -> Made:
    made.increment("r0", 0, None, at=(100, 101, 102, 103), outcome="unknown")
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=300 * MS, pid=2))
    return made.fault("kill", "r0", 110, 111)


def test_the_ttl_ran_out(made):
    assert caption(picture_of(outlived(made), final=1, ttl_ms=300, tests="held_to_the_end")) == (
        "r0's lease of 300 ms ended at +0.30 s; r1 at replica-2 read 0 at +0.32 s while r0 was still inside; "
        "r0 wrote 1 at +0.45 s and r1 wrote 1 over it at +0.76 s: 1 increment lost."
    )


def test_deleted_by_another(made):
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 310).key_event("set", 320).key_event("expire", 320)
    made.key_event("del", 500).key_event("set", 510).key_event("expire", 510).key_event("del", 601)
    made.increment("r0", 0, 0, at=(10, 11, 498, 499), replica="replica-1")
    made.increment("r1", 1, 1, at=(320, 499, 600, 601), replica="replica-2")
    made.increment("r2", 1, 2, at=(510, 511, 700, 701), replica="replica-3", answer="0")

    assert caption(picture_of(made, final=2, ttl_ms=300, tests="releases_only_its_own")) == (
        "r0 at replica-1 was late with its release and deleted r1's lock at +0.49 s; r2 at replica-3 read 1 at +0.50 s "
        "while r1 was still inside; r1 wrote 2 at +0.59 s and r2 wrote 2 over it at +0.69 s: 1 increment lost."
    )


@pytest.mark.parametrize(
    ("replica", "key", "expected"),
    [
        ("replica-1", "", "No lock kept the requests apart: b at replica-1 read 0 at"),
        ("replica-2", "", "No lock kept the requests apart: b at replica-2 read 0 at"),
        ("replica-2", "own", "replica-1 and replica-2 each have a lock of their own: b at replica-2 read 0 at"),
        ("replica-1", "own", "No lock kept the requests apart: b at replica-1 read 0 at"),
    ],
)
def test_without_a_store(made, replica, key, expected):
    made.increment("a", 0, 0, at=(10, 20, 60, 61), key=key).increment("b", 0, 1, at=(30, 40, 80, 81), key=key, replica=replica)

    text = caption(picture_of(made, final=1, store=None))

    assert text.startswith(expected)
    assert text.endswith("a wrote 1 at +0.05 s and b wrote 1 over it at +0.07 s: 1 increment lost.")


def test_granted_twice(made):
    made.key_event("set", 10).key_event("set", 30)
    made.increment("a", 0, 0, at=(10, 20, 60, 61)).increment("b", 0, 1, at=(30, 40, 80, 81), replica="replica-2")

    assert caption(picture_of(made, final=1)) == (
        "The lock was granted to b at replica-2 at +0.02 s, though a had held it since +0.00 s; "
        "a wrote 1 at +0.05 s and b wrote 1 over it at +0.07 s: 1 increment lost."
    )


def test_caption_of_any_mechanism(made):
    """A mechanism without a story of its own is described from the stale read on, with the fault."""
    made.key_event("set", 10).key_event("del", 300)
    made.fault("some_new_harm", "stale", 30, 230)
    made.increment("stale", 0, 2, at=(10, 20, 250, 251))
    made.increment("a", 0, 0, at=(100, 110, 120, 121), replica="replica-2")
    made.increment("b", 1, 1, at=(140, 150, 160, 161), replica="replica-2")
    picture = picture_of(made, final=1)
    picture.mechanisms = [Mechanism.NEVER_ASKED_STORE]

    assert caption(picture) == (
        "stale at replica-1 read 0 at +0.01 s; the fault “some new harm” began in stale at +0.02 s and lasted 200 ms; "
        "b wrote 2 at +0.15 s and stale wrote 1 over it at +0.24 s (never asked the store): 2 increments lost."
    )


def test_died_and_never_freed(made):
    """A holder died with the lock, and no request got it again."""
    killed(made).line("journal/replica-1.jsonl", GaveUp(request="b", asked_ns=1, gave_up_ns=2100 * MS, why="", commands=9))

    assert caption(picture_of(made, final=0, tests="freed_after_crash")) == (
        "r0 at replica-1 held the lock when its process died at +0.01 s; "
        "no request got the lock in the 2.0 s until the end of the run, "
        "and 1 request gave up waiting; no increment was lost."
    )


def test_died_and_the_ttl_freed_it(made):
    """A holder died with the lock, and the TTL freed it."""
    made.key_event("set", 100).key_event("expire", 100).key_event("expired", 620)
    killed(made).increment("r1", 0, 0, at=(650, 651, 652, 653), replica="replica-2")

    assert caption(picture_of(made, final=1, ttl_ms=500, tests="freed_after_crash")) == (
        "r0 at replica-1 held the lock when its process died at +0.01 s; the lease ran out at +0.50 s, "
        "and r1 got the lock at +0.55 s, 540 ms after the fault; no increment was lost."
    )


def test_a_fault_without_harm(made):
    made.fault("some_new_harm", "a", 11, 30).increment("a", 0, 0, at=(10, 11, 40, 41))

    text = caption(picture_of(made, final=1))

    assert text.startswith("a at replica-1 held the lock when the fault “some new harm” began at +0.00 s and lasted 19 ms;")
    assert text.endswith("no increment was lost.")


def test_fault_that_is_over_at_once(made):
    """An exception or a lost reply has no duration to report."""
    made.fault("raise_error", "a", 11, 13).increment("a", 0, 0, at=(10, 11, 40, 41))

    assert "lasted" not in caption(picture_of(made, final=1))


def test_renewal_that_failed(made):
    """The caption of a loss names the renewal that failed in a replica of the two: no request reached its failpoint."""
    made.fault("fail_renewal", "", 110, 111, failpoint="renew.before")

    text = caption(picture_of(outlived(made), final=1, ttl_ms=300, tests="survives_a_failed_renewal"))

    assert text.startswith("A renewal at replica-1 failed at +0.10 s; r0's lease of 300 ms ended at +0.30 s; ")


def test_a_run_in_which_nothing_happened(made):
    made.increment("a", 0, 0, at=(1, 2, 3, 4)).increment("b", 1, 1, at=(10, 11, 12, 13), replica="replica-2")

    assert caption(picture_of(made, final=2)) == "2 increments were written in 0.0 s, and none was lost."


def test_a_run_in_which_nothing_was_written(made):
    made.answer("a", "failed", start_ns=1, end_ns=2)
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=1, pid=1))

    assert caption(picture_of(made, final=0)) == "Nothing was written."


@pytest.mark.parametrize(
    ("result", "where", "words"),
    [
        ("error: Refused: the fence 4 is older than 30", "write.before", "the resource refused the write of r0"),
        ("error: Refused: the fence 4 is older than 30", "write_again.before", "the resource refused the second write of r0"),
        ("error: Abandoned: the lock was no longer held", "read.after", "r0 gave its work up before the write"),
    ],
)
def test_a_holder_that_did_not_write(made, result, where, words):
    """The caption of a fault states that the late write was refused, or that its holder gave up."""
    made.fault("freeze", "r0", 110, 900).increment("r0", 0, 0, at=(100, 101, 920, 921))
    made.increment("r1", 0, 0, at=(650, 651, 652, 653), replica="replica-2")
    picture = picture_of(made, final=1, ttl_ms=500)
    holder = next(held for held in picture.held if held.request == "r0")
    holder.result, picture.focus, picture.focus_fault = result, NEVER, 0
    picture.faults[0].failpoint = where

    assert f"; {words}; " in caption(picture)


def test_requests_that_gave_up_meanwhile(made):
    """The caption of a fault counts the requests that gave up before another request got the lock."""
    killed(made).increment("r1", 0, 0, at=(650, 651, 652, 653), replica="replica-2")
    for name, gave_up_ms in (("b", 300), ("c", 400), ("d", 900)):
        made.line("journal/replica-1.jsonl", GaveUp(request=name, asked_ns=1, gave_up_ns=gave_up_ms * MS, why="", commands=9))

    text = caption(picture_of(made, final=1, tests="freed_after_crash"))

    assert "540 ms after the fault, when 2 requests had given up; " in text


def test_a_holder_beyond_its_ttl(made):
    """A run without a loss names the holder that had the lock for longer than the TTL: a renewal kept it."""
    made.increment("a", 0, 0, at=(1, 2, 451, 453))

    assert caption(picture_of(made, final=1, ttl_ms=300)) == (
        "One increment was written in 0.5 s, and none was lost, "
        "although a had the lock for 452 ms, longer than its TTL of 300 ms."
    )

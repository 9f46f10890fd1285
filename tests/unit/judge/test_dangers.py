"""Test the dangers of a run on histories with known answers: long holds, late answers, waiters that leave."""

import pytest

from app.journal import GaveUp
from lab.evidence.fault_record import Effect, FaultRecord
from tests.builders import MS, violations


def left(made, request: str, asked_ms: int, gave_up_ms: int, replica: str = "replica-1", **keys: str):
    """Add a request that asked for the lock and gave up."""
    times = {"asked_ns": asked_ms * MS, "gave_up_ns": gave_up_ms * MS}
    made.line(f"journal/{replica}.jsonl", GaveUp(request=request, why="not free", commands=9, **times, **keys))
    return made.answer(request, "failed", replica, times["asked_ns"], times["gave_up_ns"])


def patient(made, waits: list[tuple[int, int]]):
    """Add a holder until 1500 ms, a waiter that leaves before, and later waiters. waits: when each asked and was granted."""
    made.increment("holder", 0, 0, at=(10, 11, 1501, 1502), replica="replica-2").fault("slow", "holder", 12, 1500)
    left(made, "leaver", 20, 820)
    for number, (asked, got) in enumerate(waits, 1):
        at = (got, got + 1, got + 2, got + 3)
        made.increment(f"waiter-{number}", number, number, at=at, asked=asked, replica="replica-1")
    return made


def test_busy_lock_blocks_no_waiter(made):
    """Waiters of a lock that is always held wait long, but are not blocked."""
    patient(made, [])
    for number in range(10):
        at = 1600 + 100 * number
        made.increment(f"busy-{number}", number + 1, number + 1, at=(at, at + 1, at + 90, at + 95), asked=at - 790)

    assert violations(made.analyse(final=11, ttl_ms=2000, wait_ms=800, tests="waiters_may_leave")) == []


@pytest.mark.parametrize(("wait_ms", "guilty"), [(0, True), (700, False)])
def test_try_that_is_ready_to_wait(wait_ms, guilty, made):
    """A wait breaks the promise only if it is longer than the request was ready to wait."""
    made.increment("a", 0, 0, at=(0, 1, 600, 601))
    for number in range(3):
        left(made, f"left-{number}", 10, 510, "replica-2")

    assert bool(violations(made.analyse(final=1, wait_ms=wait_ms, tests="answers_a_try_at_once"))) == guilty


@pytest.mark.parametrize(("waited_ms", "guilty"), [(10, False), (5000, True)])
def test_try_without_an_answer(waited_ms, guilty, made):
    """A try without an answer counts as kept waiting, unless the load ended too soon after it."""
    made.increment("a", 0, 0, at=(0, 1, 2, 3))
    for number in range(3):
        made.answer(f"ended-{number}", "unknown", end_ns=waited_ms * MS)

    assert bool(violations(made.analyse(final=1, wait_ms=0, tests="answers_a_try_at_once"))) == guilty


@pytest.mark.parametrize("effect", [Effect.CLOCKS_JUMP, Effect.CLOCKS_BACK, Effect.SERVERS_RESTART])
@pytest.mark.parametrize(("done_ms", "is_danger"), [(140, True), (160, False)])
def test_lease_that_a_fault_met_late(effect, done_ms, is_danger, made):
    """A fault that ends or prolongs a lease after half of its time is no danger: the lease may have ended before."""
    made.increment("a", 0, 0, at=(0, 1, 280, 281)).increment("b", 0, 1, at=(170, 284, 286, 287))
    times = {"injected_ns": done_ms * MS, "done_ns": done_ms * MS, "recovered_ns": 290 * MS}
    made.line("faults.jsonl", FaultRecord("one-1", "replica-1", 1, "a", 0, **times, clocks_moved=3, effect=effect))

    measures = made.analyse(final=2, ttl_ms=300).measures

    assert (measures["clocks_moved"], measures["asked_during_fault"]) == ((3, 1) if is_danger else (0, 0))


@pytest.mark.parametrize(("keys", "freed", "faults"), [(["lock"], 15, 1), (["note"], 15, 0), ([], 15, 1), ([], 13, 0)])
def test_fault_beside_the_lock(keys, freed, faults, made):
    """A fault at other keys, or after the lock was freed, is no danger; a fault at the lock's key, or at no command, is one."""
    made.increment("a", 0, 0, at=10, released=17).key_event("set", 9).key_event("del", freed)
    times = {"at_ns": 14 * MS, "recovered_ns": 15 * MS, "recovering_ns": 15 * MS, "injected_ns": 14 * MS}
    about = {"replica": "replica-1", "pid": 1, "request": "a", "kind": "expire", "failpoint": "release.before_last"}
    made.line("faults.jsonl", FaultRecord(name="one", effect=Effect.OTHER, keys=keys, **about, **times))

    assert made.analyse(final=1, ttl_ms=300).measures["faults"] == faults


def test_fault_at_one_vote(made):
    """A lost reply of one of several servers leaves a majority, so it does not count as the danger of a run."""
    made.increment("a", 0, 0, at=10, release_commands=5).fault("lose_reply", "a", 11, 12)

    measures = made.analyse(final=1, ttl_ms=300, has_votes=True).measures

    assert (measures["faults"], measures["faults_beside"]) == (0, 1)


def test_grants_of_a_key_that_the_store_does_not_know(made):
    """If the store reports another key than the grants name, the judge notes both, as no event shows a release of the lock."""
    made.increment("a", 0, 0, at=(10, 11, 30, 31)).increment("b", 0, 1, at=(20, 21, 40, 41)).key_event("set", 9, "another")

    findings = made.analyse(final=1, ttl_ms=300, has_faults=True)

    assert (findings.strange_key, findings.known_keys) == ("lock", ["another"])

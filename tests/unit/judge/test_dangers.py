"""Long holds, late answers, waiters that leave, locks taken twice while others wait: on histories with known answers."""

import pytest

from app.journal import GaveUp
from lab.evidence.fault_record import Effect, FaultRecord
from lab.evidence.loss import Mechanism
from lab.judge.fact import Idle, Wait
from lab.judge.promises import PROMISES
from lab.judge.run_facts import RunFacts
from tests.builders import MS, found


def left(made, request: str, asked_ms: int, gave_up_ms: int, replica: str = "replica-1", **keys: str):
    """A request that asked, and gave up."""
    times = {"asked_ns": asked_ms * MS, "gave_up_ns": gave_up_ms * MS}
    made.line(f"journal/{replica}.jsonl", GaveUp(request=request, why="not free", commands=9, **times, **keys))
    return made.answer(request, "failed", replica, times["asked_ns"], times["gave_up_ns"])


def test_longest_hold_in_ttls(made):
    """Work that outlasts the TTL is counted, and the longest hold is measured in whole TTLs."""
    made.increment("a", 0, 0, at=(0, 1, 50, 51)).increment("b", 1, 1, at=(1000, 1001, 2570, 2580))

    measures = made.analyse(final=2, ttl_ms=300, lease_ms=0).measures

    assert (measures["outlasted_ttl"], measures["outlasted_ttls"]) == (1, 5)


def test_length_of_an_example():
    """A wait and a free lock are as long as from their beginning to their end, and never shorter than no time."""
    assert Wait("r", "replica-1", asked_ns=2 * MS, until_ns=5 * MS, got=True).ms == 3
    assert [Idle("a", "b", releasing_ms * MS, 5 * MS).ms for releasing_ms in (2, 7)] == [3, 0]


@pytest.mark.parametrize(
    ("failed_ms", "replica", "expected"), [(100, "replica-1", 1), (500, "replica-1", 0), (100, "replica-2", 0)]
)
def test_hold_after_a_failed_renewal(made, failed_ms, replica, expected):
    """A failed renewal is a danger if the holder in its replica goes on for longer than the TTL after it."""
    made.increment("a", 0, 0, at=(0, 1, 700, 701))
    record = FaultRecord("fail_renewal-1", replica, 1, "", failed_ms * MS, recovered_ns=failed_ms * MS)
    record.effect = Effect.RENEWAL_FAILS
    made.line("faults.jsonl", record)

    assert made.analyse(final=1, ttl_ms=300, lease_ms=0).measures["outlived_failed_renewals"] == expected


@pytest.mark.parametrize("effect", [Effect.CLOCKS_JUMP, Effect.CLOCKS_BACK, Effect.SERVERS_RESTART])
@pytest.mark.parametrize(("done_ms", "is_danger"), [(140, True), (160, False)])
def test_lease_that_a_fault_met_late(effect, done_ms, is_danger, made):
    """A fault that ends or prolongs a lease after half of it is no danger: the lease may have ended before."""
    made.increment("a", 0, 0, at=(0, 1, 280, 281)).increment("b", 0, 1, at=(170, 284, 286, 287))
    times = {"injected_ns": done_ms * MS, "done_ns": done_ms * MS, "recovered_ns": 290 * MS}
    made.line("faults.jsonl", FaultRecord("one-1", "replica-1", 1, "a", 0, **times, clocks_moved=3, effect=effect))

    measures = made.analyse(final=2, ttl_ms=300).measures

    assert (measures["clocks_moved"], measures["asked_during_fault"]) == ((3, 1) if is_danger else (0, 0))


@pytest.mark.parametrize(("kind", "next_ms", "expected"), [("kill_primary", 600, 1), ("kill_primary", 1100, 0), ("slow", 600, 0)])
def test_lock_granted_anew(made, kind, next_ms, expected):
    """A lock that is granted anew after a fault of its store is a danger while the first holder is still inside."""
    made.increment("a", 0, 0, at=(0, 1, 1000, 1001)).fault(kind, "a", 2, 1000)
    made.increment("b", 0, 1, at=(next_ms, next_ms + 1, next_ms + 900, next_ms + 901), replica="replica-2")

    assert made.analyse(final=1, ttl_ms=3000, lease_ms=0).measures["granted_anew"] == expected


@pytest.mark.parametrize(
    ("sent_ms", "has_votes", "expected"),
    [
        (10, False, [("survives_a_slow_acquire", Mechanism.TTL_OVER_IN_ACQUIRE)]),
        (10, True, [("exclusive", Mechanism.GRANTED_AFTER_VALIDITY)]),
        (999, True, [("exclusive", Mechanism.GRANTED_TO_TWO)]),  # it asked again: it holds a lock like any other
    ],
)
def test_answer_after_the_ttl(made, sent_ms, has_votes, expected):
    """A late answer is the danger of a lock in one store; of votes, the algorithm itself counts the time."""
    made.increment("late", 5, 5, at=(1000, 1001, 1040, 1041), sent_ns=sent_ms)
    made.fault("slow", "late", 11, 998, "acquire.after_first")
    made.increment("other", 5, 6, at=(990, 1002, 1050, 1051), sent_ns=989, replica="replica-2")

    assert found(made.analyse(final=6, ttl_ms=500, start=5, has_votes=has_votes)) == expected


@pytest.mark.parametrize(
    ("failpoint", "left_ms", "expected"),
    [("release.before_last", 800, 1), ("release.before_last", 700, 0), ("acquire.after_first", 700, 1)],
)
def test_late_release_meets_a_holder(made, failpoint, left_ms, expected):
    """A late release is a danger if another holds the lock when it comes, and not only before."""
    made.increment("late", 0, 0, at=(0, 1, 9, 10), released=752).fault("expire", "late", 10, 750, failpoint)
    made.increment("other", 1, 1, at=(600, 601, left_ms - 1, left_ms), replica="replica-2")

    assert made.analyse(final=2, ttl_ms=500).measures["late_releases"] == expected


@pytest.mark.parametrize(("asked_ms", "got_ms", "behind"), [(50, 200, 1), (5, 200, 0), (150, 200, 0), (50, 90, 0)])
def test_behind_a_waiter_that_left(made, asked_ms, got_ms, behind):
    """A grant was behind a leaver if the leaver had asked before, and gave up meanwhile."""
    left(made, "leaver", 10, 100)
    made.increment("next", 0, 0, at=got_ms, asked=asked_ms)

    assert made.analyse(final=1).measures["behind_a_leaver"] == behind


def patient(made, waits: list[tuple[int, int]]):
    """A holder that is held up until 1500 ms, a waiter that gives up before that, and later ones: when they asked and got it."""
    made.increment("holder", 0, 0, at=(10, 11, 1501, 1502), replica="replica-2").fault("slow", "holder", 12, 1500)
    left(made, "leaver", 20, 820)
    for number, (asked, got) in enumerate(waits, 1):
        at = (got, got + 1, got + 2, got + 3)
        made.increment(f"waiter-{number}", number, number, at=at, asked=asked, replica="replica-1")
    return made


BLOCKED = Mechanism.BLOCKED_BY_LEAVER


@pytest.mark.parametrize(
    ("waits", "claims"),
    [
        ([(1000, 1510), (1600, 1604), (1700, 1704)], []),
        ([(1000, 2600), (1600, 2610)], ["prompt_handover", "waiters_may_leave"]),  # all of them, for a long time
        ([(1000, 4600)], ["acquires_atomically", "prompt_handover", "waiters_may_leave"]),  # longer than the TTL
        ([(1000, 1510), (1600, 2400), (1700, 2500)], ["prompt_handover", "waiters_may_leave"]),  # until their patience ends
        ([(2600, 2604)], []),  # nobody waited meanwhile
    ],
)
def test_waiters_behind_a_leaver(made, waits, claims):
    """When the lock is free again, those behind a waiter that gave up get it."""
    findings = patient(made, waits).analyse(final=len(waits) + 1, ttl_ms=2000, wait_ms=800, tests="waiters_may_leave")

    assert sorted(found(findings)) == [(claim, BLOCKED) for claim in claims]


@pytest.mark.parametrize(
    ("late", "queued_ms", "accused"), [("replica-1", 15, False), ("replica-1", 0, True), ("replica-2", 15, True)]
)
def test_waiters_of_a_busy_machine(made, late, queued_ms, accused):
    """What a waiter's own replica waited for a processor, also in short gaps, is not charged to the lock."""
    patient(made, [(1000, 1510), (1600, 2329), (1700, 2429)])
    for at in range(1600, 2400, 80):
        made.stalled(at, at + 80, queued_ms=queued_ms, replica=late)

    findings = made.analyse(final=4, ttl_ms=2000, wait_ms=800, tests="waiters_may_leave")

    assert bool(found(findings)) == accused


def test_waiters_that_never_get_it(made):
    """Waiters that give up as well, although no request holds the lock, are blocked."""
    patient(made, [])
    for number in range(5):
        left(made, f"late-{number}", 1200 + 400 * number, 2000 + 400 * number)

    findings = made.analyse(final=1, ttl_ms=2000, wait_ms=800, tests="waiters_may_leave")

    assert sorted(found(findings)) == [("prompt_handover", BLOCKED), ("waiters_may_leave", BLOCKED)]
    assert findings.blocked[0].never


def test_busy_lock_blocks_nobody(made):
    """Waiters of a lock that is held all the time wait long, and are not blocked."""
    patient(made, [])
    for number in range(10):
        at = 1600 + 100 * number
        made.increment(f"busy-{number}", number + 1, number + 1, at=(at, at + 1, at + 90, at + 95), asked=at - 790)

    assert found(made.analyse(final=11, ttl_ms=2000, wait_ms=800, tests="waiters_may_leave")) == []


OUTER = {"outer_key": "lock", "outer_got_ns": 12, "outer_sent_ns": 11}


@pytest.mark.parametrize(("got_ms", "guilty"), [(397, False), (720, True)])
def test_wait_for_itself_among_others(made, got_ms, guilty):
    """Only the wait for the inner lock is a wait for itself: to get the outer one, a request may wait for others."""
    made.increment("a", 0, 0, at=(15, 16, 380, 381), released=391, outer_releasing_ns=390, **OUTER)
    left(made, "b", 1, 385, wanted="lock")
    at = (got_ms, got_ms + 1, got_ms + 2, got_ms + 3)
    made.increment("c", 1, 1, at=at, asked=1, replica="replica-2", outer_key="lock", outer_got_ns=395, outer_sent_ns=394)

    claims = found(made.analyse(final=2, ttl_ms=600, lease_ms=0, nested="same"))

    assert claims == ([("reentrant", Mechanism.WAITED_FOR_ITSELF)] if guilty else [])


@pytest.mark.parametrize(
    ("asked_ms", "next_ms", "waited", "guilty"),
    [(20, 80, 1, False), (20, 600, 1, True), (100, 600, 0, True), (500, 600, 0, False)],
)
def test_lock_after_its_last_release(made, asked_ms, next_ms, waited, guilty):
    """After the outer release a waiter gets the lock. A lock that stays had not counted its releases."""
    made.increment("a", 0, 0, at=(15, 16, 17, 18), released=70, outer_releasing_ns=69, **OUTER)
    at = (next_ms + 1, next_ms + 2, next_ms + 3, next_ms + 4)
    made.increment(
        "b", 1, 1, at=at, asked=asked_ms, replica="replica-2", outer_key="lock", outer_got_ns=next_ms, outer_sent_ns=next_ms
    )

    findings = made.analyse(final=2, ttl_ms=600, nested="same")

    assert findings.measures["waited_between_releases"] == waited
    assert found(findings) == ([("reentrant", Mechanism.STAYED_AFTER_RELEASE)] if guilty else [])


@pytest.mark.parametrize("got_ms", [65, 71])
def test_next_holder_before_the_answer_to_a_release(made, got_ms):
    """A lock does not stay where the next request has it, also if that was before the answer to the outer release."""
    made.increment("a", 0, 0, at=(15, 16, 17, 18), released=70, outer_releasing_ns=60, **OUTER)
    for name, value, outer_ms, end_ms in [("b", 1, got_ms, 700), ("c", 2, 705, 1000)]:
        outer = {"outer_key": "lock", "outer_got_ns": outer_ms, "outer_sent_ns": outer_ms, "outer_releasing_ns": end_ms - 1}
        at = (outer_ms + 1, outer_ms + 2, outer_ms + 3, outer_ms + 4)
        made.increment(name, value, value, at=at, released=end_ms, asked=20, replica=f"replica-{value + 1}", **outer)

    assert found(made.analyse(final=3, ttl_ms=600, lease_ms=0, nested="same")) == []


@pytest.mark.parametrize(("nested", "work_ms", "stretched"), [("same", 5, False), ("same", 160, True), ("", 160, False)])
def test_work_under_both_locks(nested, work_ms, stretched):
    """A request that takes the lock twice works under both and under the outer one: its lease can end where one part is short."""
    run = RunFacts(has_store=True, final=None, lease_ms=600, nested=nested, work_ms=work_ms)

    assert run.stretched is stretched


def test_refused_requests_are_no_grants(made):
    """Only a request that got the lock and wrote counts as granted: a lock that refuses everybody is no danger passed."""
    left(made, "a", 10, 11)
    assert made.analyse(final=0).measures["granted"] == 0

    made.increment("b", 0, 0)
    assert made.analyse(final=1).measures["granted"] == 1


@pytest.mark.parametrize(
    ("releasing_ms", "gives_up", "danger", "claims"),
    [
        (500, False, 1, []),
        (500, True, 1, ["loses_no_wakeup"]),
        (5, False, 0, []),  # released before the fault
    ],
)
def test_release_before_a_wait(made, releasing_ms, gives_up, danger, claims):
    """A holder releases while a waiter is held up before its wait: the waiter gets the lock, or it sleeps on."""
    made.increment("holder", 0, 0, at=(0, 1, releasing_ms, releasing_ms + 1), replica="replica-2")
    if gives_up:
        left(made, "waiter", 6, 4010)
    else:
        made.increment("waiter", 1, 1, at=(1010, 1011, 1012, 1013), asked=6)
    made.fault("slow", "waiter", 10, 1000, "acquire.after_second")

    findings = made.analyse(final=2 - gives_up, ttl_ms=10_000, wait_ms=4000, tests="loses_no_wakeup")

    assert findings.measures["released_before_a_wait"] == danger
    assert [claim for claim, _ in found(findings)] == claims


@pytest.mark.parametrize(("wait_ms", "guilty"), [(0, True), (700, False)])
def test_try_that_is_ready_to_wait(wait_ms, guilty, made):
    """A request breaks no promise by a wait that it was asked to be ready for."""
    made.increment("a", 0, 0, at=(0, 1, 600, 601))
    for number in range(3):
        left(made, f"left-{number}", 10, 510, "replica-2")

    assert bool(found(made.analyse(final=1, wait_ms=wait_ms, tests="answers_a_try_at_once"))) == guilty


@pytest.mark.parametrize(("work_ms", "gave_up_ms", "guilty"), [(4000, 9990, True), (8000, 9990, False), (8000, 2000, True)])
def test_refused_by_the_load(work_ms, gave_up_ms, guilty, made):
    """Where holders work for most of the time, those who waited to the end were refused because of the load."""
    made.increment("a", 0, 0, at=(0, 1, work_ms, work_ms))
    for number in range(3):
        left(made, f"left-{number}", 1, gave_up_ms)

    claims = [claim for claim, _ in found(made.analyse(final=1, wait_ms=10_000))]

    assert ("serves_most_requests" in claims) == guilty


@pytest.mark.parametrize(
    ("claim", "ttl_ms", "expected_ms"),
    [
        ("freed_after_crash", 500, 2000),  # what is beyond the TTL takes three times as long
        ("survives_a_lost_reply", 600, 540),  # a lock that is only freed by its TTL is still too late
        ("fair", 600, 0),  # no matter of time
    ],
)
def test_bound_on_a_slow_machine(claim, ttl_ms, expected_ms):
    """On a machine that is three times slower a hand-over takes three times as long, and a TTL does not."""
    wider = PROMISES[claim].bound.wider(3)

    assert round(wider.in_ms(ttl_ms)) == expected_ms
    assert wider.times == 3 * PROMISES[claim].bound.times

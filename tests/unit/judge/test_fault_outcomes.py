"""What faults lead to, on histories with known answers: each harm to its claim, and no accusation without one."""

import pytest

from app.journal import GaveUp, Released
from lab.evidence.fault_record import Effect, FaultRecord
from lab.evidence.history import History
from lab.evidence.loss import Mechanism
from lab.judge.entitlement import can_take_away
from lab.judge.fact import Code, Fact
from lab.judge.faults import FaultOutcome
from lab.judge.key_history import SET_OVER, KeyHistory
from lab.judge.promises import PROMISES
from tests.builders import MS, found, outlived
from tests.every import every


@pytest.mark.parametrize(("commands", "has_votes", "seen"), [(5, True, 0), (1, True, 1), (5, False, 1)])
def test_a_fault_of_one_vote(made, commands, has_votes, seen):
    """A command to one of five servers that fails shows nothing: the other four are a majority."""
    made.increment("reached", 0, 0, release_commands=commands).fault("fail_command", "reached", 3, 4, "release.before_last")

    assert made.analyse(final=1, ttl_ms=500, has_votes=has_votes).measures["faults"] == seen


@pytest.mark.parametrize(
    ("kind", "failpoint", "persists", "expected"),
    [
        ("freeze", "read.after", False, ("survives_a_freeze", Mechanism.FROZEN_PAST_LEASE)),
        ("freeze", "write.before", False, ("survives_a_late_freeze", Mechanism.FROZEN_AFTER_LAST_CHECK)),
        ("stall_redis", "read.after", False, ("stops_when_lost", Mechanism.STORE_SILENT_PAST_TTL)),
        ("cut_off", "read.after", False, ("stops_when_lost", Mechanism.CUT_OFF_PAST_TTL)),
        ("restart_redis", "read.after", False, ("survives_store_restart", Mechanism.STORE_FORGOT_LOCK)),
        ("restart_redis", "read.after", True, ("survives_persisted_restart", Mechanism.STORE_FORGOT_WRITTEN)),
        ("lose_power", "read.after", "always", ("survives_persisted_restart", Mechanism.STORE_FORGOT_SYNCED)),
        ("lose_power", "read.after", "everysec", ("survives_store_restart", Mechanism.STORE_HAD_NOT_SYNCED)),
        ("lose_power", "read.after", "no", ("survives_store_restart", Mechanism.STORE_HAD_NOT_SYNCED)),
        ("kill_primary", "read.after", False, ("survives_failover", Mechanism.NEW_PRIMARY_DID_NOT_KNOW)),
        ("split_store", "read.after", False, ("survives_failover", Mechanism.TWO_PRIMARIES)),
        ("jump_clock", "read.after", False, ("survives_clock_jump", Mechanism.CLOCK_JUMPED_PAST_TTL)),
        ("restart_nodes", "read.after", False, ("survives_amnesia", Mechanism.VOTE_FORGOTTEN)),
        ("slow", "read.after", False, ("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)),
        ("end_session", "read.after", False, ("survives_session_loss", Mechanism.SESSION_ENDED_IN_WORK)),
        ("kill_leader", "read.after", False, ("survives_failover", Mechanism.NEW_LEADER_DID_NOT_KNOW)),
    ],
)
def test_loss_under_a_fault(made, kind, failpoint, persists, expected):
    """A loss under a fault has the mechanism of that fault."""
    made.increment("reached", 0, 1, at=(0, 1, 500, 501)).increment("other", 0, 0, at=(320, 321, 330, 331), replica="replica-2")
    made.fault(kind, "reached", 2, 490, failpoint).key_event("expired", 310)

    assert found(made.analyse(final=1, ttl_ms=300, store_persists=bool(persists), store_syncs=persists or "always")) == [expected]


@pytest.mark.parametrize(("kind", "set_over"), [("kill_nodes", False), ("freeze", True)])
def test_a_killed_store_reports_no_deletion(made, kind, set_over):
    """A key that is set again after its store was killed was not set over: the store had lost it, and could not report that."""
    made.increment("reached", 0, 0).fault(kind, "reached", 2, 400)
    made.key_event("set", 1).key_event("set", 410)

    findings = made.analyse(final=1, ttl_ms=3000)
    keys = KeyHistory(History(made.folder), [outcome.record for outcome in findings.faults])

    assert keys.happened(SET_OVER, 0, 500 * MS, "lock") is set_over


@pytest.mark.parametrize(
    ("reported", "asked", "known"),
    [
        (["lock"], "lock", True),
        (["library:lock"], "lock", True),  # a library put something before the name
        (["library:lock", "other:lock"], "lock", False),  # which of the two is meant is not known
        (["lock", "library:lock"], "lock", True),
        (["library:lock"], "", False),
        (["another"], "lock", False),
    ],
)
def test_the_name_of_a_key_at_the_store(made, reported, asked, known):
    """The store knows a key by its name, or by the one longer name that has it within."""
    for number, key in enumerate(reported):
        made.key_event("set", 10 + number, key)

    assert KeyHistory(History(made.folder)).is_known(asked) is known


def test_holders_on_one_side_of_a_split(made):
    """Where the store is split, two holders in other replicas are at the same primary: the split explains nothing."""
    made.increment("reached", 0, 0).fault("split_store", "reached", 2, 490)
    made.increment("a", 1, 2, at=(400, 401, 500, 501), replica="replica-2")
    made.increment("b", 1, 1, at=(420, 421, 430, 431), replica="replica-3")

    assert ("exclusive", Mechanism.GRANTED_TO_TWO) in found(made.analyse(final=2, ttl_ms=3000))


@pytest.mark.parametrize(
    ("kind", "final", "expected"),
    [("delay_write", 1, [("survives_a_delayed_write", Mechanism.WRITE_UNCONFIRMED)]), ("delay_write", 2, []), ("slow", 1, [])],
)
def test_late_write(made, kind, final, expected):
    """A write that was given up, arrived after others and destroyed their increments breaks the promise; it may not arrive."""
    made.increment("late", 0, None, at=(0, 1, 900, 901), outcome="unknown").fault(kind, "late", 2, 800, "write.before")
    given_up = Released(request="late", releasing_ns=400 * MS, released_ns=401 * MS, result="error: no answer", commands=1)
    made.line("journal/replica-1.jsonl", given_up)
    made.increment("a", 0, 0, at=(420, 421, 430, 431), replica="replica-2")
    made.increment("b", 1, 1, at=(440, 441, 450, 451), replica="replica-2")

    assert found(made.analyse(final=final, ttl_ms=3000)) == expected


@pytest.mark.parametrize(
    ("back", "next_ms", "expected"),
    [
        (True, 2000, [("freed_with_a_clock_behind", Mechanism.CLOCK_JUMPED_BACK)]),
        (False, 2000, [("freed_after_crash", Mechanism.HOLDER_DIED)]),
        (True, 300, []),
    ],
)
def test_dead_holder_and_a_clock(made, back, next_ms, expected):
    """A lock that outlives its holder is charged to the clock of its store, where that has jumped back."""
    made.increment("dead", 0, None, outcome="unknown").fault("kill", "dead", 2, 2)
    if back:
        made.fault("turn_clock_back", "dead", 1, 1900)
    made.increment("next", 0, 0, at=next_ms, replica="replica-2")

    assert found(made.gave_up("waiter", 9000).analyse(final=1, ttl_ms=300)) == expected


def test_asked_on_each_side_of_a_split(made):
    """Requests count that asked when both sides of a split grant the lock, granted or not, on the side where they were fewer.

    Where the other side has not granted it yet, no two holders can have met.
    """
    made.increment("reached", 0, 0).fault("split_store", "reached", 2, 900)
    made.increment("here", 1, 1, at=(310, 311, 312, 313))
    for number, at in enumerate((400, 500, 520)):
        made.increment(f"there-{number}", 2 + number, 2 + number, at=at, replica="replica-2")
    for number, asked_ms in enumerate((300, 450)):
        refused = GaveUp(request=f"too-{number}", asked_ns=asked_ms * MS, gave_up_ns=600 * MS, why="not free", commands=1)
        made.line("journal/replica-1.jsonl", refused)
        made.answer(f"too-{number}", "failed")

    assert made.analyse(final=5, ttl_ms=3000).measures["asked_on_each_side"] == 1


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        (2, ("releases_atomically", Mechanism.EXPIRED_BETWEEN_CHECK_AND_DELETE)),
        (1, ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER)),
    ],
)
def test_expired_before_the_delete(made, commands, expected):
    """A lock that expired between check and delete is not mistaken for a late release, which only deletes."""
    made.increment("slow", 0, 0, released=385, release_commands=commands)
    made.fault("expire", "slow", 4, 384, "release.before_last")
    made.increment("robbed", 1, 1, at=(310, 311, 420, 421), replica="replica-2")
    made.increment("third", 1, 2, at=(400, 401, 430, 431), replica="replica-3")

    assert found(made.analyse(final=2, ttl_ms=300)) == [expected]


@pytest.mark.parametrize(
    ("replica", "claims"), [("replica-1", ["exclusive", "exclusive_in_process"]), ("replica-2", ["exclusive"])]
)
def test_work_done_again(made, replica, claims):
    """Work done again without the lock is recognised and counted."""
    made.increment("twice", 0, 0).increment("twice", 1, 2, at=(4, 5, 20, 21), turn=2, outcome=None)
    made.increment("other", 1, 1, at=(5, 6, 10, 11), replica=replica)

    without_lock = [(claim, Mechanism.WORKED_AGAIN_WITHOUT_LOCK) for claim in claims]

    assert sorted(found(made.analyse(final=2))) == [("counts_once", Mechanism.DONE_AGAIN), *without_lock]


@pytest.mark.parametrize(
    ("kind", "failpoint", "ttl_ms", "in_time_ms", "late_ms", "claim"),
    [
        ("kill", "read.before", 300, 150, 1000, "freed_after_crash"),
        ("kill", "acquire.after_first", 300, 150, 1000, "acquires_atomically"),
        ("raise_error", "acquire.after_first", 300, 150, 1000, "acquires_atomically"),
        ("lose_reply", "acquire.after_first", 300, 150, 1000, "survives_a_lost_reply"),
        ("fail_command", "release.before_last", 300, 150, 1000, "freed_after_a_failed_release"),
        ("drop_reply", "release.after_first", 300, 150, 1000, "freed_after_a_lost_release"),
        ("raise_error", "read.after", 900, 200, 910, "freed_after_failure"),  # long before the TTL: that does not count
        ("hang", "read.after", 900, 1000, 2700, "freed_after_hang"),  # soon after the TTL
    ],
)
@pytest.mark.parametrize("when", ["in time", "late", "never"])
def test_lock_is_free_in_time(made, kind, failpoint, ttl_ms, in_time_ms, late_ms, claim, when):
    """A lock must be free in time after the fault of its holder."""
    made.fault(kind, "reached", 10, 5000 if kind == "hang" else 10, failpoint)
    if when != "never":
        made.increment("next", 0, 0, at=in_time_ms if when == "in time" else late_ms, replica="replica-2")

    claims = [one for one, _ in found(made.gave_up("waiter", 9000).analyse(final=int(when != "never"), ttl_ms=ttl_ms))]

    assert claims == ([] if when == "in time" else [claim])


@pytest.mark.parametrize(("got_ms", "guilty"), [(7, False), (2, True)])
def test_lock_passes_on_before_the_fault_is_noted(got_ms, guilty, made):
    """The store carries a release out before its client notes the fault: a grant in between shows that the lock was free."""
    made.increment("reached", 0, 0, at=(0, 1, 3, 5), released=10)
    made.fault("drop_reply", "reached", 8, 8, "release.after_first")
    made.increment("at once", 1, 1, at=(got_ms, got_ms + 1, 1500, 1501), replica="replica-2")
    made.increment("next", 2, 2, at=(1503, 1504, 1505, 1506), replica="replica-3")

    claims = [claim for claim, _ in found(made.gave_up("waiter", 9000).analyse(final=3, ttl_ms=300))]

    assert ("freed_after_a_lost_release" in claims) == guilty


@pytest.mark.parametrize(
    ("kind", "failpoint", "next_ms", "claim"),
    [
        ("raise_error", "read.after", 910, "freed_after_failure"),  # that is not a lock that was freed
        ("lose_reply", "acquire.after_first", 1000, "survives_a_lost_reply"),
    ],
)
def test_reentry_in_the_replica_of_the_fault(made, kind, failpoint, next_ms, claim):
    """After a fault the same thread can enter again, by the lock that is still there: a grant in that replica proves nothing."""
    made.fault(kind, "reached", 10, 10, failpoint).increment("same thread", 0, 0, at=20)
    made.increment("next", 1, 1, at=next_ms, replica="replica-2")

    findings = made.gave_up("waiter", 9000).analyse(final=2, ttl_ms=900 if kind == "raise_error" else 300)

    assert [one for one, _ in found(findings)] == [claim]


@pytest.mark.parametrize(
    ("in_vain_ms", "next_ms", "guilty"),
    [
        ((600, 700), (1290, 1300), False),  # nobody wanted it when the bound was over, and then it was free at once
        ((600, 700), None, False),
        ((600, 700), (700, 1300), True),  # the next one waited for it
        ((100, 2000), None, True),
        ((1200, 1300), None, True),  # it was still taken long after the bound
        ((1200, 1300), (1249, 1250), False),  # another had it by then
    ],
)
def test_nobody_missed_the_lock(in_vain_ms, next_ms, guilty, made):
    """That nobody has the lock after a fault shows nothing where nobody wants it."""
    made.fault("kill", "reached", 10, 10).gave_up("in vain", in_vain_ms[1], in_vain_ms[0])
    if next_ms:
        asked, got = next_ms
        made.increment("next", 0, 0, at=got, replica="replica-2", asked=asked)

    claims = [claim for claim, _ in found(made.analyse(final=int(next_ms is not None), ttl_ms=300))]

    assert ("freed_after_crash" in claims) == guilty


@pytest.mark.parametrize(
    ("kind", "failpoint"), [("raise_error", "reached"), ("lose_reply", "acquire.after_first")], ids=["failed", "lost"]
)
@pytest.mark.parametrize(
    ("key_event", "replicas", "guilty"),
    [
        ("del", 3, False),  # the store reports that the key went: the lock was free
        ("del", 1, False),
        ("expire", 3, True),  # the key was there: a thread has re-entered it
        ("expire", 1, True),
        (None, 3, True),  # nothing is reported: another replica could have shown it
        (None, 1, False),  # nothing could have shown it
    ],
)
def test_grant_in_the_replica_of_the_fault(kind, failpoint, key_event, replicas, guilty, made):
    """A grant there shows that the lock was free, if the store reports its end, or if nothing else could show it."""
    made.fault(kind, "reached", 10, 10, failpoint)
    made.increment("same replica", 0, 0, at=(20, 21, 22, 23))
    if key_event:
        made.key_event("set", 5)
        made.key_event(key_event, 15)

    claims = found(made.gave_up("waiter", 9000).analyse(final=1, ttl_ms=900, replicas=replicas))

    assert bool(claims) == guilty


@pytest.fixture
def left(made):
    """A request whose release failed 4 ms after its acquire was sent; its lock has a TTL of 300 ms."""
    made.increment(
        "left",
        0,
        0,
        at=(1, 2, 3, 4),
        released=5,
        result="error: ConnectionError: not sent",
        sent_ns=0,
        release_commands=0,
        answer="",
    )
    made.fault("fail_command", "left", 4, 4, "release.before_last")
    return made


def test_entered_a_lock_that_was_left(left):
    """A request that gets the lock while a failed request's lock is there has re-entered it, and shows nothing of its end."""
    left.increment("same thread", 1, 1, at=(20, 21, 22, 23)).key_event("hincrby", 1).key_event("hincrby", 20)
    left.increment("next", 2, 2, at=(1350, 1351, 1352, 1353)).key_event("expired", 1345)

    findings = left.analyse(final=3, ttl_ms=300, reports_keys=True)

    assert [claim for claim, _ in found(findings)] == ["reenters_only_its_own"]
    assert (findings.measures["reentered"], findings.measures["met_a_left_lock"]) == (1, 1)
    assert [(one.request, one.left_by) for one in findings.reentered] == [("same thread", "left")]
    assert findings.faults[0].next_request == "next"


def test_late_report_of_the_release_before(left):
    """The deletion by the request before, reported while the failed request works, is not that of the lock which was left."""
    left.key_event("hincrby", 0).key_event("del", 2).key_event("hincrby", 3)
    left.increment("same thread", 1, 1, at=(20, 21, 22, 23)).key_event("hincrby", 20)

    assert [one.request for one in left.analyse(final=2, ttl_ms=300, reports_keys=True).reentered] == ["same thread"]


@pytest.mark.parametrize(
    ("got_ms", "replica", "event"),
    [
        (20, "replica-2", ("hincrby", 20)),  # another replica has no thread of this one
        (20, "replica-1", ("del", 60)),  # it was deleted, and the report came late
        (299, "replica-1", ("expired", 299)),  # its lease may be over
    ],
)
def test_lock_that_was_not_re_entered(left, got_ms, replica, event):
    """No request is accused that can have got a free lock."""
    left.increment("next", 1, 1, at=(got_ms, got_ms, got_ms + 1, got_ms + 2), replica=replica).key_event(*event)

    findings = left.analyse(final=2, ttl_ms=300, reports_keys=True)

    assert not findings.reentered
    assert findings.faults[0].next_request == "next"


def test_store_that_reports_nothing(made):
    """After a fault of the store, a deletion may go unreported: no request is accused."""
    made.fault("restart_redis", "first", 1, 2)
    made.increment("left", 0, 0, at=(11, 12, 13, 14), released=15, result="error: Refused", sent_ns=10)
    made.increment("next", 1, 1, at=(20, 21, 22, 23)).key_event("hincrby", 900)

    assert not made.analyse(final=2, ttl_ms=300, reports_keys=True).reentered


def test_met_a_left_lock(left):
    """A request that asks while a failed request's lock is there counts, also if it gives up."""
    left.line("journal/replica-1.jsonl", GaveUp(request="early", asked_ns=0, gave_up_ns=50 * MS, why="not free", commands=2))
    left.line("journal/replica-1.jsonl", GaveUp(request="met", asked_ns=60 * MS, gave_up_ns=80 * MS, why="not free", commands=2))

    assert left.analyse(final=1, ttl_ms=300, reports_keys=True).measures["met_a_left_lock"] == 1


@pytest.mark.parametrize(("nested", "claim"), [("same", "reentrant"), ("crossed", "breaks_deadlock"), ("", None)])
def test_giving_up_as_a_violation(made, nested, claim):
    """To give up is a violation only in a request that waited for itself, or in a deadlock."""
    made.increment("a", 0, 0).gave_up("b", 800)

    assert [name for name, _ in found(made.analyse(final=1, ttl_ms=300, nested=nested))] == ([claim] if claim else [])


def test_idle_lock_with_waiters(made):
    """A free lock that waiters do not take is reported where this is the question."""
    for number in range(4):
        start = 50 * number  # all requests had been waiting since the beginning
        at = (start, start + 1, start + 2, start + 10)
        made.increment(f"r{number}", number, number, at=at, asked=0, replica=f"replica-{number % 2}")

    assert ("prompt_handover", Mechanism.WAITERS_SLEPT) in found(made.analyse(final=4, tests="prompt_handover"))
    assert found(made.analyse(final=4, tests="exclusive")) == []


NO_QUEUE = {"fair": Mechanism.NO_QUEUE, "fair_in_process": Mechanism.NO_QUEUE_IN_REPLICA}


@pytest.mark.parametrize(
    ("times", "overtaken", "at", "tests", "users", "is_reported"),
    [
        (12, 2, "replica-2", "fair", 3, True),
        (12, 2, "replica-1", "fair", 3, True),
        (12, 2, "replica-1", "fair_in_process", 3, True),
        (12, 2, "replica-2", "fair_in_process", 3, False),  # only requests of another replica overtook it
        (12, 1, "replica-2", "fair", 3, False),  # a busy machine held up a single request
        (12, 1, "replica-1", "fair", 2, True),  # not while each user gets the lock five times
        (12, 2, "replica-2", "exclusive", 3, False),  # this is not the question
        (4, 2, "replica-1", "fair", 3, False),  # a request may be overtaken four times
        (5, 2, "replica-1", "fair", 3, True),
        (4, 2, "replica-1", "fair_in_process", 3, False),
        (5, 2, "replica-1", "fair_in_process", 3, True),
    ],
)
def test_overtaken_again_and_again(made, times, overtaken, at, tests, users, is_reported):
    """Where one request in ten is overtaken again and again, this is reported, if it is the question."""
    for number in range(times):
        made.increment(f"r{number}", number, number, at=10 * number + 35)
    for number in range(times, times + overtaken):
        made.increment(f"late{number}", number, number, at=200 + 10 * number, asked=0, replica=at)

    reported = [(tests, NO_QUEUE[tests])] if is_reported else []
    assert found(made.analyse(final=times + overtaken, tests=tests, users=users)) == reported


def test_order_of_requests_that_ask_at_once(made):
    """Requests that ask within a few milliseconds of each other have no order."""
    for number in range(12):
        made.increment(f"r{number}", number, number, at=10 * number + 35, asked=30 - number)

    assert found(made.analyse(final=12, tests="fair", users=2)) == []


@pytest.mark.parametrize(
    ("fails", "explicit", "claim"),
    [
        (False, False, "held_to_the_end"),  # the stage chose the lease, and nothing failed
        (True, False, "survives_a_failed_renewal"),
        (False, True, "held_past_an_explicit_lease"),  # the request chose it
    ],
)
def test_work_that_outlasts_the_lease(made, fails, explicit, claim):
    """Which claim is broken by work that outlasts the lease depends on why the lease was short."""
    outlived(made)
    if fails:
        made.fault("fail_renewal", "", 110, 110, "renew.before")

    assert {one for one, _ in found(made.analyse(final=1, ttl_ms=300, has_explicit_lease=explicit))} == {claim}


WAITING = [(1000, 1100), (1900, 2000), *((1990, at) for at in (3100, 3200, 3300, 3400))]  # when the server comes back


@pytest.mark.parametrize(
    ("asked_and_got_ms", "about", "is_broken"),
    [
        ([(1000, 1900)], {}, False),  # also after an election that took long
        ([(1000, 3500)], {}, True),  # only when the server was back
        ([(0, 3200)], {}, True),  # it was waiting all the while
        ([(3100, 3200)], {}, False),  # nobody wanted it while the server was down: the danger was not reached
        (WAITING, {"wait_ms": 1500}, False),  # others were served, and the server was back before their time was over
        (WAITING, {"wait_ms": 900}, True),  # they were served only then, long after their time
    ],
)
def test_granted_while_a_server_is_down(made, asked_and_got_ms, about, is_broken):
    """Requests still get the lock if one that asked after a server had died got it before the server was back."""
    made.fault("kill_nodes", "reached", 10, 3000, "acquire.before")
    for number, (asked, got) in enumerate(asked_and_got_ms):
        made.increment(f"r{number}", number, number, at=got, asked=asked, replica="replica-2")

    findings = made.analyse(final=len(asked_and_got_ms), ttl_ms=300, tests="available_with_a_node_down", **about)

    assert [claim for claim, _ in found(findings)] == ["available_with_a_node_down"] * is_broken


@pytest.mark.parametrize(("commands", "is_broken"), [(0, False), (1, True)])
def test_lock_that_is_handed_over_without_a_majority(made, commands, is_broken):
    """A lock that a replica hands over, and asks no server for it, was granted before most of the servers were gone."""
    made.fault("silence_nodes", "reached", 10, 3000, "acquire.before")
    made.increment("next", 0, 0, at=400, asked=300, replica="replica-2", commands=commands)

    findings = made.analyse(final=1, ttl_ms=500, tests="refuses_without_majority", has_votes=True)

    assert [claim for claim, _ in found(findings)] == ["refuses_without_majority"] * is_broken


@pytest.mark.parametrize(("others_percent", "expected"), [(60, ["available_with_a_node_down"]), (61, [])])
def test_election_on_a_crowded_machine(made, others_percent, expected):
    """Where other programs had most of the processors, an election may last until the server is back: that accuses nobody."""
    made.fault("kill_nodes", "reached", 10, 3000, "acquire.before")
    made.increment("next", 0, 0, at=3500, asked=1000, replica="replica-2")

    findings = made.analyse(final=1, ttl_ms=300, tests="available_with_a_node_down", others_percent=others_percent)

    promise = PROMISES["available_with_a_node_down"]
    assert [one.claim for one in promise.violations(findings, is_claimed=True)] == expected
    assert (promise.undecided(findings) == Fact(Code.CROWDED, others_percent)) == (not expected)


def stopped(began_ms: int, recovered_ms: int) -> FaultRecord:
    """Return the record of a process that was stopped, in replica-1."""
    times = {"at_ns": began_ms * MS, "recovered_ns": recovered_ms * MS, "recovering_ns": recovered_ms * MS}
    return FaultRecord("freeze-1", "replica-1", 1, "r1", **times, effect=Effect.PROCESS_STOPS)


@every(
    "recovered_ms, replica, granted_ms, is_taken",
    [
        (1280, "replica-1", 900, True),
        (1260, "replica-1", 900, False),  # renewals go on before the lease of 300 ms ends
        (1280, "replica-2", 900, False),
        (1280, "replica-1", 1280, False),
    ],
)
def test_fault_that_takes_a_lock_away(recovered_ms, replica, granted_ms, is_taken):
    """A process that is stopped loses the locks of its own replica, if it is stopped for as long as a lease."""
    assert can_take_away(stopped(1000, recovered_ms), replica, granted_ms * MS, 300 * MS) is is_taken


def test_who_asked_during_a_fault():
    """Requests count that asked between the beginning of a fault and its end, in its replica and in the others."""
    outcome = FaultOutcome(stopped(1000, 1300))
    for replica, asked_ms in (
        ("replica-1", 1001),
        ("replica-2", 1002),
        ("replica-2", 1299),
        ("replica-2", 1300),
        ("replica-1", 1000),
    ):
        outcome.asked(replica, asked_ms * MS)

    assert (outcome.asked_here, outcome.asked_there) == (1, 2)


@pytest.mark.parametrize(
    ("granted_ms", "waited_ms", "refused_ms", "serves"),
    [
        ([1300, 2000, 3000], [], [3100, 3200], True),
        ([1300, 2000, 3000], [], [3100, 3200, 3300], False),
        ([1300, 2000, 3000], [2100, 2200, 2300], [3100], True),  # a busy lock: who waits to the end is no witness against it
        ([1300, 1400, 1500], [2100, 2200, 2300], [3100], False),  # unless nobody is served any more
        ([], [2100], [], False),
    ],
)
def test_who_is_served_during_a_fault(granted_ms, waited_ms, refused_ms, serves):
    """A lock is available if it serves half of those who ask, without those who waited in vain for as long as they could."""
    outcome = FaultOutcome(stopped(1000, 4000))
    for asked_ms in granted_ms:
        outcome.granted(f"r{asked_ms}", asked_ms * MS, asked_ms * MS + MS)
        outcome.asked("replica-2", asked_ms * MS)
    for asked_ms in (*waited_ms, *refused_ms):
        outcome.asked("replica-2", asked_ms * MS, waited_to_the_end=asked_ms in waited_ms)

    assert outcome.serves(0.5) is serves


@every("effect, request, idle_ns", [(Effect.SERVERS_DIE, "r2", 400), (Effect.PROCESS_STOPS, "r1", 200)])
def test_grant_before_the_fault(effect, request, idle_ns):
    """A busy machine kills the store late: a grant before that shows nothing. What the replica does itself is done at once."""
    fault = FaultOutcome(FaultRecord("one-1", "replica-1", 1, "r0", at_ns=100, injected_ns=500, effect=effect))

    fault.granted("r1", 0, 300)
    fault.granted("r2", 0, 900)

    assert (fault.next_request, fault.idle_ms) == (request, pytest.approx(idle_ns / 1e6))

"""What the judge makes of locks that nobody here wrote: what it sees, and what it excuses."""

import pytest

from app.journal import GaveUp, Got, Released, Renewed, Sent, Writing, Wrote, WroteLate
from lab.evidence.history import History
from lab.evidence.loss import Mechanism
from lab.evidence.run_record import ClientFacts
from lab.judge.fact import Unseen
from lab.judge.run_facts import unseen
from tests.builders import MS, found, record_of

UNSEEN = Unseen({"set": 9}, ())
JOURNAL = "journal/replica-1.jsonl"


def renewed(made, sent: int, answered: int, **about):
    """Add a command that replica-1 sent outside all requests."""
    fields = {"key": "lock", "answer": "1", "command": "EVALSHA", "prolonged": True, "script": True} | about
    made.line(JOURNAL, Renewed(request="", sent_ns=sent * MS, renewed_ns=answered * MS, **fields))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], Mechanism.TTL_OVER_IN_WORK),  # the script only looked
        ([("hset", 101)], Mechanism.TTL_OVER_IN_WORK),  # it noted its progress
        ([("expire", 101)], Mechanism.DELETED_BY_STRANGER),  # it set a new TTL
    ],
)
def test_a_script_renews_where_the_store_says_so(made, events, expected):
    """What a script did outside all requests, only the store knows: a positive answer prolongs no lease."""
    made.key_event("set", 1).key_event("expire", 1)
    made.increment("a", 0, 0, at=(0, 1, 160, 161), key="lock")
    renewed(made, 100, 101)
    for event in events:
        made.key_event(*event)
    made.key_event("del", 140).increment("b", 0, 1, at=(149, 150, 170, 171), key="lock", replica="replica-2")

    assert [mechanism for _, mechanism in found(made.analyse(final=1, ttl_ms=120))] == [expected]


@pytest.mark.parametrize(
    ("ttl_ms", "work_ms", "expected"),
    [(300, 300, [("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)]), (300, 10, [("held_to_the_end", Mechanism.TTL_TOO_SHORT)])],
)
def test_the_end_of_a_lease_needs_a_cause(made, ttl_ms, work_ms, expected):
    """A lease that ends is an excuse where the scenario lets it end. Elsewhere such a loss makes the run void."""
    made.increment("a", 0, 0, at=(0, 1, 701, 702)).increment("b", 0, 1, at=(400, 401, 800, 801), replica="replica-2")

    assert found(made.analyse(final=1, ttl_ms=ttl_ms, work_ms=work_ms)) == expected


@pytest.mark.parametrize(
    ("queued_ms", "expected"),
    [(0, ("exclusive", Mechanism.TTL_OVER_BEFORE_WORK)), (60, ("held_to_the_end", Mechanism.TTL_TOO_SHORT))],
)
def test_time_before_the_work_is_the_locks_own(made, queued_ms, expected):
    """A holder that begins its work when its lease is over held nothing, unless it waited for a processor meanwhile.

    Nothing of the scenario takes long, and the wait is too short for a stall.
    """
    made.stalled(100, 190, queued_ms=queued_ms)
    made.increment("a", 0, 0, at=(310, 311, 330, 331), sent_ns=1, agreed=True)
    made.increment("b", 0, 1, at=(320, 321, 340, 341), replica="replica-2", sent_ns=319, agreed=True)

    assert found(made.analyse(final=1, ttl_ms=300, work_ms=10)) == [expected]


@pytest.mark.parametrize(
    ("got", "about", "has_votes", "expected"),
    [
        # a command that was refused granted nothing: what came later did
        (250, {"sent_ns": 1, "agreed": True}, False, "held_to_the_end"),
        (250, {"sent_ns": 1, "agreed": False}, False, "exclusive"),
        # votes that are asked for one by one end one by one: the lease is over with the first, and not with the last
        (30, {"sent_ns": 29, "agreed": True, "first_vote_ns": 2}, True, "held_to_the_end"),
        (30, {"sent_ns": 29, "agreed": True, "first_vote_ns": 0}, True, "exclusive"),
        # what a lock sends after its grant, for a fence or by another try, makes the lease no longer
        *((250, {"sent_ns": 249, "agreed": one, "leased_ns": 2}, False, "held_to_the_end") for one in (True, False, None)),
        *((250, {"sent_ns": 249, "agreed": one, "leased_ns": 0}, False, "exclusive") for one in (True, False, None)),
    ],
)
def test_a_lease_counts_from_what_granted_it(made, got, about, has_votes, expected):
    """A lease counts from the command that granted it."""
    made.increment("a", 0, 0, at=(got, got + 1, 400, 401), **about)
    made.increment("b", 0, 1, at=(309, 310, 410, 411), sent_ns=309, agreed=True, replica="replica-2")

    assert [claim for claim, _ in found(made.analyse(final=1, ttl_ms=300, work_ms=370, has_votes=has_votes))] == [expected]


@pytest.mark.parametrize(
    ("event", "expected"),
    [("expire", "held_to_the_end"), ("set", "held_to_the_end"), (None, "exclusive")],  # None: it found what was there before
)
def test_a_last_command_that_sets_the_ttl(made, event, expected):
    """A lease counts from a last command that sets the TTL, as after SETNX, also where the answer to it came late."""
    made.key_event("set", 1)
    if event:
        made.key_event(event, 3)
    made.increment("a", 0, 0, at=(70, 71, 400, 401), asked=0, commands=2, sent_ns=2, agreed=None)
    made.increment("b", 0, 1, at=(309, 310, 410, 411), sent_ns=308, agreed=True, replica="replica-2")

    assert [claim for claim, _ in found(made.analyse(final=1, ttl_ms=300, work_ms=370, reports_keys=True))] == [expected]


def test_two_keys_of_one_resource(made):
    """Two that lock different keys, and write to one part of a resource that loses nothing, were inside at once all the same."""
    made.increment("a", 0, 0, at=(0, 1, 20, 21), key="stripe 1")
    made.increment("b", 1, 1, at=(5, 6, 25, 26), key="stripe 2", replica="replica-2")

    assert found(made.analyse(final=2)) == [("exclusive", Mechanism.DIFFERENT_KEYS)]


def test_two_keys_of_two_parts(made):
    """Two that lock different keys, and write to different parts, keep out of each other's way."""
    for number, got in ((1, 0), (2, 5)):
        about = {"request": f"r{number}"}
        times = [moment * MS for moment in (got, got + 1, got + 20, got + 21, got + 22)]
        made.line(JOURNAL, Got(**about, key=f"stripe {number}", asked_ns=times[0], got_ns=times[0], commands=1))
        made.line(JOURNAL, Writing(**about, reading_ns=times[1], read_ns=times[1], read=0, value=1))
        made.line(JOURNAL, Wrote(**about, writing_ns=times[2], wrote_ns=times[2], value=1, overwrote=0, part=str(number)))
        made.line(JOURNAL, Released(**about, releasing_ns=times[3], released_ns=times[4], result="ok", commands=1))

    assert found(made.analyse(final=None)) == []


@pytest.mark.parametrize("changes", [{"commands": 0}, {"told_no": True}, {"release_commands": 0}])
def test_no_accusation_rests_on_unseen_commands(made, changes):
    """Where the lab does not see the lock's client, it says of no request that it never asked, or released early."""
    made.increment("victim", 0, 0, at=(0, 1, 7, 8))
    made.increment("culprit", 0, 1, at=(5, 6, 9, 10), replica="replica-2", **changes)

    assert found(made.analyse(final=1, unseen=UNSEEN)) == [("exclusive", Mechanism.GRANTED_TO_TWO)]


def test_work_that_goes_on_after_its_release(made):
    """A request releases, and its work writes later: the holder in between was not alone."""
    made.line(JOURNAL, Got(request="a", key="lock", asked_ns=0, got_ns=1 * MS, commands=1))
    made.line(JOURNAL, Released(request="a", releasing_ns=5 * MS, released_ns=6 * MS, result="error: late", commands=1))
    made.increment("b", 0, 0, at=(10, 11, 12, 13), replica="replica-2")
    made.line(JOURNAL, WroteLate(request="a", writing_ns=14 * MS, wrote_ns=15 * MS, value=2, overwrote=1))

    assert ("exclusive", Mechanism.RELEASED_EARLY) in found(made.analyse(final=2))


@pytest.mark.parametrize(
    ("late_ms", "expected"),
    [(500, ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER)), (1500, ("exclusive", Mechanism.GRANTED_TO_TWO))],
)
def test_thread_that_releases_late(made, late_ms, expected):
    """A deletion by the thread of a request that sent no release is its release, for a second: later it is nobody's."""
    made.increment("a", 0, 0, release_commands=0).increment("d", 1, 1, at=(10, 11, 12, 13))
    renewed(made, late_ms, late_ms + 1, command="DEL", script=False, prolonged=False, begun_by="a")
    at = late_ms - 190, late_ms - 189, late_ms + 50, late_ms + 51
    made.increment("b", 2, 2, at=at, replica="replica-2")
    at = late_ms + 5, late_ms + 6, late_ms + 60, late_ms + 61
    made.increment("c", 2, 3, at=at, replica="replica-3")

    assert found(made.analyse(final=3, ttl_ms=300)) == [expected]


@pytest.mark.parametrize("about", [{"command": "PEXPIRE", "script": False}, {}])
def test_its_own_renewal_deleted_it(about, made):
    """A renewal with a TTL of zero deletes the key of its own holder, also where a script sets it."""
    made.key_event("set", 1).increment("a", 0, 0, at=(0, 1, 60, 61), key="lock")
    renewed(made, 30, 31, **about)
    made.key_event("del", 31).increment("b", 0, 1, at=(40, 41, 70, 71), key="lock", replica="replica-2")

    assert found(made.analyse(final=1, ttl_ms=300)) == [("exclusive", Mechanism.RENEWAL_DELETED)]


@pytest.mark.parametrize(
    ("store", "ran", "seen", "expected"),
    [
        ("redis", {"set": 40}, {"set": 40}, None),
        ("redis", {"set": 40}, {}, {"set": 40}),
        ("redis", {"set": 40, "evalsha": 20, "get": 20}, {"set": 40, "evalsha": 20}, None),  # a script may run the last
        ("redis", {"set": 60, "evalsha": 20}, {"set": 40, "evalsha": 20}, None),  # and the first
        ("redis", {"set": 40, "eval": 20, "get": 20}, {"set": 40, "evalsha": 20}, {"eval": 20}),
        ("redis", {"set": 40, "info": 9}, {"set": 40}, None),
        ("redis", {"select": 40}, {}, None),  # it chooses a database
        ("postgresql", {"select": 40}, {}, {"select": 40}),  # it may ask for a lock
    ],
)
def test_what_no_replica_sent(made, store, ran, seen, expected):
    """The store's own count shows commands that no replica has sent; if a lock runs scripts, only their calls count."""
    sent = Sent(request="", sent_ns=1, counts=seen, ports=[7])
    made.line(JOURNAL, sent)
    clients = [ClientFacts(7), ClientFacts(8, command="get")]
    record = record_of(stage={"store": store}, commands={"lock": ran}, clients=clients, lock_servers=1)

    missing = unseen(record, History(made.folder))

    assert (missing and missing.commands) == expected
    assert missing is None or [client.port for client in missing.clients] == [8]


def test_the_lock_stays_free_behind_an_orphan(made):
    """After an acquire that failed, those who stood in the queue are served, and then nobody: the lock is stuck all the same."""
    made.increment("r0", 0, 0, at=(0, 1, 10, 11)).fault("kill", "r1", 12, 13, "acquire.after_first")
    made.increment("r2", 1, 1, at=(5, 20, 30, 31), replica="replica-2")
    made.line(JOURNAL, GaveUp(request="r3", asked_ns=15 * MS, gave_up_ns=3000 * MS, why="not free", commands=1))

    assert "acquires_atomically" in [claim for claim, _ in found(made.analyse(final=2, ttl_ms=100, has_faults=True))]


def test_a_lock_that_serves_next_to_nobody(made):
    """A lock that is free for seconds, with waiters, before any fault shows nothing by being free after one."""
    made.increment("r0", 0, 0, at=(0, 1, 10, 11)).fault("kill", "r1", 3003, 3004, "read.before")
    made.increment("r1", 1, 1, at=(3000, 3001, 3002, 3003), asked=5, replica="replica-2")
    made.increment("r2", 2, 2, at=(9000, 9001, 9002, 9003), asked=6, replica="replica-2")

    assert found(made.analyse(final=3, ttl_ms=300, has_faults=True)) == []


@pytest.mark.parametrize(
    ("pause_ms", "free_after_ms", "expected"),
    [(400, 1100, []), (400, 1300, ["freed_after_crash"]), (5, 900, ["freed_after_crash"]), (700, 1200, []), (5, 700, [])],
)
def test_a_slow_lock_has_its_time_after_a_fault(made, pause_ms, free_after_ms, expected):
    """A lock whose waiters always need a while has that while, and half a second at most, also after its TTL has passed."""
    at = 0
    for number in range(20):
        made.increment(f"r{number}", number, number, at=at, asked=0, replica="replica-2")
        at += pause_ms + 3
    made.fault("kill", "killed", at, at + 1, "read.before")
    at += free_after_ms
    made.increment("last", 20, 20, at=at, asked=0, replica="replica-2")

    assert [claim for claim, _ in found(made.analyse(final=21, ttl_ms=300, has_faults=True))] == expected

"""Test the analysis of histories with known answers, of sound and of broken locks."""

import pytest

from app.journal import Got, Renewed
from lab.evidence.loss import Mechanism
from tests.builders import MS, violations


def test_session_ends_before_the_lab_has_finished(made):
    """If a session ends before the lab records it, a request that gets the lock in between is no second holder."""
    made.increment("holder", 0, 1, at=(0, 1, 19, 20)).increment("next", 0, 0, at=(5, 6, 7, 8), replica="replica-2")
    made.fault("end_session", "holder", at_ms=2, recovered_ms=18, injected_ms=6)

    assert violations(made.analyse(final=1)) == [("survives_session_loss", Mechanism.SESSION_ENDED_IN_WORK)]


@pytest.mark.parametrize(
    ("result", "command", "answer", "released_at", "expected"),
    [
        ("not_owner", "EVALSHA", "None", 20, [("reentrant", Mechanism.INNER_RELEASE_FREED)]),
        ("ok", "DEL", "0", 20, [("reentrant", Mechanism.INNER_RELEASE_FREED)]),
        ("ok", "EVALSHA", "0", 20, []),  # the answer of a script proves nothing by itself
        ("ok", "DEL", "1", 20, []),
        ("not_owner", "EVALSHA", "None", 400, []),  # its own lease had ended by then: the inner release is not the cause
    ],
)
def test_freed_by_the_inner_release(made, result, command, answer, released_at, expected):
    """A lock that the inner release freed is told apart from a lock that expired."""
    made.increment("a", 0, 0, at=(10, 11, 12, released_at), result=result, answer=answer, command=command)

    assert violations(made.analyse(final=1, ttl_ms=300, nested="same")) == expected


def test_acquire_in_a_thread_of_the_lock(made):
    """An acquire in the lock's own thread looks like a renewal, but prolongs no lease: the store reports that it set the key."""

    def sent(sent_ms: int, answered_ms: int) -> None:
        times = {"sent_ns": sent_ms * MS, "renewed_ns": answered_ms * MS}
        made.line("journal/replica-1.jsonl", Renewed(request="", key="lock", answer="True", prolonged=True, **times))

    sent(241, 258)  # the elder's acquire; its request goes on late
    made.increment("elder", 0, 0, at=(258, 259, 900, 901), asked=240, commands=0, sent_ns=0)
    sent(530, 559)  # the younger's acquire: sent before the elder's lease can have ended, carried out after it
    made.increment("younger", 0, 1, at=(560, 561, 950, 951), asked=241, commands=0, sent_ns=0)
    for at_ms, event in ((250, "set"), (557, "expired"), (559, "set")):
        made.key_event(event, at_ms)

    assert "exclusive" not in {claim for claim, _ in violations(made.analyse(final=1, ttl_ms=300))}


def renewal(key: str, sent_ms: int, command: str = "ping") -> Renewed:
    times = {"sent_ns": sent_ms * MS, "renewed_ns": (sent_ms + 1) * MS}
    return Renewed(request="", key=key, answer="sent", command=command, prolonged=command != "connect", **times)


@pytest.mark.parametrize(("servers", "prolongs"), [((1, 2, 3), True), ((1, 2), False), ((4, 4, 4), False)])
def test_renewal_needs_a_majority(made, servers, prolongs):
    """With several servers, a renewal prolongs a lease only if three different servers agreed to it."""
    made.increment("a", 0, 0, at=(10, 11, 12, 100))
    for server in servers:
        done = Renewed(request="", key="lock", answer="1", prolonged=True, server=server, sent_ns=50 * MS, renewed_ns=51 * MS)
        made.line("journal/replica-1.jsonl", done)
    made.increment("b", 1, 1, at=(90, 101, 102, 103), replica="replica-2")

    expected = ("exclusive", Mechanism.GRANTED_TO_TWO) if prolongs else ("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)
    assert violations(made.analyse(final=2, ttl_ms=60, has_votes=True)) == [expected]


@pytest.mark.parametrize(
    ("leased_ms", "expected"),
    [(5, ("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)), (0, ("exclusive", Mechanism.GRANTED_TO_TWO))],
)
def test_lease_counts_from_the_command_that_set_the_key(made, leased_ms, expected):
    """If the acquire went on after the command that set the key, the lease counts from it; otherwise from the last command."""
    made.increment("a", 0, 0, at=(50, 51, 52, 200), asked=1, sent_ns=48, leased_ns=leased_ms)
    made.increment("b", 1, 1, at=(70, 71, 72, 73), replica="replica-2")

    assert violations(made.analyse(final=2, ttl_ms=60)) == [expected]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1", ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER)),
        ("0", ("exclusive", Mechanism.DELETED_BY_STRANGER)),  # its command deleted nothing
    ],
)
def test_release_of_a_lock_that_the_store_forgot(made, answer, expected):
    """A holder whose lock the store forgot is charged with the next holder's lock only if its command deleted a key."""
    made.increment("forgotten", 0, 0, at=(10, 11, 12, 400), answer=answer)
    made.fault("restart_redis", "forgotten", at_ms=100, recovered_ms=150)
    made.increment("robbed", 1, 2, at=(330, 331, 800, 900), replica="replica-2")
    made.increment("next", 1, 1, at=(410, 411, 412, 413), replica="replica-3", answer="1")
    for at_ms, event in ((330, "set"), (400, "del"), (410, "set"), (413, "del")):
        made.key_event(event, at_ms)

    assert expected in violations(made.analyse(final=2, has_faults=True))


def test_lease_that_is_handed_over_goes_on(made):
    """A lock that is handed over within a process gets no new lease: it ends with the lease at the store."""
    made.increment("a", 0, 0, at=(10, 11, 12, 40), sent_ns=9, release_commands=0)
    made.increment("b", 1, 1, at=(41, 42, 43, 200), commands=0)
    made.increment("c", 2, 2, at=(75, 76, 77, 78), replica="replica-2")

    assert violations(made.analyse(final=3, ttl_ms=60)) == [("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)]


@pytest.mark.parametrize("ends_ms", [200, 90])
def test_late_renewal_of_a_lock_that_was_handed_over(made, ends_ms):
    """A renewal is not taken for a release, even if a holder that sent no release started its thread."""
    made.increment("a", 0, 0, at=(10, 11, 12, 40), release_commands=0)
    made.increment("b", 1, 2, at=(41, 42, 80, ends_ms), commands=0)
    made.fault("restart_redis", "b", at_ms=43, recovered_ms=50)
    made.increment("c", 1, 1, at=(60, 61, 62, 63), replica="replica-2")
    for event, at_ms in (("set", 60), ("del", 63), ("set", 70), ("del", ends_ms)):
        made.key_event(event, at_ms)
    times = {"sent_ns": 85 * MS, "renewed_ns": 101 * MS}
    made.line("journal/replica-1.jsonl", Renewed(request="", key="lock", answer="nil", command="EVALSHA", begun_by="a", **times))

    assert violations(made.analyse(final=2, ttl_ms=5000)) == [("survives_store_restart", Mechanism.STORE_FORGOT_LOCK)]


@pytest.mark.parametrize("renewed_ms", [16, 25])
def test_grants_of_the_next_session(made, renewed_ms):
    """After a session was ended, the grants of the replica's next session are valid, whenever its first renewal was sent.

    So their releases rob no holder, and the loss has no other cause than the ended session. The session of the second
    replica is the oldest, but the lock that it gets at 40 ms is the newest.
    """

    def of_session(name: str) -> dict[str, object]:
        return {"command": "DeleteRange", "outcome": None, "session": f"session {name}"}

    for replica, session, sent_ms in (("replica-2", "1", 1), ("replica-1", "2", 3), ("replica-1", "3", renewed_ms)):
        made.line(f"journal/{replica}.jsonl", renewal(f"session {session}", sent_ms))
    made.increment("holder", 0, 2, at=(10, 11, 60, 61), asked=4, sent_ns=9, answer="0", result="not_owner", **of_session("2"))
    made.fault("end_session", "holder", at_ms=12, recovered_ms=60, injected_ms=14)
    made.increment("again", 0, 0, at=(20, 21, 22, 23), asked=5, sent_ns=19, **of_session("3"))
    made.increment("next", 1, 1, at=(40, 41, 50, 70), asked=2, sent_ns=39, replica="replica-2", **of_session("1"))
    for request in ("holder", "again", "next"):
        made.answer(request, "acknowledged")

    findings = made.analyse(final=1, ttl_ms=30_000)

    assert violations(findings) == [("survives_session_loss", Mechanism.SESSION_ENDED_IN_WORK)]
    assert findings.thefts == 0


@pytest.mark.parametrize("changes", [{"wait_ms": 0}, {"has_faults": True}, {"is_complete": False}, {"nested": "crossed"}])
def test_refusals_that_are_no_fault_of_the_lock(made, changes):
    """Refusals do not count with faults, in an incomplete run, in a deadlock, or if the requests did not wait."""
    for number in range(100):
        made.answer(f"r{number}", "failed")

    assert not violations(made.analyse(final=0, **{"wait_ms": 10_000} | changes))


@pytest.mark.parametrize(("died_ms", "mechanism"), [(20, Mechanism.GRANTED_TO_TWO), (8, None)])
def test_dead_holder_that_had_not_read(made, died_ms, mechanism):
    """A holder that died before its read held the lock until its death, and no longer: it cannot have released the lock."""
    times = {"asked_ns": 0, "sent_ns": 1, "got_ns": MS}
    made.line("journal/replica-1.jsonl", Got(request="dead", key="lock", commands=1, **times))
    made.fault("kill", "dead", died_ms, 30).answer("dead", "unknown")
    made.increment("next", 0, 0, at=(10, 11, 12, 13), replica="replica-2")

    assert violations(made.analyse(final=1)) == ([("exclusive", mechanism)] if mechanism else [])

"""The judges judged: histories with known answers, sound and guilty."""

import pytest

from app.journal import Got, Released, Renewed
from lab.evidence.loss import Mechanism
from lab.judge.fact import Code, Fact
from lab.judge.promises import PROMISES
from lab.judge.verdict import weigh
from lab.story.verdict import why as reasons
from tests.builders import MS, found, record_of


def test_write_can_restore_increments(made):
    """A write can restore increments, and the sum stays exact."""
    made.increment("a", 0, 0, at=(0, 1, 3, 4))
    made.increment("b", 1, 1, at=(5, 6, 10, 11))
    made.increment("stale", 0, 2, at=(1, 2, 12, 13), replica="replica-2")  # destroys two
    made.increment("restorer", 2, 1, at=(10, 11, 14, 15), replica="replica-3")  # had read before that: one is back

    findings = made.analyse(final=3)

    assert findings.account.lost == findings.account.destroyed == 1
    assert sum(one.destroyed for one in findings.losses.values()) == 2
    assert sum(one.restored for one in findings.losses.values()) == 1


def test_share_of_many_replicas(made):
    """A replica of many is measured against an even share."""
    for number in range(24):
        made.increment(
            f"r{number}", number, number, at=tuple(10 * number + step for step in range(4)), replica=f"replica-{number % 12}"
        )

    measures = made.analyse(final=24).measures

    assert (measures["least_share_percent"], measures["least_of_even_share_percent"]) == (8, 100)


def test_duplicate_and_loss_do_not_cancel(made):
    """A duplicate and a loss do not cancel each other."""
    made.increment("twice", 0, 0).increment("twice", 1, 1, at=(10, 11, 14, 15), turn=2, outcome=None)
    made.increment("stale", 1, 2, at=(11, 12, 20, 21), replica="replica-2")

    findings = made.analyse(final=2)

    assert findings.outcomes["acknowledged"] - 2 == 0  # net arithmetic sees nothing
    assert (findings.account.lost, findings.duplicated) == (1, 1)


@pytest.mark.parametrize("applied", [1, 0])
def test_unknown_request_leaves_a_trace(made, applied):
    """An unknown request that was applied is recognised by its trace; one that was not counts as no write."""
    made.increment("a", 0, 0)
    made.increment("killed", 1, None, at=(10, 11, 12, 13), replica="replica-2", outcome="unknown")
    made.increment("c", 1 + applied, 1 + applied, at=(20, 21, 22, 23))

    account = made.analyse(final=2 + applied).account

    assert (account.writes, account.lost, account.applied_unknowns, account.disagreement) == (2 + applied, 0, applied, None)


def test_refused_and_yet_done(made):
    """An answer of 503 states that nothing was written. Where a replica wrote all the same, the work counts for nobody."""
    made.increment("a", 0, 0, outcome="failed")

    assert found(made.analyse(final=1)) == [("counts_once", Mechanism.DONE_ALTHOUGH_REFUSED)]


@pytest.mark.parametrize(
    ("answered", "complaint"),
    [
        (1, None),
        (None, Fact(Code.NO_ANSWER, request="a", replica="replica-1", values=(1,))),
        (2, Fact(Code.OTHER_ANSWER, 2, request="a", replica="replica-1", values=(1,))),
    ],
)
def test_answer_agrees_with_the_journal(made, answered, complaint):
    """An answer has the value that its replica wrote; one without a value agrees with nothing."""
    made.increment("a", 0, 0, answered=answered)

    findings = made.analyse(final=1)

    assert findings.mismatches == ([complaint] if complaint else [])


@pytest.mark.parametrize("answered", [1, 2])
def test_answer_of_work_done_twice(made, answered):
    """A request that did its work twice may be answered with either value."""
    made.increment("a", 0, 0, answered=answered).increment("a", 1, 1, at=(5, 6, 7, 8), turn=2, outcome=None)

    findings = made.analyse(final=2)

    assert findings.duplicated == 1
    assert not findings.mismatches


def test_a_stranger_who_wrote_is_noticed(made):
    made.increment("stranger", 0, 0, outcome=None)

    assert made.analyse(final=1).mismatches == [Fact(Code.NEVER_SENT, 1)]


def test_two_inside_without_a_loss(made):
    """Two holders that were entitled at once break the promise, also where the number came out right."""
    made.increment("a", 0, 0, at=(0, 1, 2, 20)).increment("b", 1, 1, at=(5, 6, 7, 8), replica="replica-2")

    findings = made.analyse(final=2)

    assert (findings.account.lost, findings.overlapping_beliefs) == (0, 1)
    assert found(findings) == [("exclusive", Mechanism.GRANTED_TO_TWO)]


def test_no_key_no_promise(made):
    """A grant without a key promises what its write does, and not that others are kept out."""
    made.increment("a", 0, 0, at=(0, 1, 2, 20), key="").increment("b", 1, 1, at=(5, 6, 7, 8), replica="replica-2", key="")

    assert not found(made.analyse(final=2))


@pytest.mark.parametrize(
    ("has_store", "changes", "events", "expected"),
    [
        (False, {"key": ""}, [], Mechanism.NO_LOCK),
        (True, {"key": ""}, [], Mechanism.NO_LOCK),
        (False, {"key": "", "replica": "replica-1"}, [], Mechanism.NO_LOCK),
        (False, {}, [], Mechanism.PROCESS_LOCAL),
        (False, {"replica": "replica-1"}, [], Mechanism.NO_LOCK),
        (True, {"commands": 0}, [], Mechanism.NEVER_ASKED_STORE),
        (True, {"told_no": True}, [], Mechanism.ENTERED_ALTHOUGH_REFUSED),
        (True, {"told_no": True, "replica": "replica-1"}, [], Mechanism.ENTERED_ALTHOUGH_REFUSED),
        (True, {"release_commands": 0}, [], Mechanism.RELEASED_EARLY),
        (True, {}, [("expired", 4)], Mechanism.EXPIRED_BEFORE_TTL),
        (True, {"key": "another"}, [], Mechanism.DIFFERENT_KEYS),
        (True, {}, [("set", 1), ("set", 4)], Mechanism.GRANTED_TWICE),
        (True, {}, [("set", 1), ("set", 4, "another")], Mechanism.GRANTED_TO_TWO),
    ],
)
def test_mechanism_follows_the_evidence(made, has_store, changes, events, expected):
    """Each mechanism follows from the evidence. Two in one process break both kinds of mutual exclusion."""
    made.increment("victim", 0, 0, at=(0, 1, 7, 8), key="" if changes.get("key") == "" else "lock")
    made.increment("culprit", 0, 1, at=(5, 6, 9, 10), **({"replica": "replica-2"} | changes))
    for event in events:
        made.key_event(*event)

    claims = ["exclusive", *(["exclusive_in_process"] if "replica" in changes else [])]

    assert found(made.analyse(final=1, has_store=has_store)) == [(claim, expected) for claim in claims]


@pytest.mark.parametrize(
    ("answer", "command", "events", "expected"),
    [
        ("1", "DEL", [], ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER)),
        ("1", "EVALSHA", [("del", 71)], ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER)),
        ("0", "EVALSHA", [("del", 71)], ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER)),
        ("1", "DEL", [("del", 71, "a note")], ("exclusive", Mechanism.GRANTED_TO_TWO)),
        ("0", "DEL", [], ("exclusive", Mechanism.GRANTED_TO_TWO)),
        ("0", "ZREM", [("zrem", 71), ("del", 71)], ("exclusive", Mechanism.DELETED_BY_STRANGER)),
        ("1", "ZREM", [("zrem", 71), ("del", 71)], ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER)),
        ("1", "EVALSHA", [("expired", 71)], ("exclusive", Mechanism.EXPIRED_BEFORE_TTL)),
        ("1", "EVALSHA", [("expired", 71, "a note")], ("exclusive", Mechanism.GRANTED_TO_TWO)),
    ],
)
def test_deleted_or_expired(made, answer, command, events, expected):
    """A lock that a third request deleted is not mistaken for one that ended early. Only events of the lock's own key count."""
    for event in events:
        made.key_event(*event)
    made.increment("late", 0, 0, at=(0, 1, 60, 70), answer=answer, command=command)
    made.increment("robbed", 1, 1, at=(51, 61, 100, 101), replica="replica-2")
    made.increment("third", 1, 2, at=(72, 73, 120, 121), replica="replica-3")

    violations = found(made.analyse(final=2, ttl_ms=50))

    assert [one for one in violations if one[0] != "held_to_the_end"] == [expected]
    assert ("held_to_the_end", Mechanism.TTL_OVER_IN_WORK) in violations


@pytest.mark.parametrize(("release_sent", "thief"), [(70, True), (90, False)])
def test_release_that_was_delayed(made, release_sent, thief):
    """A release of one command takes nothing before that is sent: what was deleted while a fault delayed it is another's deed."""
    for event, at_ms in (("set", 0), ("del", 58), ("set", 59), ("del", 71), ("set", 72)):
        made.key_event(event, at_ms)
    made.increment("late", 0, 0, at=(0, 1, 60, 69), released=92, release_sent=release_sent, answer="0", command="EVALSHA")
    made.increment("elder", 1, 1, at=(61, 62, 100, 101), replica="replica-2")
    made.increment("younger", 1, 2, at=(73, 74, 120, 121), replica="replica-3")

    claims = {claim for claim, _ in found(made.analyse(final=2, ttl_ms=50))}

    assert ("releases_only_its_own" in claims) == thief


def test_robbed_before_its_return(made):
    """A lock can be deleted before its holder's acquire has returned: the chain of thefts goes on through that holder."""
    made.increment("late", 0, 0, at=(0, 1, 60, 70), released=72)
    made.increment("robbed", 1, 1, at=(73, 74, 90, 95), released=97, sent_ns=71, replica="replica-2")
    made.increment("next", 1, 2, at=(80, 81, 100, 120), replica="replica-3")
    made.increment("third", 2, 2, at=(98, 99, 119, 125), replica="replica-2")

    violations = found(made.analyse(final=3, ttl_ms=50))

    assert ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER) in violations
    assert [one for one in violations if one[0] == "exclusive"] == []


def test_outer_lock_is_stolen(made):
    """Of two nested locks, the outer one can be stolen as well as the inner one, by a release of either."""
    outer = {"outer_got_ns": 1, "outer_sent_ns": 0}
    made.increment("late", 0, 0, at=(2, 3, 60, 61), released=64, key="one", outer_key="two", outer_releasing_ns=62, **outer)
    outer = {"outer_got_ns": 53, "outer_sent_ns": 52}
    made.increment("robbed", 2, 2, at=(80, 81, 90, 91), released=94, key="two", outer_key="one", outer_releasing_ns=92, **outer)
    made.increment("third", 1, 1, at=(70, 71, 75, 85), key="one", replica="replica-3")

    assert found(made.analyse(final=3, ttl_ms=50)) == [("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER)]


def test_a_slow_grant_is_not_the_older_one(made):
    """Whose command was long under way, and whose key was made after the theft, had not been robbed itself."""
    for event, at_ms in [("set", 1), ("expired", 52), ("set", 71), ("del", 81), ("set", 91), ("del", 97)]:
        made.key_event(event, at_ms)
    made.increment("thief", 0, 0, at=(1, 2, 79, 80), released=82)
    made.increment("robbed", 1, 1, at=(72, 73, 95, 96), sent_ns=70, replica="replica-2")
    made.increment("slow", 1, 2, at=(92, 93, 97, 98), sent_ns=60, replica="replica-3")

    assert ("exclusive", Mechanism.GRANTED_TO_TWO) not in found(made.analyse(final=2, ttl_ms=50))


def test_inner_lock_is_deleted_by_its_own_holder(made):
    """Whose inner release was answered has deleted nothing later: what is deleted then is the next holder's own release."""
    for event, at_ms, key in [
        ("set", 61, "one"),
        ("expired", 85, "two"),
        ("set", 85, "two"),
        ("del", 88, "one"),
        ("set", 94, "one"),
    ]:
        made.key_event(event, at_ms, key)
    about = {"key": "one", "outer_key": "two", "command": "EVAL", "release_commands": 2}
    outer = {"outer_got_ns": 1, "outer_sent_ns": 0, "outer_releasing_ns": 62}
    made.increment("late", 0, 0, at=(2, 3, 59, 60), released=75, answer="0", **about, **outer)
    outer = {"outer_got_ns": 41, "outer_sent_ns": 40, "outer_releasing_ns": 93}
    made.increment("next", 1, 1, at=(63, 64, 69, 70), sent_ns=61, released=97, replica="replica-2", **about, **outer)
    outer = {"outer_got_ns": 86, "outer_sent_ns": 85, "outer_releasing_ns": 106}
    made.increment("last", 2, 2, at=(95, 96, 99, 100), sent_ns=94, released=108, replica="replica-3", **about, **outer)

    assert ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER) not in found(made.analyse(final=3, ttl_ms=50))


def test_ended_lease_is_not_stolen(made):
    """A lock whose lease had ended when the next holder came in was not stolen, whatever was deleted at that time."""
    made.key_event("del", 71)
    made.increment("late", 0, 0, at=(0, 1, 60, 70), answer="0", command="EVALSHA")
    made.increment("long", 1, 1, at=(51, 61, 130, 131), replica="replica-2", answer="0", command="EVALSHA")
    made.increment("next", 1, 2, at=(110, 111, 140, 141), replica="replica-3", answer="1", command="EVALSHA")

    assert found(made.analyse(final=2, ttl_ms=50)) == [("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)]


def test_refused_request_deletes_a_row(made):
    """A request that was refused and deleted another's row has no excuse: the scenario did not bring it about."""
    made.increment("first", 0, 0, at=(0, 1, 20, 21))
    made.increment(
        "intruder", 0, 1, at=(2, 3, 30, 4), told_no=True, command="DELETE", replica="replica-3", key="lock", outcome=None
    )
    made.answer("intruder", "acknowledged")
    made.increment("second", 0, 1, at=(5, 6, 25, 31), replica="replica-2")

    assert ("exclusive", Mechanism.DELETED_BY_STRANGER) in found(made.analyse(final=1))


def test_session_ends_before_the_lab_has_finished(made):
    """A session may end before the lab records that it has ended it: a request that comes in meanwhile is no second holder."""
    made.increment("holder", 0, 1, at=(0, 1, 19, 20)).increment("next", 0, 0, at=(5, 6, 7, 8), replica="replica-2")
    made.fault("end_session", "holder", at_ms=2, recovered_ms=18, injected_ms=6)

    assert found(made.analyse(final=1)) == [("survives_session_loss", Mechanism.SESSION_ENDED_IN_WORK)]


@pytest.mark.parametrize(
    ("replica", "answer", "mechanism"),
    [
        ("replica-2", "1", Mechanism.RENEWED_BY_ANOTHER),
        ("replica-2", "0", Mechanism.HOLDER_DIED),
        ("replica-1", "1", Mechanism.HOLDER_DIED),
    ],
)
def test_renewer_of_a_dead_holders_lock(made, replica, answer, mechanism):
    """The mechanism names what keeps the lock of a dead holder alive."""
    made.increment("dead", 0, None, at=(10, 11, 12, 13), outcome="unknown").fault("kill", "dead", 20, 30)
    made.line(
        f"journal/{replica}.jsonl", Renewed(request="", key="lock", renewed_ns=200 * MS, answer=answer, prolonged=answer == "1")
    )
    made.increment("next", 0, 0, at=(2000, 2001, 2002, 2003), replica="replica-3")

    assert found(made.gave_up("waiter", 9000).analyse(final=1, ttl_ms=300)) == [("freed_after_crash", mechanism)]


@pytest.mark.parametrize(
    ("result", "command", "answer", "released_at", "expected"),
    [
        ("not_owner", "EVALSHA", "None", 20, [("reentrant", Mechanism.INNER_RELEASE_FREED)]),
        ("ok", "DEL", "0", 20, [("reentrant", Mechanism.INNER_RELEASE_FREED)]),
        ("ok", "EVALSHA", "0", 20, []),  # what a script answers means nothing by itself
        ("ok", "DEL", "1", 20, []),
        ("not_owner", "EVALSHA", "None", 400, []),  # its own lease was over by then: that is another story
    ],
)
def test_freed_by_the_inner_release(made, result, command, answer, released_at, expected):
    """A lock that the inner release freed is not mistaken for a lock that expired."""
    made.increment("a", 0, 0, at=(10, 11, 12, released_at), result=result, answer=answer, command=command)

    assert found(made.analyse(final=1, ttl_ms=300, nested="same")) == expected


@pytest.mark.parametrize(("came_in", "expected"), [(15, [("reentrant", Mechanism.INNER_RELEASE_FREED)]), (35, [])])
def test_inner_release_lets_another_in(made, came_in, expected):
    """Between the inner release and the outer one, the lock is still held."""
    outer = {"outer_key": "lock", "outer_got_ns": 2, "outer_sent_ns": 1, "outer_releasing_ns": 30}
    made.increment("a", 0, 0, at=(5, 6, 8, 10), released=31, **outer)
    made.increment("b", 1, 1, at=(came_in, 36, 37, 38), replica="replica-2")

    assert found(made.analyse(final=2, ttl_ms=300, nested="same")) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0, 1, 6, 5), (5, 5, 8, 9)),  # a transaction writes when it commits, after its work: two were inside until then
        ((0, 1, 4, 5), (6, 7, 8, 9)),  # the second should have read the value that it overwrote
    ],
)
def test_loss_without_an_overlap(made, first, second):
    """A write over a value that its request had not read is charged to a lock that let two in."""
    made.increment("a", 0, 0, at=first, released=7).increment("b", 0, 1, at=second, replica="replica-2")

    assert found(made.analyse(final=1)) == [("exclusive", Mechanism.GRANTED_TO_TWO)]


@pytest.mark.parametrize(("release_commands", "expected"), [(0, []), (1, [("exclusive", Mechanism.NEVER_ASKED_STORE)])])
def test_handed_over_inside_a_process(made, release_commands, expected):
    """A request may hold what a request of its process left to it. It may not go in without asking while another one holds."""
    made.increment("first", 0, 0, at=(0, 1, 8, 10), release_commands=release_commands)
    made.increment("second", 1, 1, at=(11, 12, 14, 20), commands=0)
    made.increment("other", 2, 2, at=(15, 21, 22, 23) if release_commands else (30, 31, 32, 33), replica="replica-2")

    assert found(made.analyse(final=3, ttl_ms=300)) == expected


def test_handed_over_a_thousand_times(made):
    """A lock may go through many hands of a process: the last holder did not go in without asking, wherever the fault is."""
    made.increment("first", 0, 0, release_commands=0)
    for hand in range(1, 1020):
        begins, is_last = 4 * hand, hand == 1019
        at = (begins, begins + 1, begins + 2, begins + 3)
        made.increment(f"hand-{hand}", hand, hand, at=at, commands=0, release_commands=int(is_last))
    made.increment("other", 1019, 1020, at=(4077, 4090, 4091, 4092), replica="replica-2")

    assert found(made.analyse(final=1020, ttl_ms=9000)) == [("exclusive", Mechanism.GRANTED_TO_TWO)]


@pytest.mark.parametrize(
    ("left_at", "expected"),
    [
        (100, [("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)]),  # with 200 ms of the lease: the work was too long
        (250, [("exclusive", Mechanism.GRANTED_TO_TWO)]),  # with 50 ms of it: that was no lease to hand over
    ],
)
def test_lease_handed_over_inside_a_process(made, left_at, expected):
    """A lease of 300 ms that is left to a request of the same process goes on, and it can rely on half a lease."""
    made.increment("first", 0, 0, at=(0, 1, left_at - 10, left_at), release_commands=0)
    made.increment("second", 1, 1, at=(left_at, left_at + 1, left_at + 90, 500), commands=0)
    made.increment("other", 2, 2, at=(310, 345, 348, 349), replica="replica-2")

    assert found(made.analyse(final=3, ttl_ms=300)) == expected


def test_lock_left_inside_a_process_is_not_free(made):
    """How long a lock stays free is measured where it was given back to the store, not where a thread left it to the next one."""
    made.increment("first", 0, 0, at=(3, 4, 8, 10), release_commands=0)
    made.increment("second", 1, 1, at=(11, 12, 14, 20), commands=0, asked=5)
    made.increment("other", 2, 2, at=(50, 51, 52, 53), asked=6, replica="replica-2")

    findings = made.analyse(final=3, tests="prompt_handover")

    assert [idle.ms for idle in findings.idle_times] == [30]
    assert findings.measures["handovers"] == 2


@pytest.mark.parametrize(
    ("sent_ms", "prolonged", "expected"),
    [
        (40, True, [("exclusive", Mechanism.GRANTED_TO_TWO)]),
        (40, False, [("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)]),
        (65, True, [("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)]),  # too late: the lease had ended
    ],
)
def test_renewal_prolongs_a_lease(made, sent_ms, prolonged, expected):
    """A renewal prolongs the lease if it was sent before the lease ended."""
    made.increment("a", 0, 0, at=(0, 1, 2, 90))
    times = {"sent_ns": sent_ms * MS, "renewed_ns": (sent_ms + 1) * MS}
    made.line("journal/replica-1.jsonl", Renewed(request="", key="lock", answer="1", prolonged=prolonged, **times))
    made.increment("b", 1, 1, at=(70, 96, 97, 98), replica="replica-2")

    assert found(made.analyse(final=2, ttl_ms=60)) == expected


@pytest.mark.parametrize(
    ("asked_ms", "expected"),
    [(241, []), (540, [("exclusive", Mechanism.GRANTED_TO_TWO)])],
)
def test_acquire_in_a_thread_of_the_lock(made, asked_ms, expected):
    """An acquire of the lock's own thread looks like a renewal, and prolongs no lease. A command from before was no acquire."""

    def sent(sent_ms: int, answered_ms: int) -> None:
        times = {"sent_ns": sent_ms * MS, "renewed_ns": answered_ms * MS}
        made.line("journal/replica-1.jsonl", Renewed(request="", key="lock", answer="True", prolonged=True, **times))

    sent(241, 258)  # the elder's; its request goes on late
    made.increment("elder", 0, 0, at=(258, 259, 900, 901), asked=240, commands=0, sent_ns=0)
    sent(530, 559)  # sent before the elder's lease can have ended, carried out after that
    made.increment("younger", 0, 1, at=(560, 561, 950, 951), asked=asked_ms, commands=0, sent_ns=0)

    assert [one for one in found(made.analyse(final=1, ttl_ms=300)) if one[0] == "exclusive"] == expected


def renewal(key: str, sent_ms: int, command: str = "ping") -> Renewed:
    times = {"sent_ns": sent_ms * MS, "renewed_ns": (sent_ms + 1) * MS}
    return Renewed(request="", key=key, answer="sent", command=command, prolonged=command != "connect", **times)


@pytest.mark.parametrize(
    ("key", "own", "prolongs"),
    [
        ("session", None, True),
        ("session 1", None, True),
        ("session 2", None, False),
        ("session 1", "session 1", True),
        ("session 1", "session 7", False),
        ("session 1", "", False),
        ("lock/7f-1", None, True),
        ("/locks/lock", None, True),
        ("lock2/1", None, False),
    ],
)
def test_renewal_belongs_to_its_grants(made, key, own, prolongs):
    """A renewal prolongs the grants of its key, of a queue of its key, or of its session, and none from before that session.

    own: the session on which the grant hangs, where that is known.
    """
    made.line("journal/replica-1.jsonl", renewal("session 1", 0, "connect"))
    made.increment("a", 0, 0, at=(10, 11, 12, 100), session=own)
    made.line("journal/replica-1.jsonl", renewal("session 2", 20, "connect"))
    made.line("journal/replica-1.jsonl", renewal(key, 50))
    made.increment("b", 1, 1, at=(90, 101, 102, 103), replica="replica-2")

    expected = ("exclusive", Mechanism.GRANTED_TO_TWO) if prolongs else ("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)
    assert found(made.analyse(final=2, ttl_ms=60)) == [expected]


@pytest.mark.parametrize(("servers", "prolongs"), [((1, 2, 3), True), ((1, 2), False), ((4, 4, 4), False)])
def test_renewal_needs_a_majority(made, servers, prolongs):
    """Of several servers, three must have agreed to a renewal before it prolongs a lease."""
    made.increment("a", 0, 0, at=(10, 11, 12, 100))
    for server in servers:
        done = Renewed(request="", key="lock", answer="1", prolonged=True, server=server, sent_ns=50 * MS, renewed_ns=51 * MS)
        made.line("journal/replica-1.jsonl", done)
    made.increment("b", 1, 1, at=(90, 101, 102, 103), replica="replica-2")

    expected = ("exclusive", Mechanism.GRANTED_TO_TWO) if prolongs else ("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)
    assert found(made.analyse(final=2, ttl_ms=60, has_votes=True)) == [expected]


@pytest.mark.parametrize(("renewed_ms", "expected"), [(5, []), (45, [("exclusive", Mechanism.GRANTED_TO_TWO)])])
def test_lease_of_a_session_counts_from_its_renewal(made, renewed_ms, expected):
    """Where a lease has begun before the grant, it counts from the last renewal of its session, not from the asking."""
    made.line("journal/replica-1.jsonl", renewal("session 1", renewed_ms))
    made.increment("a", 0, 0, at=(50, 51, 52, 100), asked=2)
    made.increment("b", 1, 1, at=(90, 101, 102, 103), replica="replica-2")

    ended = [("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)]
    assert found(made.analyse(final=2, ttl_ms=60, leases_begin_before=True)) == (expected or ended)


def test_renewal_of_the_younger_of_two(made):
    """A renewal that is sent when another request of the replica is inside as well says nothing of the lock that was stolen."""
    made.increment("stopped", 0, 0, at=(10, 11, 950, 951)).fault("freeze", "stopped", 12, 900)
    made.increment("thief", 0, 1, at=(920, 921, 1000, 1001), replica="replica-2")
    made.increment("elder", 1, 1, at=(955, 956, 1100, 1101)).increment("younger", 1, 2, at=(1005, 1006, 1200, 1201))
    for at_ms, event in ((312, "expired"), (920, "set"), (952, "del"), (955, "set"), (1002, "del"), (1005, "set"), (1102, "del")):
        made.key_event(event, at_ms)
    times = {"sent_ns": 1050 * MS, "renewed_ns": 1051 * MS}
    made.line("journal/replica-1.jsonl", Renewed(request="", key="lock", answer="1", prolonged=True, **times))

    claims = {claim for claim, _ in found(made.analyse(final=2, ttl_ms=300))}

    assert claims == {"survives_a_freeze", "releases_only_its_own"}


@pytest.mark.parametrize("renewed_ms", [16, 25])
def test_grants_of_the_next_session(made, renewed_ms):
    """When a session was ended, the grants of the next one have lost nothing, whenever its first renewal is known.

    So their releases rob no holder, and the losses of the session that was ended have no other cause. The session of the other
    replica is the oldest, and the lock that it gets at 40 ms is not.
    """
    of_a_session = {"command": "DeleteRange", "outcome": None}
    for replica, session, sent_ms in (("replica-2", "1", 1), ("replica-1", "2", 3), ("replica-1", "3", renewed_ms)):
        made.line(f"journal/{replica}.jsonl", renewal(f"session {session}", sent_ms))
    made.increment("holder", 0, 2, at=(10, 11, 60, 61), asked=4, sent_ns=9, answer="0", result="not_owner", **of_a_session)
    made.fault("end_session", "holder", at_ms=12, recovered_ms=60, injected_ms=14)
    made.increment("again", 0, 0, at=(20, 21, 22, 23), asked=5, sent_ns=19, **of_a_session)
    made.increment("next", 1, 1, at=(40, 41, 50, 70), asked=2, sent_ns=39, replica="replica-2", **of_a_session)
    for request in ("holder", "again", "next"):
        made.answer(request, "acknowledged")

    findings = made.analyse(final=1, ttl_ms=30_000, leases_begin_before=True)

    assert found(findings) == [("survives_session_loss", Mechanism.SESSION_ENDED_IN_WORK)]
    assert findings.thefts == 0


def test_acknowledged_and_lost_from_the_journal(made):
    """A write whose line is missing in the journal is no proof that the work was never done."""
    made.increment("a", 0, 0).answer("b", "acknowledged", "replica-1")
    made.increment("c", 2, 2, at=(10, 11, 12, 13))

    findings = made.analyse(final=3)

    assert not found(findings)
    assert findings.unwritten == 1
    assert findings.account.disagreement


@pytest.mark.parametrize(("overwrote", "asked", "measured"), [(1, 1, 1), (None, 1, 0), (1, 10, 0)])
def test_handover_needs_a_waiter_that_writes(made, overwrote, asked, measured):
    """A hand-over counts where a request waited, once it has written: a fence that refuses all proves nothing."""
    made.increment("a", 0, 0)
    made.increment("b", 1, overwrote, at=(10, 11, 12, 13), asked=asked, replica="replica-2", outcome=None)
    if overwrote is None:
        refused = Released(request="b", releasing_ns=13 * MS, released_ns=14 * MS, result="error: Refused", commands=1)
        made.line("journal/replica-2.jsonl", refused)

    measures = made.analyse(final=2).measures

    assert (measures["handovers"], measures["handovers_between_replicas"]) == (measured, measured)


def test_handover_without_mutual_exclusion(made):
    """A request that came in while another was inside, and was done before it, was handed over to all the same."""
    made.increment("a", 0, 0, at=(10, 11, 12, 40), key="")
    made.increment("b", 1, 1, at=(20, 21, 22, 30), asked=1, key="", replica="replica-2")

    assert made.analyse(final=2).measures["handovers_between_replicas"] == 1


@pytest.mark.parametrize(("refused", "expected"), [(50, []), (51, [("serves_most_requests", Mechanism.TOO_MANY_REFUSED)])])
def test_requests_that_were_refused(made, refused, expected):
    """A lock that refuses more than half of the patient requests breaks its promise to serve."""
    for number in range(100):
        made.answer(f"r{number}", "failed" if number < refused else "unknown")

    assert found(made.analyse(final=0, wait_ms=10_000)) == expected


def test_refusals_say_why(made):
    """With the refusals of a lock that breaks its promise to serve stands the most frequent reason: it may be an error."""
    for number in range(3):
        made.gave_up(f"r{number}", 100)
    made.answer("r3", "unknown")
    (broken,) = PROMISES["serves_most_requests"].violations(made.analyse(final=0, wait_ms=10_000))

    assert broken.seen == [Fact(Code.TOO_MANY_REFUSED, 3, of=4), Fact(Code.MOSTLY_BECAUSE, 3, detail="not free")]


@pytest.mark.parametrize(("held_ms", "expected"), [(450, []), (200, [("serves_most_requests", Mechanism.TOO_MANY_REFUSED)])])
def test_work_that_does_not_fit_into_the_ttl(made, held_ms, expected):
    """Work that is given up because it lasted longer than the TTL was not refused by the lock; work that fits was.

    Why it was given up is on record, as the reason of a refusal is.
    """
    for number in range(10):
        begun_ms = number * 1000
        about = {"request": f"r{number}", "turn": 1, "commands": 1}
        made.line("journal/replica-1.jsonl", Got(**about, key="lock", asked_ns=begun_ms * MS, got_ns=(begun_ms + 1) * MS))
        times = {"releasing_ns": (begun_ms + 1 + held_ms) * MS, "released_ns": (begun_ms + 2 + held_ms) * MS}
        made.line("journal/replica-1.jsonl", Released(**about, **times, result="error: Abandoned", command="", answer=""))
        made.answer(f"r{number}", "failed")
    findings = made.analyse(final=0, wait_ms=10_000, ttl_ms=300)

    assert found(findings) == expected
    assert findings.whys == {"Abandoned": 10}


@pytest.mark.parametrize("changes", [{"wait_ms": 0}, {"has_faults": True}, {"is_complete": False}, {"nested": "crossed"}])
def test_refusals_that_are_no_fault_of_the_lock(made, changes):
    """Refusals count only where nothing failed and the requests were patient."""
    for number in range(100):
        made.answer(f"r{number}", "failed")

    assert not found(made.analyse(final=0, **{"wait_ms": 10_000} | changes))


@pytest.mark.parametrize("ended", ["by a fault", "with the run", "with a run cut short"])
@pytest.mark.parametrize("left_out", [(b"releas",), (b"releas", b"wrote")])
def test_holder_may_have_released(made, left_out, ended):
    """A holder whose release is not on record may have sent it after its last line: it is entitled no longer."""
    made.increment("dead", 0, 0, at=(0, 1, 5, 6), outcome="unknown")
    lines = (made.folder / "journal/replica-1.jsonl").read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not any(word in line for word in left_out)]
    (made.folder / "journal/replica-1.jsonl").write_bytes(b"".join(kept))
    if ended == "by a fault":
        made.fault("kill", "next", 9, 20)
    made.increment("next", 1, 1, at=(8, 10, 11, 12), replica="replica-2")
    made.increment("third", 2, 2, at=(30, 31, 32, 33), replica="replica-2")

    findings = made.analyse(final=3, is_complete=ended != "with a run cut short")

    unwritten_at_the_end = ended == "with the run" and b"wrote" in left_out  # its work had not ended: it released nothing
    assert bool(found(findings)) == unwritten_at_the_end


@pytest.mark.parametrize(("died_ms", "mechanism"), [(20, Mechanism.GRANTED_TO_TWO), (8, None)])
def test_dead_holder_that_had_not_read(made, died_ms, mechanism):
    """A holder that died before it read held the lock until then, and no longer: it can have released nothing."""
    times = {"asked_ns": 0, "sent_ns": 1, "got_ns": MS}
    made.line("journal/replica-1.jsonl", Got(request="dead", key="lock", commands=1, **times))
    made.fault("kill", "dead", died_ms, 30).answer("dead", "unknown")
    made.increment("next", 0, 0, at=(10, 11, 12, 13), replica="replica-2")

    assert found(made.analyse(final=1)) == ([("exclusive", mechanism)] if mechanism else [])


def test_went_in_after_an_error(made):
    """A request that the store never answered was never granted anything, unless the lease of the other had ended."""
    made.increment("a", 0, 0, at=(0, 1, 701, 702))
    made.increment("b", 0, 1, at=(400, 401, 702, 703), commands=0, replica="replica-2")

    assert found(made.analyse(final=1, ttl_ms=900)) == [("exclusive", Mechanism.NEVER_ASKED_STORE)]
    assert found(made.analyse(final=1, ttl_ms=300)) == [("held_to_the_end", Mechanism.TTL_OVER_IN_WORK)]


def test_stopped_from_outside(made):
    """A loss while something outside the lab had stopped the holder is no fault of the lock."""
    made.increment("a", 0, 1, at=(0, 1, 900, 901)).stalled(10, 800)
    made.increment("b", 0, 0, at=(350, 351, 352, 353), replica="replica-2")

    findings = made.analyse(final=1, ttl_ms=300)

    assert found(findings) == [("survives_a_freeze", Mechanism.STOPPED_FROM_OUTSIDE)]
    judgement = weigh(record_of(stage={"claims": ["exclusive", "survives_a_freeze"]}, final=1), findings)
    assert judgement.verdict == "VOID"
    assert "replica-1 was stopped for 790 ms by something outside the lab" in reasons(judgement)


@pytest.mark.parametrize(
    ("wrote_ms", "queued_ms", "mechanism"),
    [
        (360, 60, Mechanism.STOPPED_FROM_OUTSIDE),  # 240 of the 300 ms of a lease
        (360, 30, Mechanism.TTL_OVER_IN_WORK),  # the lease would have ended all the same
        (900, 60, Mechanism.TTL_OVER_IN_WORK),  # so would it here: the work is longer than the lease, and nothing renews it
    ],
)
def test_kept_from_a_processor_in_parts(made, wrote_ms, queued_ms, mechanism):
    """A holder that waited for a processor in short gaps is no more at fault than one that was stopped for as long at once."""
    made.increment("a", 0, 1, at=(0, 1, wrote_ms, wrote_ms + 1))
    made.increment("b", 0, 0, at=(350, 351, 352, 353), replica="replica-2")
    for at in range(0, 320, 80):
        made.stalled(at, at + 80, queued_ms=queued_ms)

    findings = made.analyse(final=1, ttl_ms=300)

    assert [one for _, one in found(findings)] == [mechanism]
    verdict = weigh(record_of(stage={"claims": ["exclusive", "held_to_the_end"]}, final=1), findings).verdict
    assert verdict == ("VOID" if mechanism is Mechanism.STOPPED_FROM_OUTSIDE else "BROKEN")


@pytest.mark.parametrize(("has_events", "expected"), [(True, Mechanism.DELETED_BY_STRANGER), (False, Mechanism.GRANTED_TO_TWO)])
def test_deleted_while_it_was_held(made, has_events, expected):
    """A deletion that the store reported while the lock was held was done by a request that did not hold it."""
    made.key_event("set", 0).key_event("del", 5 if has_events else 60)
    made.increment("a", 0, 0, at=(1, 2, 40, 41)).increment("b", 0, 1, at=(7, 8, 42, 43), replica="replica-2")

    ((claim, mechanism),) = found(made.analyse(final=1))

    assert (claim, mechanism) == ("exclusive", expected)


@pytest.mark.parametrize(
    ("first", "second", "claim"),
    [
        (5, 40, "survives_store_restart"),  # held when the store was killed
        (5, 15, "exclusive"),  # both were inside before
        (300, 340, "exclusive"),  # granted after the restart: the store had nothing to forget
    ],
)
def test_fault_excuses_only_what_it_took(made, first, second, claim):
    """A fault excuses a loss only where one of the two held the lock when the fault began, and the other came in after it."""
    made.increment("a", 0, 0, at=(first, first + 1, 360, 361)).fault("restart_redis", "a", 20, 390)
    made.increment("b", 0, 1, at=(second, second + 1, 370, 371), replica="replica-2")

    assert [one for one, _ in found(made.analyse(final=1, ttl_ms=3000))] == [claim]


@pytest.mark.parametrize(("release_commands", "commands", "claim"), [(0, 0, "survives_store_restart"), (1, 1, "exclusive")])
def test_fault_takes_a_lock_that_is_handed_over(made, release_commands, commands, claim):
    """A store that forgets a lock takes it from the process: also from the request to which the lock is handed over later."""
    made.increment("a", 0, 0, at=(5, 6, 7, 290), release_commands=release_commands).fault("restart_redis", "a", 20, 390)
    made.increment("b", 1, 1, at=(300, 301, 360, 361), commands=commands)
    made.increment("c", 1, 2, at=(340, 341, 370, 371), replica="replica-2")

    assert {one for one, _ in found(made.analyse(final=2, ttl_ms=3000))} == {claim}


def test_what_another_made_is_no_acquire(made):
    """A renewal that finds nothing has not acquired the lock, although another client made the key at that moment."""
    made.increment("a", 0, 0, at=(5, 6, 7, 290), release_commands=0).fault("restart_redis", "a", 20, 240)
    times = {"sent_ns": 250 * MS, "renewed_ns": 251 * MS}
    renewal = Renewed(request="", key="lock", answer="0", command="EVALSHA", script=True, **times)
    made.line("journal/replica-1.jsonl", renewal)
    made.key_event("set", 251)
    made.increment("b", 1, 1, at=(300, 301, 360, 361), asked=200, commands=0)
    made.increment("c", 1, 2, at=(340, 341, 370, 371), replica="replica-2")

    assert {one for one, _ in found(made.analyse(final=2, ttl_ms=3000))} == {"survives_store_restart"}


def test_a_lock_taken_twice_is_lost_with_the_outer_one(made):
    """Of a lock that is taken twice, the outer lease is the older one: what ends with it was not stolen."""
    outer = {"outer_key": "lock", "outer_sent_ns": 0, "outer_got_ns": 1, "outer_releasing_ns": 64}
    made.increment("late", 0, 0, at=(58, 59, 60, 61), released=65, **outer)
    outer = {"outer_key": "lock", "outer_sent_ns": 30, "outer_got_ns": 31, "outer_releasing_ns": 190}
    made.increment("twice", 1, 1, at=(110, 111, 118, 119), released=191, **outer, replica="replica-2")
    made.increment("next", 1, 2, at=(112, 113, 120, 121), replica="replica-3")

    assert ("releases_only_its_own", Mechanism.DELETED_BY_ANOTHER) not in found(made.analyse(final=2, ttl_ms=50))


def test_every_violation_has_an_example(made):
    """Each violation names a request: also mutual exclusion in one process, where the first conflicts were between replicas."""
    for number in range(12):
        at = 100 * number
        made.increment(f"a{number}", 2 * number, 2 * number, at=(at, at + 1, at + 7, at + 8))
        replica = "replica-2" if number < 11 else "replica-1"
        made.increment(f"b{number}", 2 * number, 2 * number + 1, at=(at + 5, at + 6, at + 9, at + 10), replica=replica)

    violations = [violation for promise in PROMISES.values() for violation in promise.violations(made.analyse(final=1))]

    assert {violation.claim for violation in violations} == {"exclusive", "exclusive_in_process"}
    assert all(violation.evidence for violation in violations)


@pytest.mark.parametrize(
    ("others_percent", "got_ms", "fault", "accused"),
    [
        (90, 200, "", False),
        (60, 200, "", True),  # the time from the granting command to the work is the lock's own
        (90, 100, "", True),  # two thirds of the lease were left for a renewal
        (90, 200, "slow", True),  # the scenario held it up, and not the machine
    ],
)
def test_late_answer_on_a_crowded_machine(made, others_percent, got_ms, fault, accused):
    """Where other programs had most of the processors, a holder that got its answer after half its lease is not accused."""
    made.increment("first", 0, 0, at=(got_ms, got_ms + 1, 340, 341), asked=1, sent_ns=2)
    made.increment("second", 0, 1, at=(310, 311, 342, 343), replica="replica-2")
    if fault:
        made.fault(fault, "first", got_ms - 1, 400, "read.after")
    findings = made.analyse(final=1, ttl_ms=300, others_percent=others_percent)

    assert (("held_to_the_end", Mechanism.TTL_OVER_IN_WORK) in found(findings)) == accused
    assert (Mechanism.STOPPED_FROM_OUTSIDE in findings.losses) != accused  # which makes the run VOID

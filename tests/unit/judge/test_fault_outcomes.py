"""Test the harm after a fault on histories with known answers: it breaks the claim of that fault, and no other."""

import pytest

from app.journal import Released
from lab.evidence.loss import Mechanism
from tests.builders import MS, violations


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
    """A loss under a fault has the claim and the mechanism of that fault."""
    made.increment("reached", 0, 1, at=(0, 1, 500, 501)).increment("other", 0, 0, at=(320, 321, 330, 331), replica="replica-2")
    made.fault(kind, "reached", 2, 490, failpoint).key_event("expired", 310)

    findings = made.analyse(final=1, ttl_ms=300, store_persists=bool(persists), store_syncs=persists or "always")

    assert violations(findings) == [expected]


def test_holders_on_one_side_of_a_split(made):
    """A split of the store does not explain two holders in replicas that use the same primary."""
    made.increment("reached", 0, 0).fault("split_store", "reached", 2, 490)
    made.increment("a", 1, 2, at=(400, 401, 500, 501), replica="replica-2")
    made.increment("b", 1, 1, at=(420, 421, 430, 431), replica="replica-3")

    assert ("exclusive", Mechanism.GRANTED_TO_TWO) in violations(made.analyse(final=2, ttl_ms=3000))


@pytest.mark.parametrize(("kind", "entered"), [("fail_command", 1), ("lose_power", 0), ("split_store", 0)])
def test_lock_that_a_failed_request_left(made, kind, entered):
    """A grant while a failed request's lock remains is a re-entry, unless a fault of the store can have removed that lock."""
    made.increment("left", 0, 0, at=(1, 2, 3, 4), released=5, result="error: not sent", release_commands=0, answer="")
    made.key_event("set", 1).fault(kind, "left", 4, 10, "release.before_last").increment("next", 1, 1, at=20)

    assert made.analyse(final=2, ttl_ms=300).measures["reentered"] == entered


@pytest.mark.parametrize(
    ("kind", "final", "expected"),
    [("delay_write", 1, [("survives_a_delayed_write", Mechanism.WRITE_UNCONFIRMED)]), ("delay_write", 2, []), ("slow", 1, [])],
)
def test_late_write(made, kind, final, expected):
    """A delayed write breaks the promise if it destroys increments when it arrives; one that never arrives does not."""
    made.increment("late", 0, None, at=(0, 1, 900, 901), outcome="unknown").fault(kind, "late", 2, 800, "write.before")
    given_up = Released(request="late", releasing_ns=400 * MS, released_ns=401 * MS, result="error: no answer", commands=1)
    made.line("journal/replica-1.jsonl", given_up)
    made.increment("a", 0, 0, at=(420, 421, 430, 431), replica="replica-2")
    made.increment("b", 1, 1, at=(440, 441, 450, 451), replica="replica-2")

    assert violations(made.analyse(final=final, ttl_ms=3000)) == expected


@pytest.mark.parametrize(
    ("back", "next_ms", "expected"),
    [
        (True, 2000, [("freed_with_a_clock_behind", Mechanism.CLOCK_JUMPED_BACK)]),
        (False, 2000, [("freed_after_crash", Mechanism.HOLDER_DIED)]),
        (True, 300, []),
    ],
)
def test_dead_holder_and_a_clock(made, back, next_ms, expected):
    """A lock that outlives its holder is charged to the clock of its store if that clock has jumped back."""
    made.increment("dead", 0, None, outcome="unknown").fault("kill", "dead", 2, 2)
    if back:
        made.fault("turn_clock_back", "dead", 1, 1900)
    made.increment("next", 0, 0, at=next_ms, replica="replica-2")

    assert violations(made.gave_up("waiter", 9000).analyse(final=1, ttl_ms=300)) == expected


@pytest.mark.parametrize(("nested", "claim"), [("same", "reentrant"), ("crossed", "breaks_deadlock"), ("", None)])
def test_giving_up_as_a_violation(made, nested, claim):
    """A request that gives up is a violation only if it waited for itself, or in a deadlock."""
    made.increment("a", 0, 0).gave_up("b", 800)

    assert [name for name, _ in violations(made.analyse(final=1, ttl_ms=300, nested=nested))] == ([claim] if claim else [])


def test_idle_lock_with_waiters(made):
    """A free lock that no waiter takes is reported only if the scenario tests prompt_handover."""
    for number in range(4):
        start = 50 * number  # all requests had been waiting since the beginning
        at = (start, start + 1, start + 2, start + 10)
        made.increment(f"r{number}", number, number, at=at, asked=0, replica=f"replica-{number % 2}")

    assert ("prompt_handover", Mechanism.WAITERS_SLEPT) in violations(made.analyse(final=4, tests="prompt_handover"))
    assert violations(made.analyse(final=4, tests="exclusive")) == []


WAITING = [(1000, 1100), (1900, 2000), *((1990, at) for at in (3100, 3200, 3300, 3400))]  # the server is back at 3000 ms


@pytest.mark.parametrize(
    ("asked_and_got_ms", "about", "is_broken"),
    [
        ([(1000, 1900)], {}, False),  # also after an election that took long
        ([(1000, 3500)], {}, True),  # only when the server was back
        ([(0, 3200)], {}, True),  # it waited for the whole fault
        ([(3100, 3200)], {}, False),  # no request asked while the server was down: there was no danger
        (WAITING, {"wait_ms": 1500}, False),  # two were served, and the others could wait until the server was back
        (WAITING, {"wait_ms": 900}, True),  # the others were served only after their wait time was over
    ],
)
def test_granted_while_a_server_is_down(made, asked_and_got_ms, about, is_broken):
    """Requests still get the lock if one that asked after a server's death was granted it before the server was back."""
    made.fault("kill_nodes", "reached", 10, 3000, "acquire.before")
    for number, (asked, got) in enumerate(asked_and_got_ms):
        made.increment(f"r{number}", number, number, at=got, asked=asked, replica="replica-2")

    findings = made.analyse(final=len(asked_and_got_ms), ttl_ms=300, tests="available_with_a_node_down", **about)

    assert [claim for claim, _ in violations(findings)] == ["available_with_a_node_down"] * is_broken


@pytest.mark.parametrize(("commands", "is_broken"), [(0, False), (1, True)])
def test_lock_that_is_handed_over_without_a_majority(made, commands, is_broken):
    """A lock that is handed over without a command was granted before the majority was gone, and breaks no promise."""
    made.fault("silence_nodes", "reached", 10, 3000, "acquire.before")
    made.increment("next", 0, 0, at=400, asked=300, replica="replica-2", commands=commands)

    findings = made.analyse(final=1, ttl_ms=500, tests="refuses_without_majority", has_votes=True)

    assert [claim for claim, _ in violations(findings)] == ["refuses_without_majority"] * is_broken

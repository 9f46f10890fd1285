"""A fault begins when it is in force, not when a request reached its failpoint."""

from __future__ import annotations

import pytest

from lab.evidence.fault_record import Effect, FaultRecord
from lab.judge.faults import FaultOutcome


def outcome(effect: Effect, injected_ns: int) -> FaultOutcome:
    """Return the outcome of a fault whose failpoint was reached at 100 ns."""
    record = FaultRecord(
        name="one-1", replica="replica-1", pid=1, request="r0", at_ns=100, injected_ns=injected_ns, effect=effect
    )
    return FaultOutcome(record)


def test_grant_before_the_store_is_down():
    """A busy machine kills the store late; a grant before that is no sign that the lock is free again."""
    fault = outcome(Effect.SERVERS_DIE, injected_ns=500)

    fault.granted("r1", 0, 300)
    fault.granted("r2", 0, 900)

    assert fault.next_request == "r2"
    assert fault.idle_ms == pytest.approx(400 / 1e6)


def test_replica_stops_at_the_failpoint():
    """What the replica does itself is in force at once, however late the injector sees the note."""
    fault = outcome(Effect.PROCESS_STOPS, injected_ns=500)

    fault.granted("r1", 0, 300)

    assert fault.next_request == "r1"

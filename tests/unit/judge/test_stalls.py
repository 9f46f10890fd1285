"""Stalls: gaps in a replica's heartbeat, less those that a fault of the scenario explains."""

import pytest

from app.journal import Stalled

MS = 1_000_000


@pytest.mark.parametrize(
    ("kind", "replica", "since_ms", "until_ms", "left_ms"),
    [
        ("freeze", "replica-1", 980, 2010, 0),  # the fault explains the whole gap
        ("freeze", "replica-2", 980, 2010, 1030),  # a fault of another replica
        ("slow", "replica-1", 980, 2010, 1030),  # a fault that stops no process
        ("freeze", "replica-1", 980, 4000, 2000),  # stopped for longer than the fault lasted
        ("freeze", "replica-1", 3000, 4000, 1000),  # after the fault
        ("freeze", "replica-1", 100, 900, 800),  # before it
    ],
)
def test_fault_explains_a_gap(made, kind, replica, since_ms, until_ms, left_ms):
    """A gap counts unless a fault stopped the same replica at that time."""
    made.increment("a", 0, 0).fault(kind, "a", 1000, 2000).stalled(since_ms, until_ms, replica=replica)

    expected = [(replica, (until_ms - left_ms) * MS, until_ms * MS)] if left_ms else []
    assert [stall[:3] for stall in made.analyse(final=1).stalls] == expected


@pytest.mark.parametrize(("ran_ms", "queued_ms", "stopped"), [(0, 0, True), (600, 0, False), (10, 900, True)])
def test_stopped_or_busy(made, ran_ms, queued_ms, stopped):
    """A process that was stopped, or that a busy machine left no processor, used no processor time itself."""
    made.increment("a", 0, 0).stalled(1000, 2000, ran_ms, queued_ms)

    assert [stall.stopped for stall in made.analyse(final=1).stalls] == [stopped]


def test_longest_stall_is_measured(made):
    made.increment("a", 0, 0).stalled(1000, 1300).stalled(2000, 2700, replica="replica-2").stalled(3000, 3400)

    assert made.analyse(final=1).stalls.longest() == (700 * MS, "replica-2")


@pytest.mark.parametrize(
    ("replicas", "still", "own"),
    [
        (1, 1, True),  # the only replica: nothing shows that the machine was frozen
        (2, 1, True),  # the other one ran meanwhile
        (2, 2, False),  # all at once: the machine was frozen
    ],
)
def test_a_stall_of_its_own_making(made, replicas, still, own):
    """A replica that no signal stopped made its stall itself, unless all replicas of several stood still at once."""
    made.increment("a", 0, 0)
    for number in range(1, replicas + 1):
        made.stalled(5000, 5100, replica=f"replica-{number}")  # at another time: so the judge knows all replicas
    for number in range(1, still + 1):
        gap = Stalled(request="", since_ns=1000 * MS, until_ns=2000 * MS, queued_ns=0, stopped=False)
        made.line(f"journal/replica-{number}.jsonl", gap)

    stalls = [stall for stall in made.analyse(final=1).stalls if stall.since_ns == 1000 * MS]

    assert [(stall.own, stall.stopped) for stall in stalls] == [(own, not own)] * still

"""Test stalls: gaps in a replica's heartbeat, without the time that a fault of the scenario explains."""

import pytest

MS = 1_000_000


@pytest.mark.parametrize(
    ("kind", "replica", "since_ms", "until_ms", "left_ms"),
    [
        ("freeze", "replica-1", 980, 2010, 0),  # the fault explains the whole gap
        ("freeze", "replica-2", 980, 2010, 1030),  # a fault of another replica
        ("slow", "replica-1", 980, 2010, 1030),  # a fault that stops no process
        ("freeze", "replica-1", 980, 4000, 2000),  # stopped for longer than the fault lasted
        ("freeze", "replica-1", 3000, 4000, 1000),  # after the fault
        ("freeze", "replica-1", 100, 900, 800),  # before the fault
    ],
)
def test_fault_explains_a_gap(made, kind, replica, since_ms, until_ms, left_ms):
    """A gap counts unless a fault stopped the same replica at that time."""
    made.increment("a", 0, 0).fault(kind, "a", 1000, 2000).stalled(since_ms, until_ms, replica=replica)

    expected = [(replica, (until_ms - left_ms) * MS, until_ms * MS)] if left_ms else []
    assert [stall[:3] for stall in made.analyse(final=1).stalls] == expected

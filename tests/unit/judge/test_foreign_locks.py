"""Test how the judge treats a lock that was not written for the lab."""

from tests.builders import violations


def test_lock_that_serves_few(made):
    """If a lock is free for seconds, with waiters, before any fault, then being free after a fault breaks no promise."""
    made.increment("r0", 0, 0, at=(0, 1, 10, 11)).fault("kill", "r1", 3003, 3004, "read.before")
    made.increment("r1", 1, 1, at=(3000, 3001, 3002, 3003), asked=5, replica="replica-2")
    made.increment("r2", 2, 2, at=(9000, 9001, 9002, 9003), asked=6, replica="replica-2")

    assert violations(made.analyse(final=3, ttl_ms=300, has_faults=True)) == []

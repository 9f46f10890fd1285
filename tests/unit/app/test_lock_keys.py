"""Which commands are about the lock: a fault is injected at one of those."""

from __future__ import annotations

from app.lock_keys import LockKeys
from tests.every import every

TOUCHED = frozenset({"lock", "lock:tries"})


@every(
    "named, keys, renewing, expected",
    [
        ("lock", ("lock",), False, True),
        ("lock", ("lock:tries",), False, False),
        ("lock", ("lock:tries", "lock"), False, True),  # a script about both
        ("lock", ("another lock",), False, True),  # it may be: no grant was about it so far
        ("lock", ("gauge",), True, False),
        ("lock", ("lock",), True, True),
        ("lock", (), False, True),
        ("a name that the store does not know", ("lock:tries",), False, True),
    ],
)
def test_commands_of_the_lock(named, keys, renewing, expected):
    """A command about another key than that of the grants is none of the lock, once a grant has shown it."""
    known = LockKeys()
    known.learn(named, TOUCHED)

    assert known.are_of_the_lock(keys, renewing) is expected

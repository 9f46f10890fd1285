"""Which keys at the store are those of the lock, as far as the grants so far show it."""

from __future__ import annotations

from collections.abc import Collection

NO_KEY = ("",)  # the keys of a command that can be about none, such as EXEC without commands
# of the whole process: the keys of all grants
GRANTED: set[str] = set()


def granted_in(text: str) -> str:
    """Return the key of a grant that a statement names, with its values; empty if it names none."""
    return max((key for key in GRANTED if key and key in text), key=len, default="")


def named(keys: Collection[str], name: str) -> str:
    """Return which of these keys a grant names: a lock may add something to the name. Empty without one, or with several."""
    found = [name] if name in keys else [key for key in keys if name and name in key]
    return found[0] if len(found) == 1 else ""

"""Tell the key of a command to the lock's store, and the meaning of its answer for the lock, as far as they are known."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum


class Meaning(Enum):
    """The meaning of an answer of the store for a lock, to the best of the client's knowledge."""

    AGREED = "the store carried the command out: a key was set, a row changed"
    REFUSED = "the store did nothing, and the answer says so: SET NX gave None, no row changed, a transaction did not succeed"
    LOOKED = "a value was read: only the lock knows whether it is a yes"
    OPEN = "anything else: a count, an answer of a script"
    NOTHING = "the answer is not about the lock: a subscription, the beginning of a transaction"
    UNKNOWN = "no answer came: the store may have carried the command out"


# the members as module names: each command needs them, and an attribute of an Enum takes time
AGREED, REFUSED, LOOKED, OPEN, NOTHING, UNKNOWN = Meaning

NO_KEY = ("",)  # the keys of a command that can have none, such as EXEC without commands
# the keys of all grants in this process
GRANTED: set[str] = set()


def agreed(answer: object, meaning: Meaning) -> bool:
    """Return whether the store agreed, to the best of its client's knowledge."""
    return is_good(answer) if meaning is OPEN else meaning is AGREED


def is_good(answer: object) -> bool:
    """Return whether the store agreed. A negative number is a no: the time for which the lock is still held."""
    if isinstance(answer, list):
        return any(map(is_good, answer))
    return bool(answer) and not (isinstance(answer, int) and answer < 0)


def kind(answer: object) -> str:
    """Return the kind of an answer: answers of one kind mean the same to a lock. A list has the kind of its first item."""
    match answer:
        case None:
            return "none"
        case int() | float():
            return "zero" if answer == 0 else "negative" if answer < 0 else "positive"
        case list() | tuple():
            return f"list of {kind(answer[0])}" if answer else "list"
        case _:
            return "text"


def granted_in(text: str) -> str:
    """Return the longest key of a grant that is part of a text, such as a statement with its values; empty without one."""
    return max((key for key in GRANTED if key and key in text), key=len, default="")


def with_name(keys: Collection[str], name: str) -> str:
    """Return the key that is the name of a grant, or contains it; empty if no key or several keys contain it."""
    matches = [name] if name in keys else [key for key in keys if name and name in key]
    return matches[0] if len(matches) == 1 else ""

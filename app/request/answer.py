"""What a command to the lock's store is about, and what its answer means for the lock, as far as that is known."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum


class Meaning(Enum):
    """What an answer of the store means for a lock, to the best of the client's knowledge."""

    AGREED = "the store did what it was asked: a key was set, a row changed"
    REFUSED = "the store did nothing, and the answer says so: SET NX gave None, no row changed, a transaction did not succeed"
    LOOKED = "a value was read: only the lock knows whether it is good news"
    OPEN = "anything else: a count, an answer of a script"
    NOTHING = "the answer is not about the lock: a subscription, the beginning of a transaction"
    UNKNOWN = "no answer came: the store may have carried the command out"


# the same by themselves: each command asks for them, and a look into an Enum takes time
AGREED, REFUSED, LOOKED, OPEN, NOTHING, UNKNOWN = Meaning

NO_KEY = ("",)  # the keys of a command that can be about none, such as EXEC without commands
# of the whole process: the keys of all grants
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
    """Return the kind of an answer: two answers of one kind mean the same to a lock. The first part of a list decides."""
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
    """Return the key of a grant that a statement names, with its values; empty if it names none."""
    return max((key for key in GRANTED if key and key in text), key=len, default="")


def named(keys: Collection[str], name: str) -> str:
    """Return which of these keys a grant names: a lock may add something to the name. Empty without one, or with several."""
    found = [name] if name in keys else [key for key in keys if name and name in key]
    return found[0] if len(found) == 1 else ""

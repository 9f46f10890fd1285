"""Commands that wait in the server until they can do what they are asked, and for how long."""

from __future__ import annotations

from lab.explore.store.resp import Reply, Words

# in place of a reply: the server has taken the command, and does not answer yet. Stores other than Redis say so
WAITING = Reply(b"", None)
EVENTS = (b"WatchEvent",)  # no commands of a client: with them it waits for what the server sends by itself
# the place of the time-out among the words, and how many of its units are a second
WAITS: dict[bytes, tuple[int, int]] = {
    **dict.fromkeys((b"BLPOP", b"BRPOP", b"BZPOPMIN", b"BZPOPMAX", b"BRPOPLPUSH", b"BLMOVE"), (-1, 1)),
    **dict.fromkeys((b"BLMPOP", b"BZMPOP"), (1, 1)),
    b"XREAD": (0, 1000),  # after the word BLOCK, where it is there
}


def gives_up_after_ms(words: Words) -> float | None:
    """Return for how long a command waits; 0 for ever, None for a command that does not wait. Raises ValueError."""
    place, units = WAITS[words[0]]
    if words[0] == b"XREAD":
        upper = [one.upper() for one in words]
        if b"BLOCK" not in upper:
            return None
        place = upper.index(b"BLOCK") + 1
    return float(words[place]) * 1000 / units


def can_wait(words: Words) -> bool:
    """Return whether a command waits in the server where it cannot be done at once."""
    return words[0] in WAITS and gives_up_after_ms(words) is not None

"""Whose a key's life at the lock's store was, and whose release ended it, as far as stamps tell.

The store's events name no request. The lab hears of them some time after the fact, and a replica stamps a grant some time
after the store gave it: what is said here is the best fit, for drawing and telling; no verdict rests on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from lab.report.timeline_model import NEVER, Held, Life, Timeline

HEARD_WITHIN_US = 100_000  # an expiry is heard up to this late, the rest much sooner
DELETED_WITHIN_US = 20_000
STOLEN_US = 20_000  # where locks were stolen: by how much nearer to a life's begin its holder is than another who ended it
CANDIDATES = 64  # grants near a life's begin that are looked at


def belong(picture: Timeline, thefts: bool) -> None:
    """Say of each key's life whose grant it was and whose release ended it, as far as the stamps tell.

    The best fits are settled first, since the lab may hear so late that a life's begin alone would fit several grants. thefts:
    whether any release can have deleted another's lock; where none can, whose release ended a life had held it.
    """
    granted: dict[int, list[tuple[int, int]]] = {}
    released: dict[int, list[tuple[int, int]]] = {}
    slow: list[int] = []  # whose release was long under way: its stamp tells little of when the store heard it
    for place, held in enumerate(picture.held):
        granted.setdefault(held.key, []).append((held.got, place))
        if held.released != NEVER and held.result == "ok":
            released.setdefault(held.key, []).append((held.released, place))
            slow += [place] if held.released - held.until > DELETED_WITHIN_US else []
    for several in released.values():
        several.sort()
    fits = sorted(
        (*_strangeness(picture.held[place], life, number, thefts), number, place)
        for number, life in enumerate(picture.lives)
        for place in _around(granted.get(life.key, []), life.born, HEARD_WITHIN_US)
        if picture.held[place].asked <= life.born
    )
    for *_, number, place in fits:
        if picture.lives[number].holder == picture.held[place].lease == NEVER:
            picture.lives[number].holder, picture.held[place].lease = place, number
    for life in picture.lives:
        if life.how == "del":
            near = _around(released.get(life.key, []), life.gone, DELETED_WITHIN_US)
            life.by = _deleter(picture.held, life, near + [place for place in slow if picture.held[place].key == life.key])


def _strangeness(held: Held, life: Life, number: int, thefts: bool) -> tuple[int, int, int]:
    """By what fits are settled: by both ends in the order of the lives; where locks were stolen, by the begin above all."""
    ended = life.how == "del" and held.result == "ok" and held.until <= life.gone <= held.released + DELETED_WITHIN_US
    begin, end = abs(held.got - life.born), abs(held.released - life.gone) if ended else 0
    if thefts:
        return begin + (min(end, STOLEN_US) if ended else STOLEN_US), 0, 0
    return int(not ended), number, begin + end


def _around(stamped: list[tuple[int, int]], at: int, within: int) -> list[int]:
    """The places stamped near a time, the nearest first."""
    since, until = bisect_left(stamped, (at - within,)), bisect_left(stamped, (at + within,))
    return [place for _, place in sorted(stamped[since:until], key=lambda one: abs(one[0] - at))][:CANDIDATES]


def _deleter(held: Sequence[Held], life: Life, places: Sequence[int]) -> int:
    """Whose release was under way when the key was deleted; its holder's own, if that was, else the one that ended nearest."""
    under_way = [place for place in places if held[place].until <= life.gone <= held[place].released + DELETED_WITHIN_US]
    if life.holder in under_way:
        return life.holder
    return min(under_way, key=lambda place: abs(held[place].released - life.gone), default=NEVER)

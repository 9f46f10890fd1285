"""Match the lives of keys at the lock's store with grants and releases, as far as the stamps allow.

The store's events name no request. The lab receives them some time after the fact, and a replica stamps a grant some time after
the store gave it. So each match is the best fit, for pictures and captions. No verdict rests on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from lab.story.timeline import NEVER, RECEIVED_WITHIN_US, DrawnGrant, Life, Timeline

DELETED_WITHIN_US = 20_000
STOLEN_US = 20_000  # where locks were stolen: so much a fit costs whose release did not end the life
CANDIDATES = 64  # grants near the beginning of a life that are tried


def assign_lives(picture: Timeline, thefts: bool) -> None:
    """Find for each key's life the grant that it belongs to, and the release that ended it.

    The best fits are settled first: the lab may receive events so late that several grants fit the beginning of one life.
    thefts: whether a release can have deleted another holder's lock. Without thefts, a life was ended by its own holder.
    """
    granted: dict[int, list[tuple[int, int]]] = {}
    released: dict[int, list[tuple[int, int]]] = {}
    slow: list[int] = []  # their releases took long: the stamps hardly show when the store received the command
    for place, held in enumerate(picture.held):
        granted.setdefault(held.key, []).append((held.got, place))
        if _freed(held):
            released.setdefault(held.key, []).append((held.released, place))
            slow += [place] if held.released - held.until > DELETED_WITHIN_US else []
    for several in released.values():
        several.sort()
    fits = sorted(
        (*_strangeness(picture.held[place], life, number, thefts), number, place)
        for number, life in enumerate(picture.lives)
        for place in _around(granted.get(life.key, []), life.born, RECEIVED_WITHIN_US)
        if picture.held[place].asked <= life.born
    )
    for *_, number, place in fits:
        if picture.lives[number].holder == picture.held[place].lease == NEVER:
            picture.lives[number].holder, picture.held[place].lease = place, number
    for life in picture.lives:
        if life.how == "del":
            near = _around(released.get(life.key, []), life.gone, DELETED_WITHIN_US)
            life.by = _deleter(picture.held, life, near + [place for place in slow if picture.held[place].key == life.key])


def _freed(held: DrawnGrant) -> bool:
    """Return whether a release may have deleted the key. It may have done so as well where the work had failed before."""
    return held.released != NEVER and (held.result == "ok" or held.result.startswith("error: "))


def _strangeness(held: DrawnGrant, life: Life, number: int, thefts: bool) -> tuple[int, int, int]:
    """Return how badly a grant fits a life: smaller is better.

    Without thefts, both ends count, in the order of the lives. With thefts, the beginning counts most.
    """
    ended = life.how == "del" and _freed(held) and held.until <= life.gone <= held.released + DELETED_WITHIN_US
    begin, end = abs(held.got - life.born), abs(held.released - life.gone) if ended else 0
    if thefts:
        return begin + (min(end, STOLEN_US) if ended else STOLEN_US), 0, 0
    return int(not ended), number, begin + end


def _around(stamped: list[tuple[int, int]], at: int, within: int) -> list[int]:
    """Return the places that are stamped near a time, the nearest first."""
    since, until = bisect_left(stamped, (at - within,)), bisect_left(stamped, (at + within,))
    return [place for _, place in sorted(stamped[since:until], key=lambda one: abs(one[0] - at))][:CANDIDATES]


def _deleter(held: Sequence[DrawnGrant], life: Life, places: Sequence[int]) -> int:
    """Return the grant whose release was under way when the key was deleted: the holder's own, or else the nearest one."""
    under_way = [place for place in places if held[place].until <= life.gone <= held[place].released + DELETED_WITHIN_US]
    if life.holder in under_way:
        return life.holder
    return min(under_way, key=lambda place: abs(held[place].released - life.gone), default=NEVER)

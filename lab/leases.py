"""Whose a key's life at the lock's store was, and whose release ended it, as far as stamps tell.

The store's events name no request. The lab hears of them some time after the fact, and a replica stamps a grant some time
after the store gave it: what is said here is the best fit, for drawing and telling; no verdict rests on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from lab.picture import NEVER, Held, Life, Timeline

HEARD_WITHIN_US = 100_000  # an expiry is heard up to this late, the rest much sooner
DELETED_WITHIN_US = 20_000


def belong(picture: Timeline) -> None:
    """Say of each key's life whose grant it was and whose release ended it, as far as the stamps tell.

    First the lives whose begin and end both fit a grant: the lab may hear so late that the begin alone would fit several.
    """
    granted: dict[int, list[tuple[int, int]]] = {}
    released: dict[int, list[tuple[int, int]]] = {}
    for place, held in enumerate(picture.held):
        granted.setdefault(held.key, []).append((held.got, place))
        if held.released != NEVER and held.result == "ok":
            released.setdefault(held.key, []).append((held.released, place))
    for several in released.values():
        several.sort()
    taken: set[int] = set()
    for fit in (_fits_whole, _fits_begin):
        for number, life in enumerate(picture.lives):
            if life.holder == NEVER:
                near = [place for place in _around(granted.get(life.key, []), life.born, HEARD_WITHIN_US) if place not in taken]
                life.holder = fit(picture.held, life, near)
                if life.holder != NEVER:
                    taken.add(life.holder)
                    picture.held[life.holder].lease = number
    for life in picture.lives:
        if life.how == "del":
            life.by = _deleter(picture.held, life, released.get(life.key, []))


def _fits_whole(held: Sequence[Held], life: Life, near: list[int]) -> int:
    """The grant that had been asked for when the key was born, and whose release was under way when it was deleted."""
    fitting = [
        place
        for place in near
        if life.how == "del"
        and held[place].asked <= life.born
        and held[place].result == "ok"
        and held[place].until <= life.gone <= held[place].released + DELETED_WITHIN_US
    ]
    return min(fitting, key=lambda place: abs(held[place].got - life.born) + abs(held[place].released - life.gone), default=NEVER)


def _fits_begin(held: Sequence[Held], life: Life, near: list[int]) -> int:
    """The grant nearest to the key's birth that had been asked for by then."""
    return next((place for place in near if held[place].asked <= life.born), NEVER)


def _around(stamped: list[tuple[int, int]], at: int, within: int) -> list[int]:
    """The places stamped near a time, the nearest first."""
    since, until = bisect_left(stamped, (at - within,)), bisect_left(stamped, (at + within,))
    return [place for _, place in sorted(stamped[since:until], key=lambda one: abs(one[0] - at))]


def _deleter(held: Sequence[Held], life: Life, released: list[tuple[int, int]]) -> int:
    """Whose release was under way when the key was deleted; its holder's own, if that was."""
    near = [place for place in _around(released, life.gone, DELETED_WITHIN_US) if held[place].until <= life.gone]
    return life.holder if life.holder in near else next(iter(near), NEVER)

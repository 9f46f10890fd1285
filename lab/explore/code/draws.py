"""Chance in a replica: what is drawn is explored where the range is narrow, and a token where it is wide.

A token is a number that no other draw returns. It is made of the replica and the number of the draw, so each repetition returns
it again. A fraction (``random.random``) only spreads waits in most locks: it is one half, and in one search also near its ends.
Draws that follow each other without a command or a wait between them make one number: where their ranges together are wide,
they are a token as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from lab.explore.code.operation import Choice
from lab.explore.code.replica import NewToken, Place, current, or_real, running

WIDE = 1_000_000  # a range with more values is a token
VALUES = 3  # how many values of a narrow range are explored
MIDDLE = (0.5,)
ENDS = (0.0, 0.5, 1.0)
APART = 0.001  # fractions differ by less than this: a lock may take one for a token


class Drawing:
    """How the replicas of a search draw. It learns which lines of a stage make tokens of many narrow draws."""

    def __init__(self) -> None:
        self.fractions: tuple[float, ...] = MIDDLE
        self.drew_fraction = False
        # the lines that make a token of narrow draws
        self.tokens: set[Place] = set()
        # what was drawn where: the line, and the values or the word "token"
        self.said: dict[Place, str] = {}
        self._drawn: dict[bytes, tuple[int, int]] = {}  # the tokens that were drawn: the replica, and which of its own

    def drew(self, replica: int, token: bytes) -> None:
        """Note that a replica has drawn a token."""
        if token not in self._drawn:
            self._drawn[token] = replica, 1 + sum(one == replica for one, _ in self._drawn.values())

    def known_tokens(self) -> Iterator[tuple[bytes, int, int]]:
        """Yield the tokens that were drawn, with their replicas and their numbers there."""
        for token, (replica, number) in self._drawn.items():
            yield token, replica, number


def below(number: int) -> int:
    """Return a number from 0 to below this one."""
    here = current()
    place = here.line()
    drawing: Drawing = here.drawing
    if number <= 1:
        return 0
    if number > WIDE or place in drawing.tokens:
        drawing.said[place] = "token"
        return int.from_bytes(here.fresh(16), "big") % number
    together, places = here.thread.drawn
    here.thread.drawn = together, places = together * number, places | {place}
    if together > WIDE:  # the thread has drawn so often in a row that it makes a token
        drawing.tokens |= places
        here.must_begin_again = True
        raise NewToken
    values = tuple(dict.fromkeys((0, number // 2, number - 1)))[:VALUES] if number > VALUES else tuple(range(number))
    drawing.said.setdefault(place, f"{', '.join(map(str, values))} of {number}")
    return int(here.wait(Choice(values)))


def fraction() -> float:
    """Return a number from 0 to below 1. No two are equal."""
    here = current()
    drawing: Drawing = here.drawing
    place = here.line()
    drawing.drew_fraction = True
    drawing.said.setdefault(place, ", ".join(f"{one:.1f}" for one in drawing.fractions))
    several = len(drawing.fractions) > 1
    about = float(here.wait(Choice(drawing.fractions))) if several else drawing.fractions[0]
    return abs(about - APART * (1 + int.from_bytes(here.fresh(4), "big")) / (1 << 33))


def bits(number: int) -> int:
    """Return a number of so many bits."""
    if number <= 0:
        return 0
    if number >= WIDE.bit_length():
        return int.from_bytes(current().fresh(-(-number // 8)), "big") >> (-number % 8)
    return below(1 << number)


class Random(random.Random):
    """``random.Random``. Without a seed of its own, it draws as the explorer decides."""

    def __init__(self, x: Any = None) -> None:
        super().__init__(0 if x is None and running() else x)
        if x is None and running():
            _draw_with(self)


def _choices(population: Any, *_: Any, k: int = 1, **__: Any) -> list[Any]:
    """``random.choices``, each value as likely as the others."""
    return [population[below(len(population))] for _ in range(k)]


DRAWS: dict[str, Callable[..., Any]] = {"random": fraction, "getrandbits": bits, "choices": _choices}


def _draw_with(chance: Any) -> None:
    """Let a generator draw as the explorer decides, in a replica. All of its methods are made of these."""
    for name, stand_in in {**DRAWS, "_randbelow": below}.items():
        setattr(chance, name, or_real(stand_in, getattr(chance, name)))


def install(replace: Callable[[Any, str, Callable[..., Any]], None]) -> None:
    """Replace what draws. ``replace``: of a module, a name, and what stands in for it."""
    _draw_with(random._inst)  # noqa: SLF001 - the generator behind the functions of the module
    for name, stand_in in DRAWS.items():
        replace(random, name, stand_in)
    replace(random, "_urandom", lambda size: current().fresh(size))
    replace(random.SystemRandom, "_randbelow", lambda _, number: below(number))
    replace(random.SystemRandom, "random", lambda _: fraction())
    random.Random = Random  # type: ignore[misc]

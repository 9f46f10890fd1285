"""Replace random numbers in a replica: each value of a narrow range is explored, and a draw from a wide range is a token.

A token is a number that no other draw returns. It is made of the replica and the number of the draw, so a repetition draws the
same token. Most locks only spread their waits by a fraction (``random.random``): it is near one half, and in one search also near
0 and 1. If a thread draws several times without a command or a wait in between, and all ranges together are wide, these draws
make a token as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from lab.explore.code.operation import Choice
from lab.explore.code.replica import Line, NewToken, current, or_real, running

WIDE = 1_000_000  # a range with more values is a token
VALUES = 3  # how many values of a narrow range are explored
MIDDLE = (0.5,)
ENDS = (0.0, 0.5, 1.0)
APART = 0.001  # fractions differ by less than this: a lock may take one for a token


class Drawing:
    """The random draws of all replicas of a search. It learns which lines of a stage make a token of many narrow draws."""

    def __init__(self) -> None:
        self.fractions: tuple[float, ...] = MIDDLE
        self.drew_fraction = False
        # the lines that make a token of narrow draws
        self.tokens: set[Line] = set()
        # by line: the values that were drawn there, or the word "token"
        self.values: dict[Line, str] = {}
        # by token: the replica that drew it, and its number among that replica's tokens
        self.known_tokens: dict[bytes, tuple[int, int]] = {}

    def drew(self, replica: int, token: bytes) -> None:
        """Record that a replica has drawn a token."""
        if token not in self.known_tokens:
            number = 1 + sum(drawer == replica for drawer, _ in self.known_tokens.values())
            self.known_tokens[token] = replica, number


def below(number: int) -> int:
    """Return a whole number from 0 to number - 1."""
    here = current()
    line = here.line()
    drawing: Drawing = here.drawing
    if number <= 1:
        return 0
    if number > WIDE or line in drawing.tokens:
        drawing.values[line] = "token"
        return int.from_bytes(here.fresh(16), "big") % number
    together, lines = here.thread.draws
    here.thread.draws = together, lines = together * number, lines | {line}
    if together > WIDE:  # the thread has drawn so often in a row that these draws make a token
        drawing.tokens |= lines
        here.stopped_by = here.stopped_by or NewToken()
        raise here.stopped_by
    values = tuple(dict.fromkeys((0, number // 2, number - 1)))[:VALUES] if number > VALUES else tuple(range(number))
    drawing.values.setdefault(line, f"{', '.join(map(str, values))} of {number}")
    return int(here.wait(Choice(values)))


def fraction() -> float:
    """Return a number from 0 to below 1. No two calls return equal numbers."""
    here = current()
    drawing: Drawing = here.drawing
    drawing.drew_fraction = True
    drawing.values.setdefault(here.line(), ", ".join(f"{value:.1f}" for value in drawing.fractions))
    several = len(drawing.fractions) > 1
    near = float(here.wait(Choice(drawing.fractions))) if several else drawing.fractions[0]
    return abs(near - APART * (1 + int.from_bytes(here.fresh(4), "big")) / (1 << 33))


def bits(number: int) -> int:
    """Return a whole number of at most this number of bits."""
    if number <= 0:
        return 0
    if number >= WIDE.bit_length():
        return int.from_bytes(current().fresh(-(-number // 8)), "big") >> (-number % 8)
    return below(1 << number)


class Random(random.Random):
    """Replace ``random.Random``: in a replica, a generator without a seed draws as the explorer decides."""

    def __init__(self, x: Any = None) -> None:
        super().__init__(0 if x is None and running() else x)
        if x is None and running():
            _draw_with(self)


def _choices(population: Any, *_: Any, k: int = 1, **__: Any) -> list[Any]:
    """Replace ``random.choices``. Weights are ignored."""
    return [population[below(len(population))] for _ in range(k)]


DRAWS: dict[str, Callable[..., Any]] = {"random": fraction, "getrandbits": bits, "choices": _choices}


def _draw_with(chance: Any) -> None:
    """Let a generator draw as the explorer decides, in a replica. All its other methods call the methods in ``DRAWS``."""
    for name, stand_in in {**DRAWS, "_randbelow": below}.items():
        setattr(chance, name, or_real(stand_in, getattr(chance, name)))


def install(replace: Callable[[Any, str, Callable[..., Any]], None]) -> None:
    """Replace the functions that draw. replace: takes a module, the name of a function, and its replacement."""
    _draw_with(random._inst)  # noqa: SLF001 - the generator behind the functions of the module
    for name, stand_in in DRAWS.items():
        replace(random, name, stand_in)
    replace(random, "_urandom", lambda size: current().fresh(size))
    replace(random.SystemRandom, "_randbelow", lambda _, number: below(number))
    replace(random.SystemRandom, "random", lambda _: fraction())
    random.Random = Random  # type: ignore[misc]

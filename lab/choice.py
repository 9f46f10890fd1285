"""A name that is not among the choices: say which, where, the nearest, and all there are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class BadInput(Exception):  # noqa: N818 - names what it is
    """Something the user gave cannot be meant; the message names it, its place, and what would do. Exit status 2."""


def chosen(kind: str, name: str, choices: Iterable[str], where: str = "") -> str:
    """The name, if it is among the choices. Raises BadInput."""
    names = list(choices)
    if name in names:
        return name
    place = f"{where}: " if where else ""
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise BadInput(f"{place}there is no {kind} {name!r}.{guess} The choices: {', '.join(names)}.")

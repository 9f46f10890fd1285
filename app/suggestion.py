"""What to try instead of a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return the choice that is most like a name; empty if none is like it."""
    return next(iter(get_close_matches(name, list(choices), n=1, cutoff=0.5)), "")


def suggestion(name: str, choices: Iterable[str], listed_by: str = "") -> str:
    """Return what to try instead of a name: the nearest choice, or else all choices.

    listed_by: the command that lists the choices, if there is one. The sentence then names it in place of a long list.
    """
    names = list(choices)
    if near := nearest(name, names):
        return f"Did you mean {near!r}?" + (f" `{listed_by}` lists all." if listed_by else "")
    return f"`{listed_by}` lists the choices." if listed_by else f"The choices: {', '.join(names)}."

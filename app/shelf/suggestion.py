"""What to try instead of a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST = 5  # names in a sentence


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return the choice that is most like a name; empty if none is like it."""
    return next(iter(get_close_matches(name, list(choices), n=1, cutoff=0.5)), "")


def suggestion(name: str, choices: Iterable[str], listed_by: str = "") -> str:
    """Return what to try instead of a name: the nearest choice, or else all choices.

    listed_by: the command that lists the choices, if there is one. The sentence then names it, and the five nearest choices, in
    place of a long list.
    """
    names = list(choices)
    near = nearest(name, names)
    if not listed_by:
        return f"Did you mean {near!r}?" if near else f"The choices: {', '.join(names)}."
    others = get_close_matches(name, [one for one in names if one != near], n=MOST - bool(near), cutoff=0.6 if near else 0.2)
    also = f" {'Also near' if near else 'The nearest'}: {', '.join(others)}." if others else ""
    return f"{f'Did you mean {near!r}?' if near else ''}{also} `{listed_by}` lists all.".strip()

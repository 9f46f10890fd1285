"""What a picture of a schedule is drawn with: boxes, texts, and from when until when something holds."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape


def spans(holds: list[bool], moments: list[int]) -> Iterator[tuple[int, int]]:
    """Yield from when until when something holds. ``holds``: whether it does after each moment but the last."""
    since: int | None = None
    for moment, now in zip(moments, [*holds, False], strict=True):
        if now and since is None:
            since = moment
        elif not now and since is not None:
            yield since, moment
            since = None


def box(name: str, x: float, since: int, width: float, until: int) -> str:
    """Return a box of a lane, from a moment until another."""
    return f'<rect class="{name}" x="{x:g}" y="{since}" width="{width:g}" height="{until - since}" rx="3"/>'


def label(x: float, y: float, text: str, name: str, anchor: str = "") -> str:
    """Return a line of text."""
    at = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}" class="{name}"{at}>{escape(text, quote=False)}</text>'

"""Numbers and nouns as the lab prints them."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 write``, ``2 writes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def thousands(number: float) -> str:
    """Return a whole number with a thin space between thousands."""
    return f"{number:,.0f}".replace(",", "\u2009")

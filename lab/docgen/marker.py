"""The markers of generated parts: ``<!-- generated: NAME ARGUMENTS -->``, what was made, ``<!-- end -->``."""

from __future__ import annotations

import re

PART = re.compile(r"<!-- generated: (?P<words>[^\n]+?) -->(?P<block>\n?).*?<!-- end -->", re.DOTALL)


def emptied(text: str) -> str:
    """Return the text with its markers, and without what was made for them."""
    return PART.sub(lambda part: f"<!-- generated: {part['words']} --><!-- end -->", text)


def without_parts(text: str) -> str:
    """Return what a person has written."""
    return PART.sub("", text)

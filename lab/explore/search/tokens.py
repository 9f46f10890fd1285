"""The tokens that replicas draw, as a reader sees them: “A’s token”, “A’s second token”."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from lab.explore.code.program import Program
from lab.explore.search.event import letter_of

ORDINALS = ("", "second ", "third ", "fourth ", "fifth ")
# a slice from the front or from the back of a token
SLICE = re.compile(r"(?<![0-9a-f])[0-9a-f]{6,}(?![0-9a-f])")


# makes the name of a token: of the letter of its replica, and its number, counted from 1
Namer = Callable[[str, int], str]


def name_of(letter: str, number: int) -> str:
    """Return the English name of a token."""
    return f"{letter}’s {ORDINALS[min(number, 5) - 1]}token"


def readable(program: Program, word: bytes, token: Namer = name_of) -> str:
    """Return a word of a command or a reply, with the names of tokens in place of tokens."""
    text = word.decode(errors="replace")
    for one, replica, number in program.drawing.known_tokens():
        text = _replaced(text, one, token(letter_of(replica), number))
    return text


def _replaced(text: str, token: bytes, name: str) -> str:
    for form in _forms(token):
        if form in text:
            return text.replace(form, name)
    hexed = token.hex()

    def named(part: re.Match[str]) -> str:
        is_slice = hexed.startswith(part[0]) or hexed.endswith(part[0])
        return name if is_slice else part[0]

    return SLICE.sub(named, text)


@lru_cache(maxsize=1000)
def _forms(token: bytes) -> tuple[str, ...]:
    """Return how a token of 16 bytes may be written: as an UUID, in hexadecimal, as a number."""
    hexed = token.hex()
    forms = [hexed, hexed.upper(), str(int.from_bytes(token, "big"))]
    if len(token) == 16:
        dashed = f"{hexed[:8]}-{hexed[8:12]}-{hexed[12:16]}-{hexed[16:20]}-{hexed[20:]}"
        versioned = f"{hexed[:12]}4{hexed[13:16]}{'89ab'[int(hexed[16], 16) & 3]}{hexed[17:]}"
        forms += [dashed, versioned, f"{versioned[:8]}-{versioned[8:12]}-{versioned[12:16]}-{versioned[16:20]}-{versioned[20:]}"]
    return tuple(forms)

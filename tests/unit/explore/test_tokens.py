"""A token in a command or a reply is named by its replica, however it is written."""

from __future__ import annotations

from types import SimpleNamespace
from uuid import UUID

import pytest

from lab.explore.search.in_words import readable

TOKEN = bytes.fromhex("00112233445566778899aabbccddeeff")
OTHER = bytes.fromhex("ffeeddccbbaa99887766554433221100")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (TOKEN.hex(), "A’s token"),
        (f"{UUID(bytes=OTHER)}:1", "B’s second token:1"),
        (f"{UUID(bytes=TOKEN, version=4)}", "A’s token"),
        ("lock-001122-x", "lock-A’s token-x"),  # a slice from the front
        ("ddeeff", "A’s token"),  # from the back
        ("00112", "00112"),  # too short to be sure
        ("0011223", "A’s token"),
        ("223344", "223344"),  # from the middle
        ("a001122", "a001122"),  # part of another number
        ("3000", "3000"),
    ],
)
def test_names_of_tokens(word, said):
    """A whole token and a slice of at least six digits from an end have a name; other numbers stay."""
    drawing = SimpleNamespace(known_tokens=lambda: [(TOKEN, 0, 1), (OTHER, 1, 2)])

    assert readable(SimpleNamespace(drawing=drawing), word.encode()) == said

"""Commands and replies of the explorer and of the cluster, compared."""

from __future__ import annotations

import pytest

from lab.enact.names import Names
from lab.explore.store.resp import Failure

OWNER, OTHER = b"00000000-0000-0001-0000-000000000001", b"00000000-0000-0002-0000-000000000001"


@pytest.fixture
def names():
    return Names("lab:run:uuid:lock", "lab:run:uuid:counter")


def test_keys(names):
    """A key has another name on the cluster; so do the keys that a stage derives from it."""
    assert names.same_command([b"GET", b"L"], ["GET", "lab:run:uuid:lock"])
    assert names.same_command([b"GET", b"n"], ["GET", "lab:run:uuid:counter"])
    assert names.same_command([b"INCR", b"L:fence"], ["INCR", "lab:run:uuid:lock:fence"])
    assert not names.same_command([b"GET", b"L"], ["GET", "lab:run:uuid:counter"])
    assert not names.same_command([b"GET", b"L"], ["GET", "lab:run:uuid:lock", "more"])
    assert not names.same_command([b"GET", b"L"], ["DEL", "lab:run:uuid:lock"])


def test_owners(names):
    """An owner is another word on the cluster, always the same, and never that of another owner."""
    assert names.same_reply(OWNER, "c0ffee")
    assert names.same_reply(OWNER, "c0ffee")
    assert not names.same_reply(OWNER, "decaf")
    assert not names.same_reply(OTHER, "c0ffee")
    assert names.same_reply(OTHER, "decaf")


@pytest.mark.parametrize(
    ("token", "other", "is_token"),
    [
        (b"9a842ef7dbe64d70a696c236aad35b10", "e2317766a0224928b1c9459c1fbc5a43", True),
        (b"9a842ef7-dbe6-4d70-a696-c236aad35b10", "e2317766-a022-4928-b1c9-459c1fbc5a43", True),
        (b"9a842ef7", "e2317766", True),
        (b"mYoQzS9hQ0yVbYx7", "n0aTokenOfThis1", True),
        (b"acquired", "released", False),
        (b"locked", "free", False),
    ],
)
def test_tokens(names, token, other, is_token):
    """A word of random letters and digits may be another one on the cluster; a word of the language may not."""
    assert names.same_command([b"SET", b"L", token], ["SET", "L", other]) == is_token


@pytest.mark.parametrize(
    ("expected", "real", "same"),
    [
        (None, None, True),
        (None, 0, False),
        (1, 1, True),
        (1, 0, False),
        (0, None, False),
        (b"OK", "OK", True),
        (b"OK", None, False),
        (b"locked", "free", False),
        (1500, 1460, True),
        (1500, 700, False),
        (-2, 1500, False),
        ((1, b"x"), [1, "x"], True),
        ((1, b"x"), [1], False),
        ((1, b"x"), None, False),
        (Failure("no"), "error: no", True),
        (Failure("no"), 1, False),
    ],
)
def test_replies(expected, real, same, names):
    """A reply must be the same. What a key has left to live may differ by the time of the events before."""
    assert names.same_reply(expected, real) is same

"""What an answer of Redis means for a lock."""

from __future__ import annotations

import pytest

from app.stores.redis import key, meaning, script


@pytest.mark.parametrize(
    ("command", "answer", "means"),
    [
        (("SET", "k", "v", "NX", "PX", 5), None, "REFUSED"),
        (("SET", "k", "v", "NX", "PX", 5), True, "AGREED"),
        (("SET", "k", "v", "NX", "GET"), None, "OPEN"),
        (("SETNX", "k", "v"), False, "REFUSED"),
        (("EXEC",), None, "REFUSED"),
        (("BLPOP", "k", 1), None, "REFUSED"),
        (("GET", "k"), None, "LOOKED"),
        (("GET", "k"), "token", "LOOKED"),
        (("WATCH", "k"), True, "NOTHING"),
        (("EVALSHA", "hash", 1, "k"), None, "OPEN"),
        (("EVALSHA", "hash", 1, "k"), 0, "OPEN"),
        (("EVAL", "return 0", 1, "k"), 0, "OPEN"),
        (("FCALL", "name", 1, "k"), 0, "OPEN"),
        (("INCR", "k"), 2, "OPEN"),
    ],
)
def test_meaning(command, answer, means):
    """Only an answer with a meaning of its own is a refusal; the answer of a script never is."""
    assert meaning(command, answer).name == means


def test_key_and_script():
    """A script is known by its hash, its text or its name; its first key comes after the number of keys."""
    assert (script(("EVALSHA", "hash", 1, "k", "v")), key(("EVALSHA", "hash", 1, "k", "v"))) == ("hash", "k")
    assert (script(("GET", "k")), key(("GET", "k"))) == ("", "k")
    assert key(("PING",)) == ""

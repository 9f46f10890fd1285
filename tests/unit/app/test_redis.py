"""What an answer of Redis means for a lock."""

from __future__ import annotations

from app.stores.redis_commands import keys, lease, meaning, script, unpacked, waits_s, words
from tests.every import every


@every(
    "command, answer, means",
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
    assert (script(("EVALSHA", "hash", 1, "k", "v")), keys(("EVALSHA", "hash", 1, "k", "v"))) == ("hash", ("k",))
    assert (script(("GET", "k")), keys(("GET", "k"))) == ("", ("k",))
    assert keys(("PING",)) == ()


def test_words():
    """A command is known by its name in capitals; a name of two words is two words."""
    assert words(("GET", "k")) == ("GET", "k")
    assert words((b"get", "k")) == ("GET", "k")
    assert words(("SCRIPT LOAD", "text")) == ("SCRIPT", "LOAD", "text")


def test_unpacked():
    """The commands of a pipeline are read from what is sent, also where a word has an end of line in it."""
    packed = b"*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nset\r\n$1\r\nk\r\n$4\r\na\r\nb\r\n*1\r\n$4\r\nEXEC\r\n"

    assert unpacked(packed) == [("MULTI",), ("SET", b"k", b"a\r\nb"), ("EXEC",)]


@every(
    "command, seconds",
    [
        (("BLPOP", "k", "l", 5), 5),
        (("BLPOP", b"k", b"0"), 0),
        (("BLMPOP", 2.5, 1, "k", "LEFT"), 2.5),
        (("XREAD", "BLOCK", 1500, "STREAMS", "k", "0"), 1.5),
        (("XREAD", "STREAMS", "k", "0"), None),
        (("GET", "k"), None),
    ],
)
def test_waits(command, seconds):
    """How long a blocking command may wait is read from its words."""
    assert waits_s(command) == seconds


@every(
    "command, did",
    [
        (("SET", "lock", "token", "NX", "PX", 300), {"began"}),
        (("SET", b"lock", b"token", b"NX"), {"began"}),
        (("SETNX", "lock", "token"), {"began"}),
        (("SET", "lock", "NX", "XX", "PX", 300), {"prolonged"}),
        (("PEXPIRE", "lock", 300), {"prolonged"}),
        (("GETEX", "lock", "PX", 300), {"prolonged"}),
        (("EVALSHA", "hash", 1, "lock"), {"prolonged", "script"}),
        (("EVALSHA_RO", "hash", 1, "lock"), set()),
        (("PEXPIRETIME", "lock"), set()),
        (("SET", "lock", "token", "XX", "KEEPTTL"), set()),
        (("HSET", "lock", "progress", 1), set()),
        (("DEL", "lock"), set()),
    ],
)
def test_what_a_command_does_to_a_lease(command, did):
    """A command that sets an absent key begins a lease; a deletion ends one; only what sets a TTL prolongs one."""
    assert {name for name, holds in lease([command], agreed=True).items() if holds} == did

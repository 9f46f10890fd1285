"""Words of commands: which depend on the clock, and how a reader sees the tokens in them."""

from __future__ import annotations

from types import SimpleNamespace

from lab.explore.search.in_words import readable
from lab.explore.store.commands import needs_clock
from tests.every import every

TOKEN = bytes.fromhex("0123456789abcdef0123456789abcdef")
DRAWN = SimpleNamespace(drawing=SimpleNamespace(known_tokens=lambda: [(TOKEN, 1, 1)]))
CLOCKED = frozenset({b"a hash"})


@every(
    "command, needs",
    [
        ("TIME", True),
        ("PEXPIREAT L 5", True),
        ("PEXPIRE L 5", False),
        ("SET L x PXAT 5", True),
        ("SET L x PX 5", False),
        ("GET PXAT", False),
        ("XADD L * field x", True),
        ("XADD L 1-1 field x", False),
    ],
)
def test_commands_that_depend_on_the_clock(command, needs):
    """A command depends on the clock that reads it or names a moment on it."""
    assert needs_clock(tuple(command.encode().split()), CLOCKED) is needs


@every("sha, needs", [(b"a hash", True), (b"another", False)])
def test_scripts_that_depend_on_the_clock(sha, needs):
    """A script depends on the clock if it is one of those that may ask for the time."""
    assert needs_clock((b"EVALSHA", sha, b"0"), CLOCKED) is needs


@every(
    "word, seen",
    [
        (TOKEN.hex(), "B’s token"),
        (f"lock:{TOKEN.hex().upper()}", "lock:B’s token"),
        (str(int.from_bytes(TOKEN, "big")), "B’s token"),
        ("01234567-89ab-cdef-0123-456789abcdef", "B’s token"),
        (TOKEN.hex()[:8], "B’s token"),
        (TOKEN.hex()[:5], "01234"),
        ("free", "free"),
    ],
)
def test_tokens_have_names(word, seen):
    """A token has its name, in whatever form it is written, also a slice of it; other words stay."""
    assert readable(DRAWN, word.encode()) == seen

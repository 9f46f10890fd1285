"""Test how a repetition of a schedule is compared with the search."""

from types import SimpleNamespace

from app.lock import Claim
from lab.explore.code.operation import LOCK, CommandSent
from lab.explore.search.event import STEP, ScheduleEvent
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.replay import _difference, same
from lab.explore.store.resp import Reply
from tests.every import every

GET, DEL = CommandSent(LOCK, (b"GET", b"L")), CommandSent(LOCK, (b"DEL", b"L"))
LOST = (Finding(Claim.exclusive, Harm.LOST),)


def move(command=GET, findings=(), value=b"a"):
    return SimpleNamespace(event=ScheduleEvent(STEP, 0), command=command, findings=findings, reply=Reply(b"", value))


@every(
    "now, how",
    [
        (move(DEL), "at A it sent 'GET L' in the search, and 'DEL L' in the repetition"),
        (move(findings=LOST), "A breaks nothing in the search, and exclusive in the repetition"),
        (move(value=b"b"), "A was answered b'a' in the search, and b'b' on an empty server"),
        (move(), ""),
    ],
)
def test_message_names_the_difference(now, how):
    """The message names the command, the claims or the reply that differs."""
    assert _difference(move(), now) == how  # type: ignore[arg-type]


@every(
    "one, other, are_same",
    [
        (2900, 2990, True),  # the time that a key has left
        (2900, 2700, False),
        (1, 2, False),
        (b"a", b"a", True),
        ((b"a", 2900), (b"a", 2950), True),
        ((b"a",), (b"a", b"b"), False),
        ((b"a",), (b"b",), False),
    ],
)
def test_same_replies(one, other, are_same):
    """The time that a key has left may differ by milliseconds; any other part of a reply must be the same."""
    assert same(one, other) is are_same

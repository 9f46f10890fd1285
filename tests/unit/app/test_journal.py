"""The journal's events."""

from __future__ import annotations

from app.journal import Renewed
from tests.every import every


@every(
    "answer, prolonged, succeeded",
    [("1", None, True), ("sent", None, True), ("0", None, False), ("1", False, False), ("[1]", True, True)],
)
def test_renewal_that_succeeded(answer, prolonged, succeeded):
    """The replica records whether a command can have prolonged a lease; in an older journal the answer decides."""
    event = Renewed(request="", key="lock", renewed_ns=1, answer=answer, prolonged=prolonged)

    assert event.succeeded is succeeded

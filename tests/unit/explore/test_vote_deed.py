"""What clients do at several servers, in sentences."""

from __future__ import annotations

import pytest

from lab.explore.search.event import LOST_COMMAND, RESEND, STEP, Event
from lab.explore.story.vote_deed import Vote, together, words


@pytest.mark.parametrize(
    ("event", "given", "text"),
    [
        (Event(STEP, 0, node=3), {"after": 0}, "gets a vote from server 3"),
        (Event(STEP, 0, node=3), {"after": 0, "granted": True}, "gets a vote from server 3, and gets the lock"),
        (Event(STEP, 0, node=1), {"before": 1, "after": 1, "asks": True}, "is refused by server 1"),
        (Event(STEP, 0, node=2), {"before": 0}, "takes back its vote from server 2"),
        (Event(STEP, 0, node=2), {"before": 1}, "takes back B’s vote from server 2"),
        (Event(STEP, 0, node=2), {"before": 1, "after": 1, "has_worked": True}, "leaves B’s vote alone at server 2"),
        (Event(STEP, 0, node=2), {"before": 1, "after": 1}, ""),
        (Event(LOST_COMMAND, 0, node=2), {}, "sends a command to server 2, and the command is lost"),
        (Event(RESEND, 0, node=2), {}, "sends a command to server 2, and sends the command again, because the reply is lost"),
    ],
)
def test_words(event, given, text):
    """A deed names the server, whose vote it is, and what becomes of it."""
    fields = {"before": None, "after": None, "renewed": False, "granted": False, "asks": False, "has_worked": False}

    assert words(Vote(event, **(fields | given))) == text


def test_together():
    """What several servers answer to one command is one deed; what another client does comes between."""
    deeds = [("A", f"gets a vote from server {number}") for number in (1, 2, 3)] + [("B", "is refused by server 1")]
    deeds += [("A", "is refused by server 4"), ("A", "is refused by server 5, and gets the lock"), ("A", "reads 0")]

    assert list(together(deeds)) == [
        ("A", "gets votes from servers 1, 2 and 3"),
        ("B", "is refused by server 1"),
        ("A", "is refused by servers 4 and 5, and gets the lock"),
        ("A", "reads 0"),
    ]

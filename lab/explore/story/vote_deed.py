"""What an event at one of several servers does, as a part of a sentence: "gets a vote from server 3".

One server after the other answers the same command. Such deeds are one in a sentence: "gets votes from servers 1, 2 and 3".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lab.explore.search.event import LOST_COMMAND, LOST_REPLY, RESEND, Event, letter_of

FIRST_PART = re.compile(r"(?P<what>.*) server (?P<servers>[\d, and]*\d)(?P<more>, .*)?")
SEVERAL_OF = {"a vote": "votes", "its vote": "its votes", "’s vote": "’s votes"}
AT_ALL = {
    LOST_REPLY: "sends a command to all servers, and no reply will arrive",
    LOST_COMMAND: "sends a command to all servers, and it is lost on the way to each",
    RESEND: "sends a command to all servers, and will send it again, because the replies will be lost",
}


class Vote(NamedTuple):
    """What an event changed at its server."""

    event: Event
    # the client that has the server's vote, before and after; None without one
    before: int | None
    after: int | None
    # whether the key lives longer than before
    renewed: bool
    # whether the client has the lock since this event
    granted: bool
    # whether the client was asking for the lock; whether it has done its work
    asks: bool
    has_worked: bool


def words(vote: Vote) -> str:
    """Return what an event at one server does; empty where it is not worth a word."""
    event = vote.event
    text = f"{_what(vote)} server {event.node}" if _what(vote) else ""
    if event.kind is LOST_COMMAND:
        text = f"sends a command to server {event.node}, and the command is lost"
    elif event.kind is LOST_REPLY:
        text = f"{text or f'sends a command to server {event.node}'}, and the reply is lost"
    elif event.kind is RESEND:
        text = f"{text or f'sends a command to server {event.node}'}, and sends the command again, because the reply is lost"
    return f"{text}, and gets the lock" if vote.granted else text


def _what(vote: Vote) -> str:
    client, before, after = vote.event.client, vote.before, vote.after
    if before is None and after is not None:
        return "gets a vote from"
    if before is not None and after is None:
        return f"takes back {_whose(before, client)} from"
    if vote.renewed and after is not None:
        return f"renews {_whose(after, client)} at"
    if vote.asks and before is not None:
        return "is refused by"
    return f"leaves {_whose(before, client)} alone at" if vote.has_worked and before not in (None, client) else ""


def _whose(owner: int, client: int) -> str:
    return "its vote" if owner == client else f"{letter_of(owner)}’s vote"


def together(deeds: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield deeds of clients, with those of one command at several servers as one."""
    last: tuple[str, str] | None = None
    for who, deed in deeds:
        joined = _joined(last[1], deed) if last is not None and last[0] == who else ""
        if last is not None and not joined:
            yield last
        last = who, joined or deed
    if last is not None:
        yield last


def _joined(one: str, other: str) -> str:
    """Return two deeds as one; empty where they are not of the same kind."""
    first, second = FIRST_PART.fullmatch(one.replace(" servers ", " server ")), FIRST_PART.fullmatch(other)
    if first is None or second is None or first["more"] or _plural(first["what"]) != _plural(second["what"]):
        return ""
    *others, last = [*re.findall(r"\d", first["servers"]), second["servers"]]
    return f"{_plural(second['what'])} servers {', '.join(others)} and {last}{second['more'] or ''}"


def _plural(what: str) -> str:
    for one, several in SEVERAL_OF.items():
        if one in what and several not in what:
            return what.replace(one, several)
    return what

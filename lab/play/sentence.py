"""What one event did, as a sentence: the command and its reply, and what changed for the clients and the lock."""

from __future__ import annotations

from typing import NamedTuple

from lab.explore.event import CHOICE, CLOCK, CRASH, LOST_COMMAND, LOST_REPLY, PAUSE, RESEND, RESTART, RESUME, letter_of
from lab.explore.operation import Failure
from lab.explore.state import Move, State
from lab.explore.story import reply_in_words
from lab.play.board import Board

DONE_TO = {
    PAUSE: "is paused",
    RESUME: "is resumed",
    CRASH: "is killed",
    RESTART: "restarts without its data",
    CHOICE: "draws the random number",
}
SHORT = {CLOCK: "time", RESTART: "restart", PAUSE: "pause", RESUME: "resume", CRASH: "crash", CHOICE: "random"}
LOST = (LOST_REPLY, LOST_COMMAND)
SENT = {
    LOST_REPLY: "The reply is lost: {who} gets an error.",
    LOST_COMMAND: "The command is lost, and {who} gets an error.",
    RESEND: "The reply is lost, so {who} sends the command again. Now Redis answers {reply}.",
}


class Report(NamedTuple):
    """What a page shows of an event."""

    sentence: str
    # a few letters for the picture of the schedule
    short: str
    # the reply, as short
    answer: str


def reported(board: Board, before: State, move: Move) -> Report:
    """Return what an event did."""
    sentence = " ".join([_event(board, move), *_changes(board, before, move.state)])
    if move.command is None:
        return Report(sentence, SHORT.get(move.event.kind, "message"), "")
    name, _, others = board.words(move.command).partition(" ")
    short = name.partition("(")[0] if "(" in name else f"{name} {others.partition(' ')[0]}"
    return Report(sentence, short, "lost" if move.event.kind in LOST else reply_in_words(move.reply).removesuffix(" token"))


def _event(board: Board, move: Move) -> str:
    event = move.event
    who = letter_of(event.client) if event.client >= 0 else "The store"
    if move.command is not None:
        return _sent(board, move, who)
    if event.kind is CLOCK:
        return f"Time passes: the clock reads {event.number} ms."
    done = DONE_TO.get(event.kind, "receives a message")
    return f"{who} {done}{f' {event.number}' if event.kind is CHOICE else ''}."


def _sent(board: Board, move: Move, who: str) -> str:
    """Return what a command did. ``who`` sent it."""
    assert move.command is not None  # noqa: S101 - for the types
    event, reply = move.event, reply_in_words(move.reply)
    first = f"{f'{who}’s other thread' if event.thread else who} sends {board.words(move.command)}."
    if event.kind in SENT:
        return f"{first} {SENT[event.kind].format(who=who, reply=reply)}"
    return f"{first} {'Redis answers with an error.' if isinstance(move.reply, Failure) else f'Redis answers {reply}.'}"


def _changes(board: Board, before: State, after: State) -> list[str]:
    found = []
    gone = {key.name for key in board.lock(before)} - {key.name for key in board.lock(after)}
    if gone:
        words = "is gone" if len(gone) == 1 else "are gone"
        found.append(f"The key{'s' if len(gone) > 1 else ''} {' and '.join(sorted(gone))} {words}.")
    for client in range(len(after.nodes)):
        found += _change(board, before, after, client)
    return found


def _change(board: Board, before: State, after: State, client: int) -> list[str]:
    who = letter_of(client)
    was, now = board.phase(before, client), board.phase(after, client)
    found = []
    if was != now:
        words = {
            "inside": f"{who} has the lock, and begins its work.",
            "releasing": f"{who}’s work is done.",
            "done": f"{who} is done.",
        }
        found.append(words.get(now, f"{who} ends with the error {now}."))
    elif after.parked[client] and not before.parked[client]:
        found.append(f"{who} sleeps: it tries again when the lock’s store has changed.")
    elif before.parked[client] and not after.parked[client] and not after.modes[client]:
        found.append(f"{who} wakes, and will try again.")
    return found

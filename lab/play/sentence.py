"""What one event did, as a sentence: the command and its reply, and what changed for the clients and the lock."""

from __future__ import annotations

from typing import NamedTuple

from lab.explore.code.operation import Nap
from lab.explore.search.event import (
    CHOICE,
    CLOCK,
    CRASH,
    FAILURE,
    LOST_COMMAND,
    LOST_REPLY,
    NOBODY,
    PAUSE,
    RESEND,
    RESTART,
    RESUME,
    letter_of,
)
from lab.explore.search.ghosts import ASKS, OVER
from lab.explore.search.harm import Finding
from lab.explore.search.state import RUNS, Move, State
from lab.explore.store.resp import Failure, Reply
from lab.explore.story.deed import WAITS, Seen, of_event
from lab.explore.story.narrative import capital
from lab.explore.story.story import reply_in_words
from lab.play.board import Board

SHORT = {CLOCK: "time", RESTART: "restart", PAUSE: "pause", RESUME: "resume", CRASH: "crash", FAILURE: "fails", CHOICE: "random"}
LOST = (LOST_REPLY, LOST_COMMAND)


class Report(NamedTuple):
    """What a page shows of an event."""

    # what was sent, what was answered, and what that means
    sentences: tuple[str, ...]
    # a few letters for the picture of the schedule
    short: str
    # the reply, as short
    answer: str


def reported(board: Board, before: State, move: Move) -> Report:
    """Return what an event did."""
    sentences = (*_event(board, before, move), *_changes(board, before, move.state))
    if move.command is None or move.event.kind is FAILURE:
        return Report(sentences, SHORT.get(move.event.kind, "message"), "")
    name, _, others = board.words(move.command).partition(" ")
    short = name.partition("(")[0] if "(" in name else f"{name} {others.partition(' ')[0]}"
    return Report(sentences, short, "lost" if move.event.kind in LOST else _replied(board, move).removesuffix(" token"))


def broken(board: Board, before: State, move: Move, finding: Finding) -> str:
    """Return how a move breaks a claim, with the letters of the clients."""
    return capital(of_event(_seen(board, before, move._replace(found=(finding,)))).breaks[0])


def _seen(board: Board, before: State, move: Move) -> Seen:
    """Return an event with the owners of the lock's keys before and after it: the requests that have taken the lock."""
    known = board.world.about.known
    owned_before, owned = (
        {key.encode(): owner.actor for key, owner in state.ghosts.owners if key in known} for state in (before, move.state)
    )
    other = 1 - move.event.client if move.event.client >= 0 else NOBODY
    wrote = (
        other >= 0 and before.ghosts.phases[other] > ASKS and (before.ghosts.writes[other] or before.ghosts.phases[other] == OVER)
    )
    counts = board.count(before), board.count(move.state)
    names = frozenset(key.encode() for key in known)
    return Seen(board.world, before, move, *counts, names, owned_before, owned, other if wrote else NOBODY)


def _event(board: Board, before: State, move: Move) -> list[str]:
    """Return what was sent and answered, and what that means, in sentences."""
    event = move.event
    deed = of_event(_seen(board, before, move)).words
    if event.kind is CLOCK:
        ends = deed.partition(", ")[2]
        return [f"Time passes: the clock reads {event.number} ms.", *([f"{ends}."] if ends else [])]
    if move.command is None or event.kind is FAILURE:
        return [capital(f"{letter_of(event.client)} {deed}." if event.client >= 0 else f"{deed}.")]
    who = letter_of(event.client)
    sent = f"{f'{who}’s other thread' if not event.own else who} sends {board.words(move.command)}."
    if deed.startswith(WAITS) and (not event.own or board.phase(before, event.client) != "waiting"):
        deed = deed.removeprefix(WAITS).removeprefix(", and ")  # it is in its release, or renews
    did = [f"{who}’s{deed.removeprefix('its')}." if deed.startswith("its ") else f"{who} {deed}."] if deed else []
    answer = _replied(board, move)
    if event.kind is RESEND:
        return [sent, *did, f"Redis answers {answer} to the second."]
    return [sent, *([] if event.kind in LOST else [f"Redis answers {answer}."]), *did]


def _replied(board: Board, move: Move) -> str:
    """Return what Redis answered."""
    is_error = isinstance(move.reply, Reply) and isinstance(move.reply.value, Failure)
    return "with an error" if is_error else reply_in_words(board.program, move.reply)


def _changes(board: Board, before: State, after: State) -> list[str]:
    """Return which clients are done, and which wake."""
    found = []
    for client, mode in enumerate(after.modes):
        who = letter_of(client)
        if board.phase(after, client) == "done" != board.phase(before, client):
            found.append(f"{who} is done.")
        elif _naps(board, before, client) and before.nodes[client] != after.nodes[client] and mode == RUNS:
            found.append(f"{who} wakes.")
    return found


def _naps(board: Board, state: State, client: int) -> bool:
    return isinstance(board.world.node(state, client).pending[0], Nap)

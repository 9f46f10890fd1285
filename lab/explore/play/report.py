"""Report one event on a page: the command and its reply, their meaning, and the clients that end or wake."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from lab.explore.code.operation import Nap
from lab.explore.play.board import WAITING, Board
from lab.explore.search.event import CLOCK, FAILURE, LOST_COMMAND, LOST_REPLY, NOBODY, RESEND, letter_of
from lab.explore.search.ghosts import ASKS, OVER
from lab.explore.search.harm import Finding
from lab.explore.search.state import RUNS, Move
from lab.explore.store.resp import Failure, Reply
from lab.explore.story.happenings import EventFacts, breaks, of_event
from lab.language import Language
from lab.story import say
from lab.story.happening import Happening, Kind

LOST = (LOST_REPLY, LOST_COMMAND)


def reported(board: Board, move: Move) -> tuple[str, ...]:
    """Return the sentences about an event; last, a short text for the picture of the schedule, and a short reply."""
    happenings = [*_event(board, move), *_changes(board, move)]
    return (*[_sentence(event, board.language) for event in happenings], *_in_short(board, move))


def broken_by(board: Board, move: Move, finding: Finding) -> str:
    """Return how a move breaks a claim, with the letters of the clients."""
    return say.capital(say.broken(breaks(_facts(board, move), finding), board.language))


@cache
def _sentence(parts: tuple[Happening, ...], language: Language) -> str:
    (first, *others) = parts
    if first.kind in (Kind.LOCK_EXPIRED, Kind.VOTES_EXPIRED):
        return say.as_sentence(say.clause(first, language, "row"), language)  # the sentence before has the time
    return say.as_sentence(say.effects((first, *others), language), language)


def _facts(board: Board, move: Move) -> EventFacts:
    """Return an event with the owners of the lock's keys before and after it: the requests that have taken the lock."""
    known, before = board.world.known, move.before
    owned_before, owned = (
        {key.encode(): owner.actor for key, owner in state.ghosts.owners if key in known} for state in (before, move.state)
    )
    other = 1 - move.event.client if move.event.client >= 0 else NOBODY
    wrote = (
        other >= 0
        and before.ghosts.actors[other].phase > ASKS
        and (before.ghosts.actors[other].writes or before.ghosts.actors[other].phase == OVER)
    )
    counts = board.count(before.counter), board.count(move.state.counter)
    names = frozenset(key.encode() for key in known)
    return EventFacts(board.world, move, *counts, names, owned_before, owned, other if wrote else NOBODY)


def _event(board: Board, move: Move) -> Iterator[tuple[Happening, ...]]:
    """Yield the happenings of each sentence about an event: the command, its reply, and their meaning."""
    event, now_ms = move.event, move.state.now_ms
    happenings = of_event(_facts(board, move))
    if event.kind is CLOCK:
        yield (Happening(Kind.CLOCK, now_ms),)
    elif move.command is not None and event.kind is not FAILURE:
        code, actor = board.words(move.command), letter_of(event.client)
        yield (Happening(Kind.COMMAND, now_ms, actor, code=code, background=not event.own),)
        first = _answered(board, move) if event.kind not in LOST else ()
        if first and event.kind is not RESEND:
            yield first
        is_asking = event.own and board.phase(move.before, event.client) == WAITING
        if happenings and happenings[0].kind is Kind.WAITED and not is_asking:
            happenings = happenings[1:]  # it releases or renews, and does not wait
        if happenings:
            yield happenings
        if event.kind is RESEND:
            yield first
        return
    if happenings:
        yield happenings


def _is_error(move: Move) -> bool:
    return isinstance(move.reply, Reply) and isinstance(move.reply.value, Failure)


def _answered(board: Board, move: Move) -> tuple[Happening, ...]:
    """Return the reply of Redis; if the command was sent twice, to the second one."""
    is_second = move.event.kind is RESEND
    if _is_error(move):
        return (Happening(Kind.SECOND_ERROR if is_second else Kind.ERROR),)
    return (Happening(Kind.SECOND_ANSWER if is_second else Kind.ANSWER, code=board.reply(move.reply)),)


def _in_short(board: Board, move: Move) -> tuple[str, str]:
    """Return a short text for an event, and a short reply."""
    event = move.event
    if move.command is None or event.kind is FAILURE:
        happenings = (Happening(Kind.CLOCK),) if event.kind is CLOCK else of_event(_facts(board, move))
        kind = happenings[0].kind if happenings and say.has(happenings[0], "short") else Kind.MESSAGE
        return say.clause(Happening(kind), board.language, "short"), ""
    if event.kind in LOST:
        return board.short(move.command), say.clause(Happening(Kind.REPLY_LOST), board.language, "short")
    answer = say.clause(Happening(Kind.ERROR), board.language, "short") if _is_error(move) else board.reply(move.reply)
    return board.short(move.command), answer


def _changes(board: Board, move: Move) -> Iterator[tuple[Happening, ...]]:
    """Yield the happenings of clients that are done, or that wake."""
    before, after = move.before, move.state
    for client, mode in enumerate(after.modes):
        letter, was_asleep = letter_of(client), isinstance(board.world.node(before, client).pending[0], Nap)
        if board.phase(after, client) == "done" != board.phase(before, client):
            yield (Happening(Kind.DONE, actor=letter),)
        elif was_asleep and before.nodes[client] != after.nodes[client] and mode == RUNS:
            yield (Happening(Kind.WOKE, actor=letter),)

"""What one event did, for a page: what was sent and answered, what that means, and which clients it ends or wakes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from lab.explore.code.operation import Nap
from lab.explore.play.board import WAITING, Board
from lab.explore.search.event import CLOCK, FAILURE, LOST_COMMAND, LOST_REPLY, NOBODY, RESEND, letter_of
from lab.explore.search.ghosts import ASKS, OVER
from lab.explore.search.harm import Finding
from lab.explore.search.in_words import reply_in_words
from lab.explore.search.state import RUNS, Move, State
from lab.explore.store.resp import Failure, Reply
from lab.explore.story.deeds import Seen, breaks, of_event
from lab.language import Language
from lab.story import say
from lab.story.happening import Happening, Kind

LOST = (LOST_REPLY, LOST_COMMAND)


def reported(board: Board, move: Move) -> tuple[str, ...]:
    """Return what an event did in sentences; last, a few letters for the picture of the schedule, and the reply as short."""
    deeds = [*_event(board, move), *_changes(board, move)]
    return (*[_sentence(one, board.language) for one in deeds], *_in_short(board, move))


def broken_by(board: Board, move: Move, finding: Finding) -> str:
    """Return how a move breaks a claim, with the letters of the clients."""
    return say.capital(say.broken(breaks(_seen(board, move), finding), board.language))


@cache
def _sentence(parts: tuple[Happening, ...], language: Language) -> str:
    (one, *others) = parts
    if one.kind in (Kind.LOCK_EXPIRED, Kind.VOTES_EXPIRED):
        return say.ended(say.clause(one, language, "row"), language)  # the sentence before has the time
    return say.ended(say.did((one, *others), language), language)


def _seen(board: Board, move: Move) -> Seen:
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
    return Seen(board.world, move, *counts, names, owned_before, owned, other if wrote else NOBODY)


def _event(board: Board, move: Move) -> Iterator[tuple[Happening, ...]]:
    """Yield what was sent and answered, and what that means: a sentence each."""
    event, now_ms = move.event, move.state.now_ms
    deeds = of_event(_seen(board, move))
    if event.kind is CLOCK:
        yield (Happening(Kind.CLOCK, now_ms),)
    elif move.command is not None and event.kind is not FAILURE:
        code, actor = board.words(move.command), letter_of(event.client)
        yield (Happening(Kind.COMMAND, now_ms, actor, code=code, background=not event.own),)
        first = _answered(board, move) if event.kind not in LOST else ()
        if first and event.kind is not RESEND:
            yield first
        is_asking = event.own and board.phase(move.before, event.client) == WAITING
        if deeds and deeds[0].kind is Kind.WAITED and not is_asking:
            deeds = deeds[1:]  # it is in its release, or renews
        if deeds:
            yield deeds
        if event.kind is RESEND:
            yield first
        return
    if deeds:
        yield deeds


def _is_error(move: Move) -> bool:
    return isinstance(move.reply, Reply) and isinstance(move.reply.value, Failure)


def _answered(board: Board, move: Move) -> tuple[Happening, ...]:
    """Return what Redis answered: to the second command, where it was sent twice."""
    is_second = move.event.kind is RESEND
    if _is_error(move):
        return (Happening(Kind.SECOND_ERROR if is_second else Kind.ERROR),)
    return (Happening(Kind.SECOND_ANSWER if is_second else Kind.ANSWER, code=board.reply(move.reply)),)


def _in_short(board: Board, move: Move) -> tuple[str, str]:
    """Return a few letters for an event, and the reply as short."""
    event = move.event
    if move.command is None or event.kind is FAILURE:
        deeds = (Happening(Kind.CLOCK),) if event.kind is CLOCK else of_event(_seen(board, move))
        kind = deeds[0].kind if deeds and say.has(deeds[0], "short") else Kind.MESSAGE
        return say.clause(Happening(kind), board.language, "short"), ""
    if event.kind in LOST:
        return board.short(move.command), say.clause(Happening(Kind.REPLY_LOST), board.language, "short")
    return board.short(move.command), _answer(board, move)


def _answer(board: Board, move: Move) -> str:
    """Return the reply as short: of a token, whose it is."""
    if _is_error(move):
        return say.clause(Happening(Kind.ERROR), board.language, "short")
    return reply_in_words(board.program, move.reply, lambda letter, number: say.whose(letter, number, board.language))


def _changes(board: Board, move: Move) -> Iterator[tuple[Happening, ...]]:
    """Yield which clients are done, and which wake."""
    before, after = move.before, move.state
    for client, mode in enumerate(after.modes):
        who = letter_of(client)
        if board.phase(after, client) == "done" != board.phase(before, client):
            yield (Happening(Kind.DONE, actor=who),)
        elif _naps(board, before, client) and before.nodes[client] != after.nodes[client] and mode == RUNS:
            yield (Happening(Kind.WOKE, actor=who),)


def _naps(board: Board, state: State, client: int) -> bool:
    return isinstance(board.world.node(state, client).pending[0], Nap)

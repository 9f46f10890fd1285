"""A graph as a page reads it: small numbers. What many states have in common is written once, and named by its place."""

from __future__ import annotations

from typing import Any

from lab.explore.model import Numbered
from lab.explore.play.board import Board, Pane, ThreadWait
from lab.explore.play.graph import NEVER, Graph
from lab.explore.play.report import broken_by, reported
from lab.language import Language


def encoded(graph: Graph, language: Language) -> tuple[dict[str, Any], set[ThreadWait]]:
    """Return the tables, the states and the moves; and what threads wait for. State 0 is the start.

    ``states``: of each state the pane of each client, the lock, the counter, the clock, the faults that are left,
    how many increments were written, the distance.
    ``moves``: of each state, four numbers a move: the event, the next state, the report, what breaks.
    ``words``: the texts of panes.
    ``reports``: of each report the places of its sentences, its letters for the picture, the answer.
    """
    board = Board(graph.world, language)
    panes, words, locks, counters, left, events, sentences, reports, findings = (Numbered[Any]() for _ in range(9))
    findings.number(())  # place 0: nothing breaks
    states, moves = [], []
    for number, state in enumerate(graph.states):
        shown = [panes.number(board.pane(state, client)) for client in range(len(state.nodes))]
        keys = (locks.number(board.keys(state, is_lock=True)), counters.number(board.keys(state, is_lock=False)))
        about = (*keys, state.now_ms, left.number(state.left))
        written = sum(one.writes for one in state.ghosts.actors) + state.ghosts.served
        states.append([*shown, *about, written, graph.distances.get(number, NEVER)])
        of_state: list[int] = []
        for move, after, found in zip(graph.moves[number], graph.leads_to[number], graph.broken[number], strict=True):
            breaks = tuple((one.claim.name, broken_by(board, move, one)) for one in found)
            *said, short, answer = reported(board, move)
            placed = reports.number((tuple(map(sentences.number, said)), short, answer))
            of_state += [events.number(str(move.event)), after, placed, findings.number(breaks)]
        moves.append(of_state)
    states, moves = merged(states, moves)
    waits = {wait for pane in panes for wait in pane.threads}
    data = {
        "panes": [_numbered(pane, words) for pane in panes],
        "words": words,
        "locks": locks,
        "counters": counters,
        "left": [one._asdict() for one in left],
        "events": events,
        "sentences": sentences,
        "reports": reports,
        "findings": findings,
        "states": states,
        "moves": moves,
    }
    return data, waits


def _numbered(pane: Pane, words: Numbered[Any]) -> tuple[Any, ...]:
    threads = [(one.thread, one.kind, words.number(one.command), one.line, one.work_line, one.at_ms) for one in pane.threads]
    return pane.phase, pane.mode, threads, words.number(pane.answer), words.number(pane.truth)


def merged(states: list[list[int]], moves: list[list[int]]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the same graph with one state for all that look the same and from which the same can follow, whatever is done.

    Such states differ in what the search remembers of their past. First all that look the same are taken for one, and are then
    separated where a move leads to different ones, until none does.
    """
    table = Numbered[Any]()
    classes = [table.number(tuple(state)) for state in states]
    while True:
        after = Numbered[Any]()
        refined = [after.number((own, *_leading(moves[state], classes))) for state, own in enumerate(classes)]
        if len(after) == len(table):
            break
        table, classes = after, refined
    first = {own: state for state, own in reversed(list(enumerate(classes)))}
    chosen = [first[own] for own in range(len(first))]
    return [states[state] for state in chosen], [_leading(moves[state], classes) for state in chosen]


def _leading(moves: list[int], classes: list[int]) -> list[int]:
    """Return the moves of a state, with the class of each next state in its place."""
    return [classes[word] if place % 4 == 1 else word for place, word in enumerate(moves)]

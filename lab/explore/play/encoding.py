"""Encode a graph for a page in small numbers: a value of several states is written once, and the states have its place."""

from __future__ import annotations

from typing import Any

from lab.explore.model import Numbered
from lab.explore.play.board import Board, Pane, ThreadWait
from lab.explore.play.graph import NEVER, Graph
from lab.explore.play.report import broken_by, reported
from lab.language import Language


def encoded(graph: Graph, language: Language) -> tuple[dict[str, Any], set[ThreadWait]]:
    """Return the tables, the states and the moves; and the waits of all threads. State 0 is the start.

    ``states``: for each state, the pane of each client, the lock, the counter, the clock, the faults that are left, the number of
    increments, and the distance from the goal.
    ``moves``: for each state, four numbers a move: the event, the next state, the report, the findings.
    ``words``: the texts of panes.
    ``reports``: for each report, the places of its sentences, its short text for the picture, and the reply.
    """
    board = Board(graph.world, language)
    panes, words, locks, counters, left, events, sentences, reports, findings = (Numbered[Any]() for _ in range(9))
    findings.number(())  # place 0: nothing breaks
    states, moves = [], []
    for number, state in enumerate(graph.states):
        numbers = [panes.number(board.pane(state, client)) for client in range(len(state.nodes))]
        keys = (locks.number(board.keys(state, is_lock=True)), counters.number(board.keys(state, is_lock=False)))
        written = sum(actor.writes for actor in state.ghosts.actors) + state.ghosts.served
        distance = graph.distances.get(number, NEVER)
        states.append([*numbers, *keys, state.now_ms, left.number(state.left), written, distance])
        of_state: list[int] = []
        for move, after, broken in zip(graph.moves[number], graph.leads_to[number], graph.broken[number], strict=True):
            breaks = tuple((finding.claim.name, broken_by(board, move, finding)) for finding in broken)
            *texts, short, answer = reported(board, move)
            placed = reports.number((tuple(map(sentences.number, texts)), short, answer))
            of_state += [events.number(str(move.event)), after, placed, findings.number(breaks)]
        moves.append(of_state)
    states, moves = merged(states, moves)
    waits = {wait for pane in panes for wait in pane.threads}
    data = {
        "panes": [_numbered(pane, words) for pane in panes],
        "words": words,
        "locks": locks,
        "counters": counters,
        "left": [budget._asdict() for budget in left],
        "events": events,
        "sentences": sentences,
        "reports": reports,
        "findings": findings,
        "states": states,
        "moves": moves,
    }
    return data, waits


def _numbered(pane: Pane, words: Numbered[Any]) -> tuple[Any, ...]:
    threads = [(*wait[:2], words.number(wait.command), *wait[3:]) for wait in pane.threads]
    return pane.phase, pane.mode, threads, words.number(pane.answer), words.number(pane.truth)


def merged(states: list[list[int]], moves: list[list[int]]) -> tuple[list[list[int]], list[list[int]]]:
    """Return an equivalent graph, with one state for all states that look the same and have the same future.

    The search distinguishes such states by their past. At first, all states that look the same form one class. A class is split
    as long as the same move leads from its states to different classes.
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
    """Return the moves of a state, with each next state replaced by its class."""
    return [classes[word] if place % 4 == 1 else word for place, word in enumerate(moves)]

"""A stage's code as a tree: what happened to a replica so far → what its threads wait for now.

A node is learned by running the real code from its start, and feeding it what happened. No store is needed for that. What the
code does between two operations depends on nothing else, so each node is learned once, however many schedules go through it. A
step in which the code does not look at the clock leads to one node at all times. Source: a clock that nothing reads is no part of
a state (Daws and Yovine, "Reducing the Number of Clock Variables of Timed Automata").
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from lab.explore.code.memory import remembered
from lab.explore.code.operation import AboutToWrite, Ended, Listen, Mark, Nap, Operation, Releasing, Until, WriteDone
from lab.explore.code.program import Program
from lab.explore.code.replica import Replica

MOST_STANDING = 3000  # some 80 KiB each


class Input(NamedTuple):
    """What happened to one thread."""

    thread: int
    # the reply, the message, the random value; None where only time passed
    result: Any
    # on the clock of the search
    at_ms: int


class Node(NamedTuple):
    """A replica after its inputs."""

    # of nodes that are the same at all times, those that were met first
    inputs: tuple[Input, ...]
    # what each thread waits for; None for a thread that has ended
    pending: tuple[Operation | None, ...]
    # which threads serve requests
    own: tuple[bool, ...]
    # what happened in the last step, each with the number of its request
    marks: tuple[tuple[int, Mark], ...]
    # of each request: how it ended; empty until then. Of several in turn, that is how the last ended
    ended: tuple[str, ...]
    # of each request that serves several in turn: how many are over
    turns: tuple[int, ...]
    # the requests that are in their work
    inside: frozenset[int]
    # those of them that acquire their lock again
    asking_again: frozenset[int]
    # the requests whose last look at the lock is over, and that have not written yet
    writing: frozenset[int]
    # how often a request has gone to sleep between two tries; counted only where that ends it
    refused: int = 0
    # the connections that were subscribed, and that the code has closed
    closed: frozenset[int] = frozenset()
    # what threads wait for that have not ended, each with its number; and those of them that wait for a moment or a message
    waits: tuple[tuple[int, Operation], ...] = ()
    sleeps: tuple[tuple[int, Nap | Until | Listen], ...] = ()


class Tree:
    """What is known so far of all that one replica can do."""

    def __init__(self, program: Program, number: int, at_ms: int = 0, folds: bool = True) -> None:
        """Take what the replica does, and when it begins. folds: beside other threads, equal memories are one node."""
        self.program, self.number, self.at_ms, self.folds = program, number, at_ms, folds
        self._children: dict[tuple[int, int, Any, int], int] = {}
        self._at_any_time: dict[tuple[int, int, Any], int] = {}  # node, thread, result → the same at all times
        # replicas that wait at a node and can continue from there, once each: most steps follow the newest nodes
        self._standing: OrderedDict[int, Replica] = OrderedDict()
        self.nodes: list[Node] = []
        self._known: dict[tuple[Node, bytes], int] = {}  # nodes by what the replica remembers there
        self._number(program.start(number, at_ms), (), -1)

    def step(self, node: int, thread: int, result: Any, at_ms: int) -> int:
        """Return the node that follows, and learn it if it is new."""
        found = self._at_any_time.get((node, thread, result))
        if found is None:
            found = self._children.get((node, thread, result, at_ms))
        if found is None:
            happened = Input(thread, result, at_ms)
            inputs = (*self.nodes[node].inputs, happened)
            standing = self._standing.pop(node, None)
            replica = standing or self.program.start(self.number, self.at_ms)
            replica.resume((happened,) if standing else inputs)
            found = self._folded(self._number(replica, inputs, node), replica)
            if replica.looked_at_clock:
                self._children[node, thread, result, at_ms] = found
            else:
                self._at_any_time[node, thread, result] = found
        return found

    def _folded(self, number: int, replica: Replica) -> int:
        """Return the first node that continues as a new one does."""
        asleep = [isinstance(one.pending, Nap | Until) for one in replica.threads if not one.own and one.pending is not None]
        memory = remembered(replica) if self.folds and asleep and all(asleep) else None
        found = number if memory is None else self._known.setdefault((self.nodes[number]._replace(inputs=()), memory), number)
        if found != number and (is_spare := self._standing.pop(number)) is not self._standing.setdefault(found, is_spare):
            is_spare.close()
        return found

    def close(self) -> None:
        """End the replicas that still stand somewhere."""
        while self._standing:
            self._standing.popitem()[1].close()

    def _number(self, replica: Replica, inputs: tuple[Input, ...], before: int) -> int:
        """Return the number of the new node at which a replica stands."""
        number = len(self.nodes)
        self.nodes.append(_node(replica, inputs, self.nodes[before] if inputs else None, self.program))
        if len(self._standing) == MOST_STANDING:  # a search comes back to nodes in the order in which it met them
            is_passed = next(iter(self._standing)) < before
            self._standing.popitem(last=not is_passed)[1].close()
        self._standing[number] = replica
        return number


def _node(replica: Replica, inputs: tuple[Input, ...], before: Node | None, program: Program) -> Node:
    pending = tuple([one.pending for one in replica.threads])
    marks = tuple(replica.marks)
    requests = program.task.at_once
    turns, ended = before.turns if before else (0,) * requests, before.ended if before else ("",) * requests
    writing = before.writing if before else frozenset()
    for number, mark in marks:
        match mark:
            case AboutToWrite():
                writing |= {number}
            case WriteDone() | Releasing():
                writing -= {number}
            case Ended():
                turns = (*turns[:number], turns[number] + 1, *turns[number + 1 :])
                if turns[number] == program.task.in_turn:
                    ended = (*ended[:number], mark.how, *ended[number + 1 :])
    napped = program.asks is not None and bool(inputs) and inputs[-1].thread == 0 and isinstance(pending[0], Nap)
    return Node(
        inputs,
        pending,
        tuple([one.own for one in replica.threads]),
        marks,
        ended,
        turns,
        frozenset(replica.inside),
        frozenset(replica.asking_again),
        writing,
        (before.refused if before else 0) + napped,
        frozenset(replica.closed),
        waits := tuple([(thread, one) for thread, one in enumerate(pending) if one is not None]),
        tuple([(thread, one) for thread, one in waits if isinstance(one, Nap | Until | Listen)]),
    )

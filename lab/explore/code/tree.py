"""Learn a stage's code as a tree: the inputs of a replica so far → the operations for which its threads wait now.

A node is learned by running the real code from its start with these inputs. No store is needed. Between two operations the code
depends on nothing else but the clock, so each node is learned once, for all schedules that go through it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from lab.explore.code.memory import remembered
from lab.explore.code.operation import AboutToWrite, Ended, Listen, Mark, Nap, Operation, Releasing, Until, WriteDone
from lab.explore.code.program import Program
from lab.explore.code.replica import Replica

MOST_STANDING = 3000  # replicas of some 80 KiB each


class Input(NamedTuple):
    """An input: the result that one thread was given."""

    thread: int
    # the reply, the message or the random value; None if only time passed
    result: Any
    # on the clock of the search
    at_ms: int


class Node(NamedTuple):
    """A replica after its inputs."""

    inputs: tuple[Input, ...]
    # the operation of each thread; None for a thread that has ended
    pending: tuple[Operation | None, ...]
    # which threads serve requests
    own: tuple[bool, ...]
    # the marks of the last step, each with the number of its request
    marks: tuple[tuple[int, Mark], ...]
    # of each thread that serves requests: how its last request ended; empty until then
    ended: tuple[str, ...]
    # of each thread that serves requests: how many of its requests have ended
    turns: tuple[int, ...]
    # the requests that are in their work
    inside: frozenset[int]
    # the requests in their work that acquire their lock again
    asking_again: frozenset[int]
    # the requests that have checked the lock for the last time, and have not written yet
    writing: frozenset[int]
    # how often the request has napped between two tries; counted only if it gives up after some tries
    refused: int = 0
    # the numbers of subscribed connections that the code has closed
    closed: frozenset[int] = frozenset()
    # the operations of threads that have not ended, each with its thread; and of these the waits for a moment or a message
    waits: tuple[tuple[int, Operation], ...] = ()
    sleeps: tuple[tuple[int, Nap | Until | Listen], ...] = ()


class Tree:
    """The nodes that are known so far of one replica."""

    def __init__(self, program: Program, number: int, at_ms: int = 0, folds: bool = True) -> None:
        """Begin with the root. at_ms: the time at the start. folds: beside background threads, equal memories are one node."""
        self.program, self.number, self.at_ms, self.folds = program, number, at_ms, folds
        # by node, thread, result and time: the next node
        self._children: dict[tuple[int, int, Any, int], int] = {}
        # by node: a replica that waits there and can continue once. Most steps follow the newest nodes
        self._standing: OrderedDict[int, Replica] = OrderedDict()
        self.nodes: list[Node] = []
        # by node without its inputs, and digest of its memory: the first such node
        self._known: dict[tuple[Node, bytes], int] = {}
        self._number(program.start(number, at_ms), (), -1)

    def step(self, node: int, thread: int, result: Any, at_ms: int) -> int:
        """Return the node after a thread was given a result, and learn it if it is new. at_ms: the time on the clock."""
        following = self._children.get((node, thread, result, at_ms))
        if following is None:
            happened = Input(thread, result, at_ms)
            inputs = (*self.nodes[node].inputs, happened)
            standing = self._standing.pop(node, None)
            replica = standing or self.program.start(self.number, self.at_ms)
            replica.resume((happened,) if standing else inputs)
            following = self._children[node, thread, result, at_ms] = self._folded(self._number(replica, inputs, node), replica)
        return following

    def _folded(self, number: int, replica: Replica) -> int:
        """Return the first known node that is equal to a new one."""
        background = [thread.pending for thread in replica.threads if not thread.own and thread.pending is not None]
        asleep = [isinstance(operation, Nap | Until) for operation in background]
        memory = remembered(replica) if self.folds and asleep and all(asleep) else None
        first = number if memory is None else self._known.setdefault((self.nodes[number]._replace(inputs=()), memory), number)
        if first != number and (is_spare := self._standing.pop(number)) is not self._standing.setdefault(first, is_spare):
            is_spare.close()
        return first

    def close(self) -> None:
        """Stop all replicas that still wait at a node."""
        while self._standing:
            self._standing.popitem()[1].close()

    def _number(self, replica: Replica, inputs: tuple[Input, ...], before: int) -> int:
        """Return the number of the new node at which a replica waits. before: the node before it."""
        number = len(self.nodes)
        self.nodes.append(_node(replica, inputs, self.nodes[before] if inputs else None, self.program))
        if len(self._standing) == MOST_STANDING:  # a search returns to nodes in the order of their numbers
            is_passed = next(iter(self._standing)) < before
            self._standing.popitem(last=not is_passed)[1].close()
        self._standing[number] = replica
        return number


def _node(replica: Replica, inputs: tuple[Input, ...], before: Node | None, program: Program) -> Node:
    pending = tuple([thread.pending for thread in replica.threads])
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
        tuple([thread.own for thread in replica.threads]),
        marks,
        ended,
        turns,
        frozenset(replica.inside),
        frozenset(replica.asking_again),
        writing,
        (before.refused if before else 0) + napped,
        frozenset(replica.closed),
        waits := tuple([(thread, operation) for thread, operation in enumerate(pending) if operation is not None]),
        tuple([(thread, operation) for thread, operation in waits if isinstance(operation, Nap | Until | Listen)]),
    )

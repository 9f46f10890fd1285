"""A stage's code as a tree: what happened to a client so far → what its threads wait for now.

A node is learned by running the real code from its start, and feeding it what happened. No store is needed for that. What the
code does between two operations depends on nothing else, so each node is learned once, however many schedules go through it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from lab.explore.operation import Ended, Mark, Operation, Releasing, Writing, Wrote
from lab.explore.program import Program
from lab.explore.replica import Replica

MOST_STANDING = 2000  # some 20 KiB each


class Input(NamedTuple):
    """What happened to one thread."""

    thread: int
    # the reply, the message, the random value; None where only time passed
    result: Any
    # on the clock of the search
    at_ms: int


class Node(NamedTuple):
    """A client after its inputs."""

    inputs: tuple[Input, ...]
    # what each thread waits for; None for a thread that has ended
    pending: tuple[Operation | None, ...]
    # what happened in the last step
    marks: tuple[Mark, ...]
    # how the request ended; empty while it goes on
    ended: str
    # whether the request is in its work
    inside: bool
    # the last look at the lock is over, and the write has not come yet
    writing: bool
    # when the request ended; meaningless while it goes on
    ended_ms: int = 0

    @property
    def at_ms(self) -> int:
        """When the client came here."""
        return self.inputs[-1].at_ms if self.inputs else 0


class ClientTree:
    """All that one client can do, as far as it has been learned."""

    def __init__(self, program: Program, number: int) -> None:
        self.program = program
        self.number = number
        self.runs = 0  # how often the real code was started
        self._children: dict[tuple[int, Input], int] = {}
        # replicas that stand at a node and can go on from there, once each: most steps follow the newest nodes
        self._standing: OrderedDict[int, Replica] = OrderedDict()
        self.nodes: list[Node] = []
        self._add(self._start(), (), None)

    def step(self, node: int, happened: Input) -> int:
        """Return the node that follows, and learn it if it is new."""
        found = self._children.get((node, happened))
        if found is None:
            before = self.nodes[node]
            replica = self._standing.pop(node, None)
            if replica is None:
                replica = self._start()
                for one in before.inputs:
                    replica.resume(*one)
            replica.resume(*happened)
            found = self._children[node, happened] = self._add(replica, (*before.inputs, happened), before)
        return found

    def close(self) -> None:
        """End the replicas that still stand somewhere."""
        while self._standing:
            self._standing.popitem()[1].close()

    def _start(self) -> Replica:
        self.runs += 1
        return self.program.start(self.number)

    def _add(self, replica: Replica, inputs: tuple[Input, ...], before: Node | None) -> int:
        pending, marks = tuple(one.pending for one in replica.threads), tuple(replica.marks)
        ended, ended_ms = _how_ended(marks, before), before.ended_ms if before and before.ended else replica.now_ms
        self.nodes.append(Node(inputs, pending, marks, ended, replica.inside, _is_writing(marks, before), ended_ms))
        number = len(self.nodes) - 1
        self._standing[number] = replica
        if len(self._standing) > MOST_STANDING:
            self._standing.popitem(last=False)[1].close()
        return number


def _how_ended(marks: tuple[Mark, ...], before: Node | None) -> str:
    return next((mark.how for mark in marks if isinstance(mark, Ended)), before.ended if before else "")


def _is_writing(marks: tuple[Mark, ...], before: Node | None) -> bool:
    about = [mark for mark in marks if isinstance(mark, Writing | Wrote | Releasing)]
    return isinstance(about[-1], Writing) if about else before is not None and before.writing

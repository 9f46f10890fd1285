"""A stage's code as a tree: what happened to a client so far → what its threads wait for now.

A node is learned by running the real code from its start, and feeding it what happened. No store is needed for that. What the
code does between two operations depends on nothing else, so each node is learned once, however many schedules go through it.

A search may merge nodes: two histories after which the code remembers the same (``memory``) lead to one node. And a step in
which the code does not look at the clock leads to one node at all times. The number of schedules stays what it was.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from lab.explore.memory import Memory, remembered
from lab.explore.operation import Command, Ended, FanOut, Mark, Nap, Operation, Releasing, Writing, Wrote, waits_in_server
from lab.explore.program import Program
from lab.explore.replica import Replica

MOST_STANDING = 500  # some 20 KiB each


class Input(NamedTuple):
    """What happened to one thread."""

    thread: int
    # the reply, the message, the random value; None where only time passed
    result: Any
    # on the clock of the search
    at_ms: int


class Node(NamedTuple):
    """A client after its inputs."""

    # of merged nodes, those that were met first
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
    # whether the request begins a try: it has sent no command since its start, or since its last nap
    is_fresh: bool = True
    # how often the request has gone to sleep between two tries; counted only where that ends it
    refused: int = 0

    @property
    def at_ms(self) -> int:
        """When the client came here."""
        return self.inputs[-1].at_ms if self.inputs else 0


class ClientTree:
    """All that one client can do, as far as it has been learned."""

    def __init__(self, program: Program, number: int, merge: bool = False, known: dict[Any, int] | None = None) -> None:
        """Take what the client does. merge: make one node of all in which the code remembers the same. known: by all clients."""
        self.program = program
        self.number = number
        self.merge = merge
        self.runs = 0  # how often the real code was started
        self._children: dict[tuple[int, Input], int] = {}
        self._at_any_time: dict[tuple[int, int, Any], int] = {}  # node, thread, result → the same at all times
        self._by_memory: dict[Any, int] = {}
        # replicas that stand at a node and can go on from there, once each: most steps follow the newest nodes
        self._standing: OrderedDict[int, Replica] = OrderedDict()
        self.nodes: list[Node] = []
        # of each node, the one that differs in its marks only: once they are taken in, they make no difference
        self.rests: list[int] = []
        # of each node, what is the same for the same node of another client; None where that is not known
        self.labels: list[int | None] = []
        self._known: dict[Any, int] = {} if known is None else known
        self._number(self._start(), (), None)

    def step(self, node: int, happened: Input) -> int:
        """Return the node that follows, and learn it if it is new."""
        found = self._at_any_time.get((node, happened.thread, happened.result)) if self.merge else None
        if found is None:
            found = self._children.get((node, happened))
        if found is None:
            before = self.nodes[node]
            replica = self._standing.pop(node, None)
            if replica is None:
                replica = self._start()
                for one in before.inputs:
                    replica.resume(*one)
            replica.resume(*happened)
            at_any_time = self.merge and not replica.looked_at_clock
            found = self._number(replica, (*before.inputs, happened), before)
            if at_any_time and not _minds_the_time(self.nodes[found]):
                self._at_any_time[node, happened.thread, happened.result] = found
            else:
                self._children[node, happened] = found
        return found

    def close(self) -> None:
        """End the replicas that still stand somewhere."""
        while self._standing:
            self._standing.popitem()[1].close()

    def _start(self) -> Replica:
        self.runs += 1
        return self.program.start(self.number)

    def _number(self, replica: Replica, inputs: tuple[Input, ...], before: Node | None) -> int:
        """Return the node at which a replica stands."""
        node = _node(replica, inputs, before, counts=self.program.asks is not None)
        memory = remembered(replica) if self.merge else None
        number = self._of(memory, node)
        later = node._replace(marks=tuple(mark for mark in node.marks if isinstance(mark, Releasing)))
        rest = number if memory is None or later == node else self._of(memory, later)
        self.rests[number] = rest
        self._stand(rest, replica)
        return number

    def _of(self, memory: Memory | None, node: Node) -> int:
        number, label = len(self.nodes), None
        if memory is not None:
            times = (node.at_ms, node.ended_ms) if _minds_the_time(node) else None
            all_of_it = memory.digest, node.marks, node.ended, node.writing, node.is_fresh, node.refused, times
            number = self._by_memory.setdefault(all_of_it, number)
            if not memory.has_strange_token:
                label = self._known.setdefault(all_of_it, len(self._known))
        if number == len(self.nodes):
            self.nodes.append(node)
            self.rests.append(number)
            self.labels.append(label)
        return number

    def _stand(self, number: int, replica: Replica) -> None:
        if number in self._standing:
            replica.close()
            return
        self._standing[number] = replica
        if len(self._standing) > MOST_STANDING:
            self._standing.popitem(last=False)[1].close()


def _node(replica: Replica, inputs: tuple[Input, ...], before: Node | None, counts: bool) -> Node:
    pending, marks = tuple(one.pending for one in replica.threads), tuple(replica.marks)
    ended, ended_ms = _how_ended(marks, before), before.ended_ms if before and before.ended else replica.now_ms
    fresh = before is None or _is_fresh(before, inputs[-1].thread)
    napped = counts and before is not None and inputs[-1].thread == 0 and isinstance(pending[0], Nap)
    refused = (before.refused if before else 0) + napped
    return Node(inputs, pending, marks, ended, replica.inside, _is_writing(marks, before), ended_ms, fresh, refused)


def _is_fresh(before: Node, thread: int) -> bool:
    """Return whether the request begins a try after a step of a thread."""
    if thread:
        return before.is_fresh
    return isinstance(before.pending[0], Nap) or (before.is_fresh and not isinstance(before.pending[0], Command | FanOut))


def _minds_the_time(node: Node) -> bool:
    """Return whether it matters when a client came to a node: when it sent a command that waits, or when its request ended."""
    outlives = bool(node.ended) and any(one is not None for one in node.pending)
    return outlives or any(map(waits_in_server, node.pending))


def _how_ended(marks: tuple[Mark, ...], before: Node | None) -> str:
    return next((mark.how for mark in marks if isinstance(mark, Ended)), before.ended if before else "")


def _is_writing(marks: tuple[Mark, ...], before: Node | None) -> bool:
    about = [mark for mark in marks if isinstance(mark, Writing | Wrote | Releasing)]
    return isinstance(about[-1], Writing) if about else before is not None and before.writing

"""Define the model of a search: the trees of its replicas and the tables of its servers, with questions about a state."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from lab.explore.code.operation import CommandSent, Listen, Nap, Operation, Until
from lab.explore.code.program import Program
from lab.explore.code.tree import Node, Tree
from lab.explore.search.event import STEP, ScheduleEvent
from lab.explore.search.state import DEAD, RUNS, State, messages
from lab.explore.store.table import Nodes, Table


class World:
    """The behaviour of the replicas and servers of a search. It is learned during searches, and shared by all budgets."""

    def __init__(self, program: Program, trees: Sequence[Tree], lock: Table | Nodes, counter: Table) -> None:
        """Take the tree of each replica, the table of the lock's store, and the table of the counter's store."""
        self.program, self.trees, self.task = program, trees, program.task
        self.lock: Any = lock
        self.counter = counter
        # a change of the lock's store ends all naps; with several servers each vote is a change: so there a nap's end is an event
        self.wakes_at_any_moment = program.servers > 1
        self.actors = len(trees) * self.task.at_once
        self.symmetry: Any = None  # a ServerSymmetry, which lets a search try one of several equal servers
        self.unnoticed: Any = None  # an UnnoticedCommands, which fixes the moment of a command if no client can notice it
        self.lease_ms = self.task.ttl_ms if program.stage.ttl_ms is not None else None  # None for a stage that states no TTL
        self.oracle: Any = None  # a Probe, which knows the keys that a fresh client would get
        self.known: frozenset[str] = frozenset()  # the keys that a fresh client gets on an empty store
        # whether at least half of the requests must be served: without faults, with short work, and with time to wait
        self.serves = False

    def close(self) -> None:
        """End all replicas."""
        for tree in self.trees:
            tree.close()

    def node(self, state: State, client: int) -> Node:
        """Return the node of a replica in its tree."""
        return self.trees[client].nodes[state.nodes[client]]

    def threads(self, state: State) -> Iterator[tuple[int, int, Operation]]:
        """Yield the replica, the thread and the operation of each thread that waits, in replicas that run."""
        for client, mode in enumerate(state.modes):
            if mode == RUNS:
                for thread, operation in self.node(state, client).waits:
                    yield client, thread, operation

    def sleeping(self, state: State) -> list[tuple[int, int, Nap | Until | Listen]]:
        """Return the replica, the thread and the operation of each thread that waits for a moment or a message."""
        running = [client for client, mode in enumerate(state.modes) if mode == RUNS]
        return [(client, *sleep) for client in running for sleep in self.node(state, client).sleeps]

    def gives_up(self, state: State, client: int) -> bool:
        """Return whether a client was refused so often that it gives up."""
        return self.program.asks is not None and self.node(state, client).refused >= self.program.asks

    def waiting(self, state: State) -> tuple[int, ...]:
        """Return the requests that wait for the lock, in replicas that run."""
        waiting = []
        for client, mode in enumerate(state.modes):
            node = self.node(state, client)
            if mode == RUNS and not self.gives_up(state, client):
                first = client * self.task.at_once
                waiting += [
                    first + number
                    for number, ended in enumerate(node.ended)
                    if not ended and (number not in node.inside or number in node.asking_again)
                ]
        return tuple(waiting)

    def asking_again(self, state: State) -> list[int]:
        """Return the requests that acquire their own lock again, in replicas that run."""
        at_once, running = self.task.at_once, [client for client, mode in enumerate(state.modes) if mode == RUNS]
        return [client * at_once + request for client in running for request in self.node(state, client).asking_again]

    def all_over(self, state: State) -> bool:
        """Return whether no request is in progress: each has ended, or its process is dead."""
        return all(
            mode == DEAD or all(self.node(state, client).ended) or self.gives_up(state, client)
            for client, mode in enumerate(state.modes)
        )

    # the threads

    def blocked(self, state: State) -> Iterator[tuple[int, int, CommandSent]]:
        """Yield the replica, the thread and the command of each command that waits in the server, in their order."""
        for client, thread in state.blocked:
            command = self.node(state, client).pending[thread]
            assert isinstance(command, CommandSent)  # noqa: S101 - only a command is blocked
            yield client, thread, command

    def runnable(self, state: State) -> Iterator[tuple[int, int, Operation]]:
        """Yield the replica, the thread and the operation of each thread that can go on, in replicas that run."""
        for client, thread, operation in self.threads(state):
            match operation:
                case Nap():
                    is_able = self.wakes_at_any_moment and not self.gives_up(state, client)
                case CommandSent():
                    is_able = (client, thread) not in state.blocked
                case Listen(_, connection):
                    is_able = bool(messages(state, client, connection))
                case _:
                    is_able = not isinstance(operation, Until)
            if is_able:
                yield client, thread, operation

    def napping(self, state: State) -> list[tuple[int, int]]:
        """Return the threads that sleep between two tries."""
        return [
            (client, thread)
            for client, mode in enumerate(state.modes)
            if mode != DEAD and not self.gives_up(state, client)
            for thread, operation in enumerate(self.node(state, client).pending)
            if isinstance(operation, Nap)
        ]

    def servers(self, state: State) -> Collection[int]:
        """Return the numbers of the servers at which the search continues: of equal servers, only the first."""
        return range(1, self.program.servers + 1) if self.symmetry is None else self.symmetry.order(state).groups

    def actor_of(self, client: int, thread: int) -> int:
        """Return the request that a thread serves; for a thread in the background, the first request of its replica."""
        requests = self.task.at_once
        return client * requests + (thread if thread < requests else 0)

    def event(self, state: State, client: int, thread: int) -> ScheduleEvent:
        """Return the event that is a step of a thread."""
        return ScheduleEvent(STEP, client, thread, self.node(state, client).own[thread])

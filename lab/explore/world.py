"""What can happen: the clients in their trees, the servers in their tables, the clock, and the faults that are left.

Time is an actor: the clock moves to the next deadline, and only when no client that runs can do anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from lab.explore import alone, clock, fan_out, faults, naps, one_server, rules
from lab.explore.alike import Alike
from lab.explore.budget import Budget
from lab.explore.client_tree import ClientTree, Input, Node
from lab.explore.event import (
    CHOICE,
    CLOCK,
    CRASH,
    NOBODY,
    PAUSE,
    RESTART,
    RESUME,
    STEP,
    Event,
)
from lab.explore.fan_out import LOST
from lab.explore.forgotten import forgotten
from lab.explore.ghosts import Ghosts, put
from lab.explore.nodes import Nodes
from lab.explore.operation import (
    COUNTER,
    POPPING,
    Choice,
    Command,
    FanOut,
    Listen,
    Nap,
    Operation,
    Releasing,
    Reply,
    Until,
    waits_in_server,
)
from lab.explore.parking import AWAKE, PARKED, after_change, after_step
from lab.explore.program import Program
from lab.explore.replica import NeverWaits
from lab.explore.rules import Finding
from lab.explore.server_table import ServerTable
from lab.explore.state import DEAD, MESSAGE, RUNS, Move, State, published
from lab.explore.unnoticed import Unnoticed

MOST_WAKES = 1000


class World:
    """What the clients and servers of a search do. It is learned as the search goes, and shared by all budgets."""

    def __init__(
        self,
        program: Program,
        clients: int,
        table: ServerTable | Nodes,
        counter: ServerTable,
        merge: bool = False,
        alike: bool = False,
        reduced: bool = False,
    ) -> None:
        """Take the tables. One table of the lock's store is enough for several servers.

        merge: histories after which the code remembers the same are one. alike: fold servers that do not differ. reduced: decide
        one order where nobody can notice the moment of a command.
        """
        self.program = program
        self.merge = merge
        known: dict[Any, int] = {}
        self.trees = [ClientTree(program, number, merge, known) for number in range(clients)]
        self.lock: Any = table
        self.counter = counter
        self.alike: Alike | None = None
        self.unnoticed: Unnoticed | None = None
        several = table if isinstance(table, ServerTable) and program.votes.servers > 1 else None
        if several is not None:
            self.lock = Nodes([several] * program.votes.servers)
            self.alike = Alike(self.lock, program.votes) if alike else None
        if program.lock_keys is None:
            self.known: frozenset[bytes] = frozenset()
            program.lock_keys = frozenset(alone.keys_of_grants(self))
        self.known = program.lock_keys
        if several is not None and reduced:
            self.unnoticed = Unnoticed(several, [{*alone.commands_to_all(self, client)} for client in range(clients)])

    @property
    def runs(self) -> int:
        """How often the stage's code was run."""
        return sum(tree.runs for tree in self.trees)

    def close(self) -> None:
        """End all replicas."""
        for tree in self.trees:
            tree.close()

    def start(self, budget: Budget) -> State:
        """Return the state in which each client has run to its first operation."""
        n = len(self.trees)
        ghosts = Ghosts(holds=(None,) * n, releases_own=(False,) * n, writes=(0,) * n)
        for client, tree in enumerate(self.trees):  # a stage without a store is in its work at once
            marks = tree.nodes[0].marks
            ghosts, _ = rules.executed(ghosts, rules.Executed(client, False, (), (), (), marks, 0, 0, False, False), self.known)
        return State((0,) * n, (RUNS,) * n, (AWAKE,) * n, 0, 0, ((),) * n, ((),) * n, 0, budget, ghosts)

    def moves(self, state: State, budget: Budget, horizon_ms: int) -> list[Move]:
        """Return everything that can happen in a state, and what it breaks."""
        if unnoticed := fan_out.unnoticed(self, state):
            return [self._finished(move, budget) for move in unnoticed]
        found = list(self._steps(state))
        idle = not found
        found += faults.moves(self, state)
        if idle:
            found += clock.moves(self, state, budget, horizon_ms)
        return [self._finished(move, budget) for move in found]

    def take(self, state: State, event: Event, budget: Budget, horizon_ms: int) -> Move | None:
        """Return the move of one event, and execute no other; None if the event is not possible."""
        if event.kind is CLOCK:
            able = any(self._is_able(state, client) for client in range(len(state.nodes)))
            possible = iter(()) if able else clock.moves(self, state, budget, horizon_ms)
        elif event.kind in (PAUSE, RESUME, CRASH, RESTART):
            possible = faults.moves(self, state, event.node)
        elif state.modes[event.client] == RUNS and event.thread < len(pending := self.node(state, event.client).pending):
            possible = self._of_thread(state, event.client, event.thread, pending[event.thread], event.node)
        else:
            return None
        move = next((move for move in possible if move.event == event), None)
        return move and self._finished(move, budget)

    def _finished(self, move: Move, budget: Budget) -> Move:
        move = _charged(self._settled(move), budget)
        return move._replace(state=forgotten(move.state, self.trees)) if self.merge else move

    def _is_able(self, state: State, client: int) -> bool:
        """Return whether a client that runs can do something, other than wait for its turn in the server."""
        pending = self.node(state, client).pending if state.modes[client] == RUNS else ()
        commands = [
            one
            for one in pending
            if isinstance(one, FanOut) or (isinstance(one, Command) and one.words[0].upper() not in POPPING)
        ]
        listens = [one for one in pending if isinstance(one, Listen) and state.inboxes[client]]
        return bool(commands or listens or [one for one in pending if isinstance(one, Choice)])

    def node(self, state: State, client: int) -> Node:
        """Return where a client is."""
        return self.trees[client].nodes[state.nodes[client]]

    def is_over(self, state: State, client: int) -> bool:
        """Return whether a client's request is over, or its process dead."""
        return state.modes[client] == DEAD or bool(self.node(state, client).ended) or self.gives_up(state, client)

    def gives_up(self, state: State, client: int) -> bool:
        """Return whether a client has been refused so often that it does not ask again."""
        return self.program.asks is not None and self.node(state, client).refused >= self.program.asks

    def waits(self, state: State, client: int) -> bool:
        """Return whether a client that runs waits for the lock."""
        node = self.node(state, client)
        return state.modes[client] == RUNS and not node.ended and not node.inside and not self.gives_up(state, client)

    def _settled(self, move: Move) -> Move:
        """Return the move with all threads awake that had only to wake.

        To wake changes nothing for the other clients, and they change nothing for it. So it is no event: it is a part of what
        ended the sleep. A pause or a crash between the two is decided as well: it is the same as one just before.
        """
        for _ in range(MOST_WAKES):
            due = next(self._due(move.state), None)
            if due is None:
                return move
            woken = self._wake(move.state, *due)
            move = move._replace(state=woken.state, found=move.found + woken.found)
        raise NeverWaits("a thread wakes again and again, and nothing changes")

    def _wake(self, state: State, client: int, thread: int) -> Move:
        if not isinstance(self.node(state, client).pending[thread], Listen):
            return self.resume(state, Event(STEP, client, thread), None)
        return self._receive(state, client, thread)

    def _receive(self, state: State, client: int, thread: int) -> Move:
        message, *rest = state.inboxes[client]
        left = state._replace(inboxes=put(state.inboxes, client, tuple(rest)))
        return self.resume(left, Event(STEP, client, thread), message)

    def _due(self, state: State) -> Iterator[tuple[int, int]]:
        for client, mode in enumerate(state.modes):
            for thread, operation in enumerate(self.node(state, client).pending if mode == RUNS else ()):
                match operation:
                    case Until(at_ms) if at_ms is not None and at_ms <= state.now_ms:
                        yield client, thread
                    case Nap() if state.parked[client] != PARKED and not self.gives_up(state, client):
                        yield client, thread
                    case Listen() if state.inboxes[client] and state.inboxes[client][0][0] != MESSAGE:
                        yield client, thread  # nothing that another client does can come between

    # what the clients that run can do

    def _steps(self, state: State) -> Iterator[Move]:
        for client, mode in enumerate(state.modes):
            if mode == RUNS:
                for thread, operation in enumerate(self.node(state, client).pending):
                    yield from self._of_thread(state, client, thread, operation)

    def _of_thread(
        self, state: State, client: int, thread: int, operation: Operation | None, node: int | None = None
    ) -> Iterator[Move]:
        """Yield what a thread can do next. node: of several servers, at this one only; 0: at all of them only."""
        if self.alike is not None:
            self.alike.check(operation)
        match operation:
            case Command():
                yield from one_server.moves(self, state, client, thread, operation)
            case FanOut():
                yield from fan_out.moves(self, state, client, thread, operation, node)
            case Listen() if state.inboxes[client]:
                yield self._receive(state, client, thread)
            case Choice(values):
                for value in values:
                    yield self.resume(state, Event(CHOICE, client, thread, value), value)

    def execute(self, state: State, server: str, words: tuple[bytes, ...], node: int = 0) -> tuple[State, Reply]:
        """Return the state after a server has executed a command, and its reply. node: which of several servers."""
        if server == COUNTER:
            answer = self.counter.answer(state.counter, words)
            return state._replace(counter=answer.state), answer.reply
        answer = self.lock.answer(state.lock, words, node) if node else self.lock.answer(state.lock, words)
        after = state if answer.state == state.lock else state._replace(lock=answer.state)
        return (published(after, answer.published) if answer.published else after), answer.reply

    def resume(
        self,
        state: State,
        event: Event,
        result: Reply,
        before: State | None = None,
        sent_ms: int | None = None,
        begins: bool = True,
    ) -> Move:
        """Return the move in which a thread goes on.

        before: the state before its command was executed. sent_ms: when it was sent, where that is not now. begins: whether no
        other server has executed the command before.
        """
        before = before or state
        client = event.client
        old = self.node(before, client)
        number = self.trees[client].step(before.nodes[client], Input(event.thread, result, state.now_ms))
        operation = old.pending[event.thread]
        if sent_ms is None:  # a paused client sends when it is resumed
            sent_ms = old.at_ms if waits_in_server(operation) else state.now_ms
        command = operation if isinstance(operation, Command) else None
        return self._moved(before, state, event, number, sent_ms, begins, command, result)

    def executed(
        self, state: State, event: Event, before: State, sent_ms: int, begins: bool, command: Command, reply: Reply
    ) -> Move:
        """Return the move in which one of several servers has executed a command, and its client waits for the others."""
        return self._moved(before, state, event, None, sent_ms, begins, command, reply)

    def _moved(
        self,
        before: State,
        state: State,
        event: Event,
        number: int | None,
        sent_ms: int,
        begins: bool,
        command: Command | None,
        reply: Reply,
    ) -> Move:
        client = event.client
        old = self.node(before, client)
        node = None if number is None else self.trees[client].nodes[number]
        step = rules.Executed(
            client,
            background=event.thread > 0,
            before=self.lock.contents[before.lock] if not event.node else self.lock.keys(before.lock, event.node),
            after=self.lock.contents[state.lock] if not event.node else self.lock.keys(state.lock, event.node),
            all_after=self.lock.contents[state.lock],
            marks=() if node is None else node.marks,
            now_ms=state.now_ms,
            sent_ms=sent_ms,
            begins_release=begins and event.thread == 0 and any(isinstance(mark, Releasing) for mark in old.marks),
            was_over=bool(old.ended) and old.ended_ms < state.now_ms,  # a command on its way at the end is not one too many
            votes=self.program.votes,
        )
        ghosts, found = rules.executed(state.ghosts, step, self.known)
        changed = before.lock != state.lock
        if self.program.asks is None:
            parked = after_change(len(state.parked), changed, state.parked)
            if node is not None and event.thread == 0:
                parked = put(parked, client, after_step(state.parked[client], old, old.pending[0], node, lost=reply is LOST))
        else:
            state = self.disturbed(state, client, event.node) if changed else state
            parked, state = naps.after_step(state, changed, client, event.thread, old, node)
        nodes = state.nodes if number is None else put(state.nodes, client, number)
        after = state._replace(nodes=nodes, parked=parked, ghosts=ghosts)
        return Move(event, after, () if self.program.nested else tuple(found), command, reply)

    def disturbed(self, state: State, by: int = NOBODY, server: int = 0) -> State:
        """Return the state after the lock's store has changed. Of several servers, it remembers whose try that disturbs."""
        if self.program.asks is None:
            return state
        found = naps.disturbed(state, self.client_nodes(state), by, server)
        return state if found == state.disturbed else state._replace(disturbed=found)

    def client_nodes(self, state: State) -> list[Node]:
        """Return where all clients are."""
        return [self.node(state, client) for client in range(len(state.nodes))]

    def servers(self, state: State) -> Collection[int]:
        """Return the numbers of the servers at which the search goes on: of equal ones, the first."""
        return range(1, self.program.votes.servers + 1) if self.alike is None else self.alike.groups(state)

    def all_over(self, state: State) -> bool:
        """Return whether no request goes on."""
        return all(self.is_over(state, client) for client in range(len(state.nodes)))

    def stuck(self, state: State, budget: Budget, horizon_ms: int) -> Finding | None:
        """Return what is broken where nothing can happen any more; None where all is well, or only the search ends here."""
        waiting = [client for client in range(len(state.nodes)) if not self.is_over(state, client)]
        if self.program.nested:
            return rules.REFUSED_TO_ITSELF if waiting else None
        deadlines = [*clock.deadlines(self, state), *([1] if self.lock.expires_in_ms(state.lock) is not None else [])]
        return rules.stuck(state.ghosts, budget.used(state.left)) if waiting and not deadlines else None


def _charged(move: Move, budget: Budget) -> Move:
    if not move.found:
        return move
    used = budget.used(move.state.left)
    return move._replace(found=tuple(rules.charged(finding, move.state.ghosts, used) for finding in move.found))

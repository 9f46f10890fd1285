"""What can happen: the clients in their trees, the servers in their tables, the clock, and the faults that are left.

Time is an actor: the clock moves to the next deadline, and only when no client that runs can do anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.explore import in_flight, rules, watching
from lab.explore.budget import Budget
from lab.explore.client_tree import ClientTree, Input, Node
from lab.explore.event import (
    CHOICE,
    CLOCK,
    CRASH,
    LOST_COMMAND,
    LOST_REPLY,
    NOBODY,
    PAUSE,
    RESEND,
    RESTART,
    RESUME,
    STEP,
    Event,
)
from lab.explore.forgotten import forgotten
from lab.explore.ghosts import Ghosts, put
from lab.explore.operation import (
    COUNTER,
    LOCK,
    POPPING,
    Choice,
    Command,
    Failure,
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
from lab.explore.state import DEAD, MESSAGE, PAUSED, RUNS, SUBSCRIBE, UNSUBSCRIBE, Move, State, published, subscribed
from lab.explore.transaction import UNWATCH, WATCH

MOST_WAKES, ALONE_UNTIL_MS = 1000, 1_000_000
LOST = Failure("TimeoutError", "the reply was lost")


class World:
    """What the clients and servers of a search do. It is learned as the search goes, and shared by all budgets."""

    def __init__(self, program: Program, clients: int, table: ServerTable, counter: ServerTable, merge: bool = False) -> None:
        """Take what the clients do, and the two servers. merge: histories after which the code remembers the same are one."""
        self.program = program
        self.merge = merge
        known: dict[Any, int] = {}
        self.trees = [ClientTree(program, number, merge, known) for number in range(clients)]
        self.lock = table
        self.counter = counter
        if program.lock_keys is None:
            self.known: frozenset[bytes] = frozenset()
            program.lock_keys = frozenset(self._keys_of_grants())
        self.known = program.lock_keys

    @property
    def runs(self) -> int:
        """How often the stage's code was run."""
        return sum(tree.runs for tree in self.trees)

    def close(self) -> None:
        """End all replicas."""
        for tree in self.trees:
            tree.close()

    def _keys_of_grants(self) -> Iterator[bytes]:
        """Yield the keys that the grants of one client name, when it runs alone: for each random number that it may draw."""
        ways = [self.start(Budget())]
        while ways:
            state = ways.pop()
            yield from (hold.key for hold in state.ghosts.holds[:1] if hold is not None and hold.key)
            ways += [
                move.state
                for move in self.moves(state, Budget(), ALONE_UNTIL_MS)
                if move.event.client <= 0 and move.event.thread == 0
            ]

    def start(self, budget: Budget) -> State:
        """Return the state in which each client has run to its first operation."""
        n = len(self.trees)
        ghosts = Ghosts(holds=(None,) * n, releases_own=(False,) * n, writes=(0,) * n)
        for client, tree in enumerate(self.trees):  # a stage without a store is in its work at once
            marks = tree.nodes[0].marks
            ghosts, _ = rules.executed(ghosts, rules.Executed(client, False, (), (), marks, 0, 0, False, False), self.known)
        return State((0,) * n, (RUNS,) * n, (AWAKE,) * n, 0, 0, ((),) * n, ((),) * n, 0, budget, ghosts)

    def moves(self, state: State, budget: Budget, horizon_ms: int) -> list[Move]:
        """Return everything that can happen in a state, and what it breaks."""
        found = list(self._steps(state))
        idle = not found
        found += self._faults(state)
        if idle:
            found += self._clock(state, budget, horizon_ms)
        return [self._finished(move, budget) for move in found]

    def take(self, state: State, event: Event, budget: Budget, horizon_ms: int) -> Move | None:
        """Return the move of one event, and execute no other; None if the event is not possible."""
        if event.kind is CLOCK:
            able = any(self._is_able(state, client) for client in range(len(state.nodes)))
            possible = iter(()) if able else self._clock(state, budget, horizon_ms)
        elif event.kind in (PAUSE, RESUME, CRASH, RESTART):
            possible = self._faults(state)
        elif state.modes[event.client] == RUNS and event.thread < len(pending := self.node(state, event.client).pending):
            possible = self._of_thread(state, event.client, event.thread, pending[event.thread])
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
        commands = [one for one in pending if isinstance(one, Command) and one.words[0].upper() not in POPPING]
        listens = [one for one in pending if isinstance(one, Listen) and state.inboxes[client]]
        return bool(commands or listens or [one for one in pending if isinstance(one, Choice)])

    def node(self, state: State, client: int) -> Node:
        """Return where a client is."""
        return self.trees[client].nodes[state.nodes[client]]

    def is_over(self, state: State, client: int) -> bool:
        """Return whether a client's request is over, or its process dead."""
        return state.modes[client] == DEAD or bool(self.node(state, client).ended)

    def waits(self, state: State, client: int) -> bool:
        """Return whether a client that runs waits for the lock."""
        node = self.node(state, client)
        return state.modes[client] == RUNS and not node.ended and not node.inside

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
            return self._resume(state, Event(STEP, client, thread), None)
        return self._receive(state, client, thread)

    def _receive(self, state: State, client: int, thread: int) -> Move:
        message, *rest = state.inboxes[client]
        left = state._replace(inboxes=put(state.inboxes, client, tuple(rest)))
        return self._resume(left, Event(STEP, client, thread), message)

    def _due(self, state: State) -> Iterator[tuple[int, int]]:
        for client, mode in enumerate(state.modes):
            for thread, operation in enumerate(self.node(state, client).pending if mode == RUNS else ()):
                match operation:
                    case Until(at_ms) if at_ms is not None and at_ms <= state.now_ms:
                        yield client, thread
                    case Nap() if state.parked[client] != PARKED:
                        yield client, thread
                    case Listen() if state.inboxes[client] and state.inboxes[client][0][0] != MESSAGE:
                        yield client, thread  # nothing that another client does can come between

    # what the clients that run can do

    def _steps(self, state: State) -> Iterator[Move]:
        for client, mode in enumerate(state.modes):
            if mode == RUNS:
                for thread, operation in enumerate(self.node(state, client).pending):
                    yield from self._of_thread(state, client, thread, operation)

    def _of_thread(self, state: State, client: int, thread: int, operation: Operation | None) -> Iterator[Move]:
        match operation:
            case Command():
                yield from self._commands(state, client, thread, operation)
            case Listen() if state.inboxes[client]:
                yield self._receive(state, client, thread)
            case Choice(values):
                for value in values:
                    yield self._resume(state, Event(CHOICE, client, thread, value), value)

    def _commands(self, state: State, client: int, thread: int, command: Command) -> Iterator[Move]:
        name, step = command.words[0].upper(), Event(STEP, client, thread)
        if name in (SUBSCRIBE, UNSUBSCRIBE):
            yield self._resume(subscribed(state, client, command), step, None)
            return
        if name in (WATCH, UNWATCH):
            yield self._resume(watching.begun_or_ended(state, client, thread, command), step, watching.OK)
            return
        words = (POPPING[name], command.words[1]) if name in POPPING else command.words
        command = command._replace(words=words)
        after, reply = watching.executed(self, state, client, thread, command)
        if name in POPPING:
            if reply is None:
                return  # it waits in the server; see _deadlines
            reply = (words[1], reply)
        yield self._resume(after, Event(STEP, client, thread), reply, state)
        if command.server != LOCK:
            return
        after = in_flight.with_those_behind(self, after, command)
        if state.left.lost_replies:
            faulted = rules.faulted(state.ghosts, client)
            spent = after._replace(left=state.left.without("lost_replies"), ghosts=faulted)
            yield self._resume(watching.cut(spent, client, thread, command), Event(LOST_REPLY, client, thread), LOST, state)
            # a pipeline that has arrived is executed; and without a change it makes no difference whether it has
            if after.lock != state.lock and not command.follows:
                unsent = state._replace(left=state.left.without("lost_replies"), ghosts=faulted)
                yield self._resume(
                    watching.cut(unsent, client, thread, command), Event(LOST_COMMAND, client, thread), LOST, state
                )
        # a pipeline is sent again as a whole; a client that watches keys raises an error instead
        if state.left.resends and not command.follows and not command.watches:
            twice, reply = watching.executed(self, after, client, thread, command)
            spent = twice._replace(left=state.left.without("resends"), ghosts=state.ghosts._replace(resent=client))
            yield self._resume(spent, Event(RESEND, client, thread), reply, state)

    def execute(self, state: State, server: str, words: tuple[bytes, ...]) -> tuple[State, Reply]:
        """Return the state after a server has executed a command, and its reply."""
        if server == COUNTER:
            answer = self.counter.answer(state.counter, words)
            return state._replace(counter=answer.state), answer.reply
        answer = self.lock.answer(state.lock, words)
        after = state if answer.state == state.lock else state._replace(lock=answer.state)
        return (published(after, answer.published) if answer.published else after), answer.reply

    def _resume(self, state: State, event: Event, result: Reply, before: State | None = None) -> Move:
        """Return the move in which a thread goes on. ``before``: the state before its command was executed."""
        before = before or state
        client = event.client
        old = self.node(before, client)
        number = self.trees[client].step(before.nodes[client], Input(event.thread, result, state.now_ms))
        node = self.trees[client].nodes[number]
        changed = before.lock != state.lock
        operation = old.pending[event.thread]
        step = rules.Executed(
            client,
            background=event.thread > 0,
            before=self.lock.contents[before.lock],
            after=self.lock.contents[state.lock],
            marks=node.marks,
            now_ms=state.now_ms,
            sent_ms=old.at_ms if waits_in_server(operation) else state.now_ms,  # a paused client sends when it is resumed
            begins_release=event.thread == 0 and any(isinstance(mark, Releasing) for mark in old.marks),
            was_over=bool(old.ended) and old.ended_ms < state.now_ms,  # a command on its way at the end is not one too many
        )
        ghosts, found = rules.executed(state.ghosts, step, self.known)
        parked = after_change(len(state.parked), changed, state.parked)
        if event.thread == 0:
            parked = put(parked, client, after_step(state.parked[client], old, operation, node, lost=result is LOST))
        after = state._replace(nodes=put(state.nodes, client, number), parked=parked, ghosts=ghosts)
        command = operation if isinstance(operation, Command) else None
        return Move(event, after, () if self.program.nested else tuple(found), command, result)

    # what can be done to them

    def _faults(self, state: State) -> Iterator[Move]:
        left = state.left
        for client, mode in enumerate(state.modes):
            if mode == PAUSED:
                yield Move(Event(RESUME, client), state._replace(modes=put(state.modes, client, RUNS)), ())
            elif mode == RUNS and not self.node(state, client).ended:
                # a pause in a pipeline is the same as one after it: the server goes on
                if left.pauses and not in_flight.of_client(self, state, client):
                    ghosts = rules.paused(state.ghosts, client, self.node(state, client).writing)
                    after = state._replace(modes=put(state.modes, client, PAUSED), left=left.without("pauses"), ghosts=ghosts)
                    yield Move(Event(PAUSE, client), after, ())
                if left.crashes:
                    after, found = in_flight.arrived(self, state, client)
                    modes, ghosts = put(after.modes, client, DEAD), rules.crashed(after.ghosts, client)
                    spent = watching.closed(after, client)._replace(modes=modes, left=left.without("crashes"), ghosts=ghosts)
                    yield Move(Event(CRASH, client), spent, found)
        if left.restarts and self.lock.contents[state.lock] and not self._all_over(state):
            ghosts = rules.restarted(state.ghosts, state.now_ms)
            after = state._replace(lock=0, left=left.without("restarts"), ghosts=ghosts, parked=(AWAKE,) * len(state.parked))
            yield Move(Event(RESTART), watching.expired(after, self.lock.contents[state.lock], ()), ())

    # time

    def _clock(self, state: State, budget: Budget, horizon_ms: int) -> Iterator[Move]:
        if self._all_over(state):
            return
        deadlines = list(self._deadlines(state))
        expires_in_ms = self.lock.expires_in_ms(state.lock)
        if expires_in_ms is not None:
            deadlines.append(state.now_ms + expires_in_ms)
        then_ms = min(deadlines, default=horizon_ms + 1)
        if then_ms <= horizon_ms:
            lock = self.lock.later(state.lock, then_ms - state.now_ms)
            everyone = range(len(state.nodes))
            working = any(state.modes[client] != DEAD and self.node(state, client).inside for client in everyone)
            idle = not working and any(self.waits(state, client) for client in everyone)
            used = budget.used(state.left)
            about = rules.Passed(
                self.lock.contents[lock], state.now_ms, then_ms, self.program.ttl_ms, used, idle, self.program.nested
            )
            ghosts, found = rules.passed(state.ghosts, about)
            woken = after_change(len(state.parked), lock != state.lock, state.parked)
            after = state._replace(lock=lock, now_ms=then_ms, ghosts=ghosts, parked=woken)
            after = watching.expired(after, self.lock.contents[state.lock], self.lock.contents[lock])
            yield Move(Event(CLOCK, NOBODY, 0, then_ms), after, tuple(found))

    def _deadlines(self, state: State) -> Iterator[int]:
        for client, mode in enumerate(state.modes):
            for operation in self.node(state, client).pending if mode == RUNS else ():
                match operation:
                    case Until(at_ms) if at_ms is not None and at_ms > state.now_ms:
                        yield at_ms
                    case Listen(at_ms) if at_ms is not None and at_ms > state.now_ms:
                        yield at_ms

    def _all_over(self, state: State) -> bool:
        return all(self.is_over(state, client) for client in range(len(state.nodes)))

    def stuck(self, state: State, budget: Budget, horizon_ms: int) -> Finding | None:
        """Return what is broken where nothing can happen any more; None where all is well, or only the search ends here."""
        waiting = [client for client in range(len(state.nodes)) if not self.is_over(state, client)]
        if self.program.nested:
            return rules.REFUSED_TO_ITSELF if waiting else None
        deadlines = [*self._deadlines(state), *([1] if self.lock.expires_in_ms(state.lock) is not None else [])]
        return rules.stuck(state.ghosts, budget.used(state.left)) if waiting and not deadlines else None


def _charged(move: Move, budget: Budget) -> Move:
    if not move.found:
        return move
    used = budget.used(move.state.left)
    return move._replace(found=tuple(rules.charged(finding, move.state.ghosts, used) for finding in move.found))

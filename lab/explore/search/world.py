"""What is known: what the replicas do, in their trees, and what the servers do, in their tables. What happens is in ``moves``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from functools import cache
from re import compile as compiled
from typing import Any

from lab.explore.code.operation import COUNTER, CommandSent, Listen, Nap, Operation, Until
from lab.explore.code.program import FOR_EVER_MS, Program
from lab.explore.code.tree import Node, Tree
from lab.explore.search import ghosts as ghost
from lab.explore.search.event import Budget, ScheduleEvent
from lab.explore.search.ghosts import About, Oracle
from lab.explore.search.state import DEAD, PAUSED, RUNS, Change, Inbox, Move, Served, State, put, without
from lab.explore.store.commands import WAITING, can_wait
from lab.explore.store.real_redis import Message
from lab.explore.store.resp import Reply, Words
from lab.explore.store.table import StoreTable, Table

MESSAGE, P_MESSAGE = b"message", b"pmessage"


class World:
    """What the replicas and servers of a search do. It is learned as the search goes, and shared by all budgets."""

    def __init__(self, program: Program, replicas: int, lock: StoreTable, counter: Table) -> None:
        self.program = program
        self.trees = [Tree(program, number) for number in range(replicas)]
        self.lock: Any = lock
        self.counter = counter
        # of a lock on several servers, a nap ends at any moment: otherwise each vote would be a change that ends the others' naps
        self.wakes_at_any_moment = program.servers > 1
        self.actors = replicas * program.task.at_once
        self.alike: Any = None  # folds servers that do not differ
        self.unnoticed: Any = None  # decides one order where nobody can notice the moment of a command
        task = program.task
        self.about = About(
            oracle=Oracle(),
            lease_ms=task.ttl_ms if program.stage.ttl_ms is not None else None,
            ttl_ms=task.ttl_ms,
            at_once=program.task.at_once,
            nested=task.nested,
            servers=program.servers,
            one_process=replicas == 1,
            wait_ms=task.wait_ms if task.wait_ms < FOR_EVER_MS else None,
            outlasts=task.work_ms >= task.ttl_ms,
        )

    def close(self) -> None:
        """End all replicas."""
        for tree in self.trees:
            tree.close()

    def start(self, budget: Budget) -> State:
        """Return the state in which each replica has run to its first operation."""
        n = len(self.trees)
        return State((0,) * n, (RUNS,) * n, 0, 0, 0, budget, ghost.beginning(self.actors))

    def node(self, state: State, client: int) -> Node:
        """Return where a replica is."""
        return self.trees[client].nodes[state.nodes[client]]

    def threads(self, state: State) -> Iterator[tuple[int, int, Operation]]:
        """Yield what the threads wait for in replicas that run: the replica, the thread, the operation."""
        for client, mode in enumerate(state.modes):
            if mode == RUNS:
                for thread, operation in enumerate(self.node(state, client).pending):
                    if operation is not None:
                        yield client, thread, operation

    def is_over(self, state: State, client: int) -> bool:
        """Return whether all requests of a replica are over, or its process dead."""
        return state.modes[client] == DEAD or all(self.node(state, client).ended) or self.gives_up(state, client)

    def gives_up(self, state: State, client: int) -> bool:
        """Return whether a client has been refused so often that it does not ask again."""
        return self.program.asks is not None and self.node(state, client).refused >= self.program.asks

    def waiting(self, state: State) -> tuple[int, ...]:
        """Return the requests that wait for the lock, in replicas that run."""
        found = []
        for client, mode in enumerate(state.modes):
            node = self.node(state, client)
            if mode == RUNS and not self.gives_up(state, client):
                first = client * self.program.task.at_once
                found += [
                    first + number
                    for number, ended in enumerate(node.ended)
                    if not ended and (number not in node.inside or number in node.asking_again)
                ]
        return tuple(found)

    def all_over(self, state: State) -> bool:
        """Return whether no request is in progress."""
        return all(self.is_over(state, client) for client in range(len(state.nodes)))

    def is_free(self, state: State) -> bool:
        """Return whether a fresh client would be granted the lock."""
        return self.about.known <= self.about.oracle.free(state.lock, state.now_ms)

    # what happens to a thread

    def is_blocked(self, state: State, client: int, thread: int) -> bool:
        """Return whether the command of a thread waits in the server, or was executed while its replica is paused."""
        return (client, thread) in state.blocked

    def blocked(self, state: State) -> Iterator[tuple[int, int, CommandSent]]:
        """Yield the commands that wait in the server, in the order in which they came, each with its replica and thread."""
        for client, thread in state.blocked:
            command = self.node(state, client).pending[thread]
            assert isinstance(command, CommandSent)  # noqa: S101 - only a command is blocked
            yield client, thread, command

    def able(self, state: State) -> Iterator[tuple[int, int, Operation]]:
        """Yield the threads of replicas that run and that can do something, other than wait for their turn in the server."""
        return (one for one in self.threads(state) if self.is_able(state, *one))

    def is_able(self, state: State, client: int, thread: int, operation: Operation | None) -> bool:
        """Return whether a thread of a replica that runs can do something now."""
        match operation:
            case Nap():
                return self.wakes_at_any_moment and not self.gives_up(state, client)
            case CommandSent():
                return not self.is_blocked(state, client, thread)
            case Listen(_, connection):
                return bool(self.messages(state, client, connection))
            case None | Until():
                return False
            case _:
                return True

    def messages(self, state: State, client: int, connection: int) -> tuple[Any, ...]:
        """Return what a subscribed connection has not read."""
        return next((one.messages for one in state.inboxes if one[:2] == (client, connection)), ())

    def resume(self, did: Move, client: int, thread: int, result: Any) -> Move:
        """Return what was done, after a thread has gone on with what it waited for."""
        state = did.state
        number = self.trees[client].step(state.nodes[client], thread, result, state.now_ms)
        node = self.trees[client].nodes[number]
        marks = (*did.marks, *[(client, request, mark) for request, mark in node.marks]) if node.marks else did.marks
        return did._replace(state=state._replace(nodes=put(state.nodes, client, number)), marks=marks)

    def settled(self, did: Move, before: State) -> Move:
        """Return what was done, with all threads awake that had only to wake. before: the state before the event.

        To wake changes nothing for the other clients, and they change nothing for it. So it is not an event: it is a part of what
        ended the sleep. A pause or a crash between the two is decided as well: it is the same as one just before.
        """
        napping = self.napping(before) if before.lock != did.state.lock and not self.wakes_at_any_moment else []
        for client, thread in napping:
            if did.state.modes[client] == PAUSED:
                roused = tuple(sorted({*did.state.roused, (client, thread)}))
                did = did._replace(state=did.state._replace(roused=roused))
            elif did.state.modes[client] == RUNS and isinstance(self.node(did.state, client).pending[thread], Nap):
                did = self.resume(did, client, thread, None)
        for _ in range(MOST_WAKES):
            due = self._due(did.state)
            if due is None:
                return did
            client, thread, result = due
            operation = self.node(did.state, client).pending[thread]
            if isinstance(operation, Listen) and result is not None:
                did = did._replace(state=self.without_message(did.state, client, operation.connection))
            did = self.resume(did, client, thread, result)
        raise Livelock("a thread keeps waking, and nothing changes")

    def napping(self, state: State) -> list[tuple[int, int]]:
        """Return the threads that sleep between two tries."""
        return [
            (client, thread)
            for client, mode in enumerate(state.modes)
            if mode != DEAD and not self.gives_up(state, client)
            for thread, operation in enumerate(self.node(state, client).pending)
            if isinstance(operation, Nap)
        ]

    def _due(self, state: State) -> tuple[int, int, Any] | None:
        for client, thread, operation in self.threads(state):
            match operation:
                case Until(at_ms) if at_ms is not None and at_ms <= state.now_ms:
                    return client, thread, None
                case Nap(at_ms) if at_ms <= state.now_ms and not self.wakes_at_any_moment:
                    return client, thread, None
                case Listen(at_ms, connection):
                    messages = self.messages(state, client, connection)
                    if messages and messages[0][0] not in (MESSAGE, P_MESSAGE):
                        return client, thread, messages[0]  # nothing that another client does can come between
                    if at_ms is not None and at_ms <= state.now_ms and not messages:
                        return client, thread, None
        return None

    def without_message(self, state: State, client: int, connection: int) -> State:
        """Return the state after a message was read."""
        mine = Inbox(client, connection, self.messages(state, client, connection)[1:])
        others = without(state.inboxes, client, connection)
        return state._replace(inboxes=tuple(sorted([*others, mine])) if mine.messages else others)

    # what a server does

    def execute(self, state: State, command: CommandSent, words: Words | None = None) -> tuple[State, Reply]:
        """Return the state after a server has executed a command, and its reply. words: others than those of the command."""
        words = command.words if words is None else words
        if command.server == COUNTER:
            answer = self.counter.answer(state.counter, words, state.now_ms, command.version)
            return state._replace(counter=answer.state), answer.reply
        answer = self.lock.answer(state.lock, words, state.now_ms, command.version, command.node)
        after = state if answer.state == state.lock else state._replace(lock=answer.state)
        return (published(after, answer.published) if answer.published else after), answer.reply

    def serve_blocked(self, did: Move) -> Move:
        """Return what was done, after the server has served the commands that wait in it, in the order in which they came."""
        state = did.state
        served = True
        while served and state.blocked:
            served = False
            for client, thread, command in self.blocked(state):
                after, reply = self.execute(state, command)
                if not is_done(command.words, reply):
                    continue
                blocked = without(state.blocked, client, thread)
                change = self.change(state, after, client, thread, state.now_ms)
                did = did._replace(state=after._replace(blocked=blocked), changes=(*did.changes, change))
                did = self.replied(did, client, thread, reply.raw)
                state, served = did.state, True
                break
        return did

    def replied(self, did: Move, client: int, thread: int, result: Any) -> Move:
        """Return what was done, after a reply has come: a paused client reads it when it is resumed."""
        if did.state.modes[client] == RUNS:
            return self.resume(did, client, thread, result)
        served = tuple(sorted((*did.state.served, Served(client, thread, result)), key=lambda one: one[:2]))
        return did._replace(state=did.state._replace(served=served))

    def is_own(self, state: State, client: int, thread: int) -> bool:
        """Return whether a thread serves a request."""
        return self.node(state, client).own[thread]

    def change(self, before: State, after: State, client: int, thread: int, sent_ms: int) -> Change:
        """Return the record of a command that was executed at the lock's store."""
        about = client, thread, self.is_own(before, client, thread), before.lock, after.lock
        renewed_ms = self.lock.renewed_ms(after.lock, client, after.now_ms)
        return Change(*about, sent_ms if renewed_ms is None else renewed_ms, self.lock.is_renewal(before.lock, after.lock))

    def servers(self, state: State) -> Iterable[int]:
        """Return the numbers of the servers at which the search continues: of equal ones, the first."""
        return range(1, self.program.servers + 1) if self.alike is None else self.alike.order(state).groups

    def event(self, state: State, client: int, thread: int, **values: Any) -> ScheduleEvent:
        """Return an event of a thread."""
        return ScheduleEvent(client=client, thread=thread, own=self.is_own(state, client, thread), **values)


MOST_WAKES = 1000


class Livelock(Exception):  # noqa: N818 - states what was found
    """A thread keeps waking and nothing changes."""


def is_done(words: Words, reply: Reply) -> bool:
    """Return whether a command need not wait in the server."""
    if reply is WAITING or not can_wait(words):
        return reply is not WAITING
    return reply.value is not None


def published(state: State, messages: Iterable[Message]) -> State:
    """Return the state after messages were published: each subscribed connection whose replica lives will read them."""
    for message in messages:
        for one in state.subscribed:
            if state.modes[one.client] == DEAD:
                continue
            if not one.is_pattern and one.channel == message.channel:
                state = delivered(state, one.client, one.connection, (MESSAGE, message.channel, message.text))
            elif one.is_pattern and _matcher(one.channel)(message.channel.decode(errors="replace")):
                state = delivered(state, one.client, one.connection, (P_MESSAGE, one.channel, message.channel, message.text))
    return state


@cache
def _matcher(pattern: bytes) -> Callable[[str], Any]:
    return compiled(translate(pattern.decode(errors="replace"))).match


def delivered(state: State, client: int, connection: int, message: tuple[Any, ...]) -> State:
    """Return the state after a message has come on a connection."""
    others = without(state.inboxes, client, connection)
    before = next((one.messages for one in state.inboxes if one[:2] == (client, connection)), ())
    return state._replace(inboxes=tuple(sorted([*others, Inbox(client, connection, (*before, message))])))

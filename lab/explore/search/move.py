"""One event of a state: what servers execute, what clients are answered, who wakes and who is served then, and what it breaks."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from fnmatch import translate
from functools import cache
from re import compile as compiled
from typing import Any, Self

from lab.explore.code.operation import COUNTER, CommandSent, Listen, Mark, Nap, Until
from lab.explore.code.replica import NewToken
from lab.explore.search.event import EventKind, ScheduleEvent
from lab.explore.search.harm import Finding
from lab.explore.search.state import DEAD, PAUSED, RUNS, Change, Inbox, Served, State, put, without
from lab.explore.search.world import World
from lab.explore.store.commands import CLIENT, SCRIPT, SHA, TEXT, asked_for, can_wait, commands_of, is_transaction, sha1
from lab.explore.store.real_redis import Message
from lab.explore.store.resp import Reply, Words, encoded
from lab.explore.store.table import Transition

NO_SCRIPT = b"-NOSCRIPT No matching script. Please use EVAL.\r\n"
MESSAGE, P_MESSAGE, PUBLISH = b"message", b"pmessage", b"PUBLISH"
MOST_WAKES = 1000


class Livelock(Exception):  # noqa: N818 - states what was found
    """A thread keeps waking and nothing changes."""


class Move:
    """An event that is possible in a state. It is done to the state step by step; what it does to the ghosts is judged then."""

    def __init__(self, world: World, state: State, event: ScheduleEvent, command: CommandSent | None = None) -> None:
        """Take the state before the event, and the command that it is about."""
        self.world, self.event, self.command = world, event, command
        self.before = self.state = state
        self.reply: Any = None  # what the client was answered
        # what was executed at the lock's store, in order: a push can serve a pop that waits
        self.changes: tuple[Change, ...] = ()
        # what happened in the replicas: the replica, the request, and the mark
        self.marks: tuple[tuple[int, int, Mark], ...] = ()
        # a fault that hit a request: the request, the field of Budget, and whether its command changed nothing
        self.fault: tuple[int, str, bool] | None = None
        self.asked_in_vain = 0  # of CLOCK: how often waiters have asked meanwhile
        self.alone = False  # whether nobody can notice its moment, and a search follows only it and what can be done to it
        self.found: tuple[Finding, ...] = ()  # what it breaks, once it is judged
        self.ways = 1  # for how many moves it stands in a folded search, itself included

    def again(self, kind: EventKind) -> Self:
        """Return what was done so far, as an event of another kind."""
        made = copy(self)
        made.event = self.event._replace(kind=kind)
        return made

    def set(self, **values: Any) -> Self:
        """Change fields of the state."""
        self.state = self.state._replace(**values)
        return self

    def spend(self, fault: str) -> Self:
        """Take a fault from the budget."""
        return self.set(left=self.state.left.without(fault))

    # what clients do

    def resume(self, client: int, thread: int, result: Any) -> Self:
        """Let a thread go on with what it waited for."""
        tree = self.world.trees[client]
        number = tree.step(self.state.nodes[client], thread, result, self.state.now_ms)
        node, state = tree.nodes[number], self.state
        if node.marks:
            self.marks += tuple([(client, request, mark) for request, mark in node.marks])
        for connection in node.closed if state.subscribed else ():
            subscribed = without(state.subscribed, client, connection)
            state = state._replace(subscribed=subscribed, inboxes=without(state.inboxes, client, connection))
        self.state = state._replace(nodes=put(state.nodes, client, number))
        return self

    def answer(self, reply: Any) -> Self:
        """Let the thread of the event go on with the reply to its command."""
        self.reply = reply
        return self.resume(self.event.client, self.event.thread, reply.raw if isinstance(reply, Reply) else reply)

    def read(self, client: int, thread: int, connection: int) -> Self:
        """Let a thread go on with the first message of a connection."""
        first, *others = self.world.messages(self.state, client, connection)
        inboxes = without(self.state.inboxes, client, connection)
        inboxes = tuple(sorted([*inboxes, Inbox(client, connection, tuple(others))])) if others else inboxes
        return self.set(inboxes=inboxes).resume(client, thread, first)

    def charge(self, fault: str, in_vain: bool = False) -> Self:
        """Let a fault hit the command. It is charged after the command has changed the store: so it is kept with the lock."""
        self.fault = self.world.actor_of(self.event.client, self.event.thread), fault, in_vain
        return self.spend(fault)

    # what servers do

    def execute(self, command: CommandSent, words: Words | None = None) -> Reply:
        """Let a server execute a command, and return its reply. words: others than those of the command."""
        words = self._for_tables(command, command.words if words is None else words)
        state = self.state
        if command.server == COUNTER:
            answer: Transition = self.world.counter.answer(state.counter, words, state.now_ms, command.version)
            self.set(counter=answer.state)
            return answer.reply
        answer = self.world.lock.answer(state.lock, words, state.now_ms, command.version, command.node)
        if answer.state != state.lock:
            self.set(lock=answer.state)
        return self._publish(words, answer)

    def _for_tables(self, command: CommandSent, words: Words) -> Words:
        """Return what a server executes: with who sends it, where that makes a difference. Raises NewToken."""
        if words[0] == CLIENT:
            return (*words, b"%d-%d" % (self.event.client, command.connection))
        noticed = self.world.counter.real.noticed
        if (asked := asked_for(words)) <= noticed:
            return words
        texts, place = self.world.program.texts, (words[1], command.file, command.line)
        if place not in texts and words is command.words and not (command.follows or command.behind or command.node):
            texts[place] = self._loads_by_itself(command)
        if not texts.get(place):
            noticed |= asked
            raise NewToken
        return (TEXT[SHA.index(words[0])], texts[place], *words[2:])

    def _loads_by_itself(self, command: CommandSent) -> bytes:
        """Return the script that a client loads before it asks again, if it is told that it is not loaded; otherwise nothing.

        Nobody can notice then whether it was loaded. So to load a script, and to run it, are one command.
        """
        client, thread = self.event.client, self.event.thread
        tree, place, text = self.world.trees[client], self.state.nodes[client], b""
        for answer, then in ((NO_SCRIPT, (SCRIPT, b"LOAD")), (encoded(command.words[1]), command.words)):
            place = tree.step(place, thread, answer, self.state.now_ms)
            sent = tree.nodes[place].pending[thread]
            if not isinstance(sent, CommandSent) or sent.words[: len(then)] != then or tree.nodes[place].marks:
                return b""
            text = text or sent.words[2]
        return text if sha1(text).encode() == command.words[1] else b""

    def changed(self, before: State, client: int, thread: int, sent_ms: int) -> Self:
        """Note that a command was executed at the lock's store. before: it had begun in this state."""
        own = self.world.node(before, client).own[thread]
        self.changes += (Change(client, thread, own, before.lock, self.state.lock, sent_ms),)
        return self

    def _publish(self, words: Words, answer: Transition) -> Reply:
        """Let each subscribed connection get the messages of a command. Return its reply: PUBLISH answers how many got one."""
        heard = iter([self._hear(message) for message in answer.published])
        value: Any = answer.reply.value
        if words[0] == PUBLISH:
            value = next(heard, value)
        elif answer.published and is_transaction(words):
            pairs = zip(commands_of(words), value, strict=True)
            value = tuple([next(heard, its) if one[0] == PUBLISH else its for one, its in pairs])
        return answer.reply if value == answer.reply.value else Reply(encoded(value), value)

    def _hear(self, message: Message) -> int:
        """Let each subscribed connection whose replica lives get a message. Return how many got it."""
        channel, text = message
        heard = 0
        for client, connection, its, is_pattern in self.state.subscribed:
            if self.state.modes[client] == DEAD:
                continue
            if not is_pattern and its == channel:
                self.deliver(client, connection, (MESSAGE, channel, text))
            elif is_pattern and _matcher(its)(channel.decode(errors="replace")):
                self.deliver(client, connection, (P_MESSAGE, its, channel, text))
            else:
                continue
            heard += 1
        return heard

    def deliver(self, client: int, connection: int, message: tuple[Any, ...]) -> None:
        """Let a message come on a connection."""
        others = without(self.state.inboxes, client, connection)
        inbox = Inbox(client, connection, (*self.world.messages(self.state, client, connection), message))
        self.set(inboxes=tuple(sorted([*others, inbox])))

    def replied(self, client: int, thread: int, result: Any) -> None:
        """Let the reply to a command come that has waited in the server: a paused client reads it when it is resumed."""
        if self.state.modes[client] == RUNS:
            self.resume(client, thread, result)
        else:
            self.set(served=tuple(sorted((*self.state.served, Served(client, thread, result)), key=lambda one: one[:2])))

    # what follows from it

    def finish(self) -> Self:
        """Let the server serve what waits in it, and wake all who have only to wake."""
        while self.state.blocked and self._serve_one():
            pass
        self.settle(self.before)
        return self

    def _serve_one(self) -> bool:
        """Serve the first command that waits in the server and that can be done now, in the order in which they came."""
        state = self.state
        for client, thread, command in self.world.blocked(state):
            reply = self.execute(command)
            if is_done(command.words, reply):
                self.changed(state, client, thread, state.now_ms).set(blocked=without(state.blocked, client, thread))
                self.replied(client, thread, reply.raw)
                return True
            self.state = state
        return False

    def settle(self, before: State) -> None:
        """Wake all threads that have only to wake. before: the state before what may wake them.

        To wake changes nothing for the other clients, and they change nothing for it. So it is not an event: it is a part of what
        ended the sleep. A pause or a crash between the two is decided as well: it is the same as one just before.
        """
        world = self.world
        for client, thread in world.napping(before) if before.lock != self.state.lock and not world.wakes_at_any_moment else ():
            if self.state.modes[client] == PAUSED:
                self.set(roused=tuple(sorted({*self.state.roused, (client, thread)})))
            elif self.state.modes[client] == RUNS and isinstance(world.node(self.state, client).pending[thread], Nap):
                self.resume(client, thread, None)
        for _ in range(MOST_WAKES):
            if not self._wake_one():
                return
        raise Livelock("a thread keeps waking, and nothing changes")

    def _wake_one(self) -> bool:
        """Wake the first thread whose wait is over."""
        world, now_ms = self.world, self.state.now_ms
        for client, thread, operation in world.sleeping(self.state):
            match operation:
                case Listen(at_ms, connection):
                    messages = world.messages(self.state, client, connection)
                    if messages and messages[0][0] not in (MESSAGE, P_MESSAGE):
                        self.read(client, thread, connection)  # nothing that another client does can come between
                        return True
                    is_over = at_ms is not None and at_ms <= now_ms and not messages
                case Nap(at_ms):
                    is_over = at_ms <= now_ms and not world.wakes_at_any_moment
                case Until(at_ms):
                    is_over = at_ms is not None and at_ms <= now_ms
            if is_over:
                self.resume(client, thread, None)
                return True
        return False


@cache
def _matcher(pattern: bytes) -> Callable[[str], Any]:
    return compiled(translate(pattern.decode(errors="replace"))).match


def is_done(words: Words, reply: Reply) -> bool:
    """Return whether a command need not wait in the server."""
    return not can_wait(words) or reply.value is not None

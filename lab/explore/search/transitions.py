"""Compute the events that are possible in a state, and the state after each of them. Read it from top to bottom.

``possible`` returns all of them. The functions below it compute the events of a thread, of time, and from outside. Then follow
the parts of events: a server executes a command, a thread continues. Each takes a state and returns the state after it. Records
of the event for the rules are collected in ``State.happened``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatchcase
from operator import itemgetter
from typing import Any

from lab.explore.code.operation import COUNTER, GAVE_UP, LOCK, LOST, Choice, CommandSent, FanOut, Listen, Nap, Operation
from lab.explore.code.replica import NewToken
from lab.explore.search import reductions, rules
from lab.explore.search.event import NOBODY, Budget, EventKind, ScheduleEvent
from lab.explore.search.ghosts import beginning
from lab.explore.search.state import (
    DEAD,
    PAUSED,
    RUNS,
    Change,
    Fault,
    Flight,
    Inbox,
    Marked,
    Move,
    State,
    Subscribed,
    Waiting,
    Watch,
    flight_of,
    messages,
    put,
    without,
)
from lab.explore.search.world import World
from lab.explore.store import commands
from lab.explore.store.commands import SUBSCRIBING, TRANSACTION, can_wait
from lab.explore.store.resp import Reply, Words, encoded
from lab.explore.store.table import Transition

OK, NIL = Reply(b"+OK\r\n", b"OK"), {2: Reply(b"*-1\r\n", None), 3: Reply(b"_\r\n", None)}
NO_SCRIPT = b"-NOSCRIPT No matching script. Please use EVAL.\r\n"
MESSAGE, P_MESSAGE, PUBLISH = b"message", b"pmessage", b"PUBLISH"
MOST_TRIES = 1000  # tries of all waiters at one moment
MOST_WAKES = 1000  # wakes of all threads in one event


class Livelock(Exception):  # noqa: N818 - a result
    """A thread keeps waking and nothing changes."""


def begin(world: World, budget: Budget) -> Move:
    """Return the move in which each replica runs to its first operation. A lock may grant before it sends a command.

    The search reports the findings of this move at the ends of schedules: a later loss of an increment explains more.
    """
    n = len(world.trees)
    marks = [Marked(client, *mark) for client, tree in enumerate(world.trees) for mark in tree.nodes[0].marks]
    start = State((0,) * n, (RUNS,) * n, 0, 0, 0, budget, beginning(world.actors), happened=tuple(marks))
    return rules.judge(world, Move(ScheduleEvent(EventKind.STEP), start, start), budget)


def moves(world: World, state: State, budget: Budget, horizon_ms: int) -> list[Move]:
    """Return all moves of a state, with their findings."""
    return [rules.judge(world, move, budget) for move in possible(world, state, horizon_ms)]


def possible(world: World, state: State, horizon_ms: int) -> list[Move]:
    """Return all moves of a state, before they are judged."""
    if alone := reductions.unnoticed_command(world, state):
        return [_finished(world, move._replace(alone=True)) for move in _to_servers(world, state, *alone)]
    nodes = world.servers(state)
    of_threads = (move for waiting in world.runnable(state) for move in _of_thread(world, state, *waiting, nodes))
    possible = [_finished(world, move) for move in of_threads]
    possible += _of_time(world, state, horizon_ms)
    return possible + [_finished(world, move) for move in _from_outside(world, state, nodes)]


def take(world: World, state: State, event: ScheduleEvent, budget: Budget, horizon_ms: int) -> Move | None:
    """Return the move of one event, without executing others; None if the event is not possible."""
    possible: Iterator[Move]
    if event.kind is EventKind.CLOCK:
        possible = _of_time(world, state, horizon_ms)
    elif event.kind in (EventKind.PAUSE, EventKind.RESUME, EventKind.CRASH, EventKind.RESTART):
        possible = _from_outside(world, state, (event.node,))
    else:
        able = (waiting for waiting in world.runnable(state) if waiting[:2] == (event.client, event.thread))
        possible = (move for waiting in able for move in _of_thread(world, state, *waiting, (event.node,)))
    move = next((move for move in possible if move.event == event), None)
    if move is None:
        return None
    return rules.judge(world, move if event.kind is EventKind.CLOCK else _finished(world, move), budget)


def _of_thread(
    world: World, state: State, client: int, thread: int, operation: Operation, nodes: Collection[int]
) -> Iterator[Move]:
    """Yield the moves of a thread. nodes: the numbers of the servers that may act, if there are several."""
    event = world.event(state, client, thread)
    if world.symmetry is not None:
        world.symmetry.check(operation)
    match operation:
        case CommandSent():
            yield from _to_one_server(world, state, event, operation)
        case FanOut():
            yield from _to_servers(world, state, client, thread, operation, nodes)
        case Listen(_, connection):
            yield Move(event, state, _read(world, state, client, thread, connection))
        case Nap():
            yield Move(event, state, _resumed(world, state, client, thread, None))
        case Choice(values):
            for number, value in enumerate(values):
                drawn = event._replace(kind=EventKind.CHOICE, number=number)
                yield Move(drawn, state, _resumed(world, state, client, thread, value))


# A command to one server is executed, or a fault hits it: its reply is lost, the command is lost, or it is sent twice. The
# commands of a pipeline arrive together. Each is an event of its own, because a command of another client can be executed between
# two of them. So if the reply to one is lost, or the client is killed, the later commands of the pipeline have already arrived.


def _to_one_server(world: World, state: State, event: ScheduleEvent, command: CommandSent) -> Iterator[Move]:
    client, thread, left, actor = event.client, event.thread, state.left, world.actor_of(event.client, event.thread)

    def move(kind: EventKind, after: State, answer: Any) -> Move:
        after = _resumed(world, after, client, thread, answer.raw if isinstance(answer, Reply) else answer)
        return Move(event._replace(kind=kind, node=command.node), state, after, command, answer)

    if command.words[0] in SUBSCRIBING:  # the confirmation is a message
        yield move(EventKind.STEP, _subscribed(state, client, command), None)
        return
    if command.words[0] in (commands.WATCH, commands.UNWATCH):
        yield move(EventKind.STEP, _watching(state, client, command), OK)
        return
    executed, reply = _executed(world, state, client, thread, command)
    if not is_done(command.words, reply):
        yield Move(event, state, state._replace(blocked=(*state.blocked, (client, thread))), command)
        return
    yield move(EventKind.STEP, executed, reply)
    if command.server == COUNTER:
        # work that takes time fails just before its write, other work at its read: there the moment makes no difference
        writes = actor % world.task.at_once in world.node(state, client).writing
        if left.failures and writes is (world.task.work_ms > 0):
            yield move(EventKind.FAILURE, _hit(state, "failures", actor), LOST)
        return
    for hit in _hits(world, state, executed, event, command):
        yield move(*hit)


def _hits(
    world: World, state: State, executed: State, event: ScheduleEvent, command: CommandSent, is_one_of_several: bool = False
) -> Iterator[tuple[EventKind, State, Any]]:
    """Yield the faults that can hit a command at its server: the kind, the state after it, and the reply to the client.

    executed: the state after the server has executed the command once. is_one_of_several: the command went to several servers.
    """
    left, client, actor = state.left, event.client, world.actor_of(event.client, event.thread)
    if left.lost_replies:
        arrived = _arrived(world, executed, client, event.thread, command)
        changes = arrived.lock != state.lock
        arrived = _hit(arrived, "lost_replies", actor, in_vain=not changes and not is_one_of_several)
        yield EventKind.LOST_REPLY, _unwatched(arrived, client, command.connection), LOST
        # a pipeline that has arrived cannot be lost; and if the command changes nothing, both losses have the same effect
        if changes and not command.follows:
            unsent = _hit(state, "lost_replies", actor, in_vain=True)
            yield EventKind.LOST_COMMAND, _unwatched(unsent, client, command.connection), LOST
    # a single command of a pipeline is never sent again, and a client that watches keys raises an error instead
    if left.resends and not (command.follows or command.behind or _watches(state, client, command)):
        twice, reply = _executed(world, executed, client, event.thread, command)
        yield EventKind.RESEND, _hit(twice, "resends", actor, twice.lock == executed.lock), reply


def _arrived(world: World, state: State, client: int, thread: int, command: CommandSent) -> State:
    """Return the state after the server has executed the later commands of a pipeline."""
    for words in command.behind:
        state, _ = _executed(world, state, client, thread, command, words)
    return state


# Several servers execute a command each at its own moment, and the client waits for all of them. So commands of other clients can
# be executed in between: that is how votes are split. A fault can hit the command at one server, or at all servers, and then
# before the first has executed it. A client that is paused or killed sends nothing to the servers that have not executed its
# command yet. If a server did execute it during the pause, the result would be the same as of a pause just after the execution,
# which is another schedule of the search.


def _to_servers(
    world: World, state: State, client: int, thread: int, operation: FanOut, nodes: Collection[int]
) -> Iterator[Move]:
    """Yield the moves of a command to several servers: its execution and faults at each of ``nodes``, and faults at all."""
    event, actor = world.event(state, client, thread), world.actor_of(client, thread)
    known = flight_of(state, client, thread)
    flight = known or Flight(client, thread, state.now_ms, (None,) * len(operation.commands))
    for place, command in enumerate(operation.commands):
        if flight.answers[place] is None and command.node in nodes:
            yield from _to_one_of_them(world, state, event._replace(node=command.node), command, flight, place)
    if known is not None:
        return
    if state.left.lost_replies:
        silent = _hit(state, "lost_replies", actor)
        yield Move(event._replace(kind=EventKind.LOST_REPLY), state, _fly(silent, flight._replace(fault=EventKind.LOST_REPLY)))
        unsent = _hit(state, "lost_replies", actor, in_vain=True)
        unsent = _resumed(world, unsent, client, thread, (LOST,) * len(flight.answers))
        yield Move(event._replace(kind=EventKind.LOST_COMMAND), state, unsent)
    if state.left.resends:
        twice = _hit(state, "resends", actor, in_vain=True)
        yield Move(event._replace(kind=EventKind.RESEND), state, _fly(twice, flight._replace(fault=EventKind.RESEND)))


def _to_one_of_them(
    world: World, state: State, event: ScheduleEvent, command: CommandSent, flight: Flight, place: int
) -> Iterator[Move]:
    executed, reply = _executed(world, state, event.client, event.thread, command)

    def move(kind: EventKind, after: State, answer: Any) -> Move:
        return Move(event._replace(kind=kind), state, _answered(world, after, flight, place, answer), command, answer)

    yield move(EventKind.STEP, executed, LOST if flight.fault is EventKind.LOST_REPLY else reply)
    for hit in _hits(world, state, executed, event, command, True) if flight.fault is EventKind.STEP else ():
        yield move(*hit)


def _answered(world: World, state: State, flight: Flight, place: int, reply: Any) -> State:
    """Return the state after a server has answered. After the last answer, the client continues."""
    flight = flight._replace(answers=put(flight.answers, place, (reply.raw if isinstance(reply, Reply) else reply,)))
    replies = tuple([answer[0] for answer in flight.answers if answer is not None])
    if len(replies) < len(flight.answers):
        return _fly(state, flight)
    if flight.fault is EventKind.RESEND:
        return _fly(state, flight._replace(answers=(None,) * len(replies), fault=EventKind.STEP))
    state = state._replace(flights=without(state.flights, *flight[:2]))
    replies = replies if world.symmetry is None else tuple(sorted(replies, key=repr))  # without the order of the servers
    return _resumed(world, state, *flight[:2], replies)


def _fly(state: State, flight: Flight) -> State:
    others = without(state.flights, *flight[:2])
    return state._replace(flights=tuple(sorted([*others, flight], key=itemgetter(0, 1))))


# Time passes only if all replicas that run sleep. Then the clock moves to the next deadline. A waiter that polls tries again and
# again meanwhile. As long as its tries fail, and change nothing, they belong to the same event. The clock stops at a try that has
# any effect.


def _of_time(world: World, state: State, horizon_ms: int) -> Iterator[Move]:
    """Yield the event of the clock: it moves to the next deadline, at most to the horizon."""
    is_awake = any(not isinstance(operation, Nap) for *_, operation in world.runnable(state))
    if is_awake or state.now_ms >= horizon_ms or world.all_over(state):
        return
    until_ms = min(_deadlines(world, state), default=horizon_ms + 1)
    if (
        world.wakes_at_any_moment
        and (until_ms > horizon_ms or world.known <= world.oracle.free(state.lock, state.now_ms))
        and world.napping(state)
    ):
        return  # a nap ends first
    if until_ms > horizon_ms:
        if not world.waiting(state):
            return
        until_ms = horizon_ms  # the rules judge how long a request has waited until then
    after, tries = state, 0
    while True:
        naps = () if world.wakes_at_any_moment else (wait.at_ms for *_, wait in world.sleeping(after) if isinstance(wait, Nap))
        after = _passed(world, after, min((until_ms, *naps)))
        if after.now_ms == until_ms or after.happened or (polled := _polled(world, after)) is None:
            break
        after, tries = polled[0], tries + polled[1]
    yield Move(ScheduleEvent(EventKind.CLOCK, NOBODY, number=after.now_ms), state, after, asked_in_vain=tries)


def _deadlines(world: World, state: State) -> Iterator[int]:
    """Yield the moments at which a key expires, a wait ends, or a blocking command gives up; but not the ends of naps."""
    expires_in_ms = world.lock.expires_in_ms(state.lock)
    if expires_in_ms is not None:
        yield state.now_ms + expires_in_ms
    ends = [wait.at_ms for *_, wait in world.sleeping(state) if not isinstance(wait, Nap)]
    for *_, command in world.blocked(state):
        ends += command.until_ms, command.patience_ms
    yield from (at_ms for at_ms in ends if at_ms is not None and at_ms > state.now_ms)


def _passed(world: World, before: State, now_ms: int) -> State:
    """Return the state at a later moment: keys have expired, and commands that wait in the server have given up."""
    state = before._replace(lock=world.lock.later(before.lock, now_ms - before.now_ms), now_ms=now_ms)
    state = _keys_ended(world, state, before.lock)
    for client, thread, command in world.blocked(before):
        left = without(state.blocked, client, thread)
        if command.until_ms is not None and command.until_ms <= now_ms:
            reply = world.lock.answer(state.lock, command.words, now_ms, command.version, command.node).reply
            state = _replied(world, state._replace(blocked=left), client, thread, reply.raw)
        elif command.patience_ms is not None and command.patience_ms <= now_ms and before.modes[client] == RUNS:
            state = _resumed(world, state._replace(blocked=left), client, thread, GAVE_UP)
    return settled(world, before, state)


def _polled(world: World, state: State) -> tuple[State, int] | None:
    """Return the state after every running client has polled without success, and the number of polls; None otherwise."""
    polled, tries = state, 0
    while able := next(world.runnable(polled), None):
        client, thread, command = able
        if not isinstance(command, CommandSent) or command.words[0] in SUBSCRIBING or command.node or tries > MOST_TRIES:
            return None
        after = next(_to_one_server(world, polled, world.event(polled, client, thread), command)).state
        is_marked = any(isinstance(event, Marked) for event in after.happened)
        if is_marked or after._replace(nodes=polled.nodes, happened=()) != polled:
            return None
        polled = polled._replace(nodes=after.nodes)
        tries += 1
    return polled, tries


# Faults from outside: a replica is paused or killed, and the lock's store restarts without its data.


def _from_outside(world: World, state: State, nodes: Collection[int]) -> Iterator[Move]:
    """Yield the moves of faults from outside. nodes: the numbers of the servers that may restart, if there are several."""
    left = state.left
    for client, mode in enumerate(state.modes):
        if mode == PAUSED:
            yield Move(ScheduleEvent(EventKind.RESUME, client), state, _continued(world, state, client))
        elif mode == RUNS and not all(world.node(state, client).ended):
            first = world.actor_of(client, 0)
            # a pause within a pipeline has the same effect as after it: the server executes the rest
            if left.pauses and not _pipelines(world, state, client):
                paused = _hit(state, "pauses", first)._replace(modes=put(state.modes, client, PAUSED))
                yield Move(ScheduleEvent(EventKind.PAUSE, client), state, paused)
            if left.crashes:
                yield Move(ScheduleEvent(EventKind.CRASH, client), state, _hit(_crashed(world, state, client), "crashes", first))
    if not left.restarts or state.lock == world.lock.empty or world.all_over(state):
        return
    for node in nodes if world.program.servers > 1 else (0,):
        if world.lock.holds(state.lock, node):
            restarted = _hit(state, "restarts")._replace(lock=world.lock.emptied(state.lock, node))
            yield Move(ScheduleEvent(EventKind.RESTART, node=node), state, _keys_ended(world, restarted, state.lock))


def _continued(world: World, state: State, client: int) -> State:
    """Return the state after a paused replica was resumed: threads whose nap is over or whose reply has come go on."""
    ready = [waiting for waiting in state.waiting if waiting.client == client]
    state = state._replace(modes=put(state.modes, client, RUNS), waiting=without(state.waiting, client))
    for _, thread, result in ready:
        state = _resumed(world, state, client, thread, result)
    return state


def _pipelines(world: World, state: State, client: int) -> list[tuple[int, CommandSent]]:
    """Return the thread and the next command of each pipeline of which the server has executed a part."""
    sent = [(thread, each) for thread, each in enumerate(world.node(state, client).pending) if isinstance(each, CommandSent)]
    return [(thread, command) for thread, command in sent if command.follows and command.server == LOCK]


def _crashed(world: World, state: State, client: int) -> State:
    """Return the state after a replica was killed. The server executes the rest of its pipelines."""
    for thread, command in _pipelines(world, state, client):
        state, _ = _executed(world, state, client, thread, command)
        state = _arrived(world, state, client, thread, command)
    state = _unwatched(state, client)
    return state._replace(  # its node makes no difference any more
        nodes=put(state.nodes, client, 0),
        modes=put(state.modes, client, DEAD),
        blocked=without(state.blocked, client),
        subscribed=without(state.subscribed, client),
        inboxes=without(state.inboxes, client),
        flights=without(state.flights, client),
    )


def _hit(state: State, fault: str, actor: int = NOBODY, in_vain: bool = False) -> State:
    """Return the state after a fault was taken from the budget and recorded for the rules."""
    return state._replace(left=state.left.without(fault), happened=(*state.happened, Fault(fault, actor, in_vain)))


# A server executes a command.


def _executed(
    world: World, state: State, client: int, thread: int, command: CommandSent, words: Words = ()
) -> tuple[State, Reply]:
    """Return the state after a server has executed a command, and its reply. words: in place of its own. Raises NewToken."""
    words = _for_tables(world, state, client, thread, command, words or command.words)
    if command.server == COUNTER:
        answer: Transition = world.counter.answer(state.counter, words, state.now_ms, command.version)
        return state._replace(counter=answer.state), answer.reply
    flight, own = flight_of(state, client, thread), world.node(state, client).own[thread]
    change = Change(client, thread, own, state.lock, state.lock, flight.since_ms if flight is not None else state.now_ms)
    if state.watched and words[0] == TRANSACTION:
        is_touched = any(watch.touched for watch in _watches(state, client, command))
        state = _unwatched(state, client, command.connection)
        if is_touched:
            return state._replace(happened=(*state.happened, change)), NIL[command.version]
    answer = world.lock.answer(state.lock, words, state.now_ms, command.version, command.node)
    state = _after_touch(state, lambda watch: world.lock.touches(change.before, words, watch.key, state.now_ms))
    state, reply = _published(state, words, answer) if answer.published else (state, answer.reply)
    change = change._replace(after=answer.state)
    return state._replace(lock=answer.state, happened=(*state.happened, change)), reply


def _for_tables(world: World, state: State, client: int, thread: int, command: CommandSent, words: Words) -> Words:
    """Return the words that a table executes: with the connection or a script's text if these matter. Raises NewToken."""
    if words[0] == commands.CLIENT:
        return (*words, b"%d-%d" % (client, command.connection))
    noticed = world.counter.real.noticed
    if (hashes := commands.asked_for(words)) <= noticed:
        return words
    texts, sender = world.program.texts, (words[1], command.file, command.line)
    if sender not in texts and words is command.words and not (command.follows or command.behind or command.node):
        texts[sender] = _loads_by_itself(world, state, client, thread, command)
    if not texts.get(sender):
        noticed |= hashes
        raise NewToken
    return (commands.TEXT[commands.SHA.index(words[0])], texts[sender], *words[2:])


def _loads_by_itself(world: World, state: State, client: int, thread: int, command: CommandSent) -> bytes:
    """Return the script that a client loads after NOSCRIPT, before it sends the command again; b"" if it does something else.

    Then the stage cannot tell whether the script was loaded before. So loading and running it are one command.
    """
    tree, node, text = world.trees[client], state.nodes[client], b""
    for answer, expected in ((NO_SCRIPT, (commands.SCRIPT, b"LOAD")), (encoded(command.words[1]), command.words)):
        node = tree.step(node, thread, answer, state.now_ms)
        sent = tree.nodes[node].pending[thread]
        if not isinstance(sent, CommandSent) or sent.words[: len(expected)] != expected or tree.nodes[node].marks:
            return b""
        text = text or sent.words[2]
    return text if commands.sha1(text).encode() == command.words[1] else b""


def is_done(words: Words, reply: Reply) -> bool:
    """Return whether a command is done, and does not wait in the server."""
    return not can_wait(words) or reply.value is not None


# Messages: a command publishes them, and each subscribed connection gets them.


def _published(state: State, words: Words, answer: Transition) -> tuple[State, Reply]:
    """Return the state after the messages of a command were delivered, and its reply: PUBLISH returns the number of receivers."""
    receivers = []
    for channel, text in answer.published:
        getting = [subscription for subscription in state.subscribed if _gets(subscription, channel)]
        for client, connection, pattern, is_pattern in getting:
            message = (P_MESSAGE, pattern, channel, text) if is_pattern else (MESSAGE, channel, text)
            state = _delivered(state, client, connection, message)
        receivers.append(len(getting))
    numbers, value = iter(receivers), answer.reply.value
    if words[0] == PUBLISH:
        value = next(numbers, value)
    elif words[0] == TRANSACTION:
        pairs = zip(commands.commands_of(words), value, strict=True)
        value = tuple([next(numbers, reply) if command[0] == PUBLISH else reply for command, reply in pairs])
    return state, answer.reply if value == answer.reply.value else Reply(encoded(value), value)


def _gets(subscribed: Subscribed, channel: bytes) -> bool:
    """Return whether a subscription gets the messages of a channel."""
    if not subscribed.is_pattern:
        return subscribed.channel == channel
    return fnmatchcase(channel.decode(errors="replace"), subscribed.channel.decode(errors="replace"))


def _delivered(state: State, client: int, connection: int, message: tuple[Any, ...]) -> State:
    """Return the state after a message has come on a connection."""
    return _with_inbox(state, client, connection, (*messages(state, client, connection), message))


def _with_inbox(state: State, client: int, connection: int, unread: tuple[Any, ...]) -> State:
    others = without(state.inboxes, client, connection)
    inbox = [Inbox(client, connection, unread)] if unread else []
    return state._replace(inboxes=tuple(sorted([*others, *inbox])))


def _read(world: World, state: State, client: int, thread: int, connection: int) -> State:
    """Return the state after a thread has read the first message of a connection."""
    first, *others = messages(state, client, connection)
    return _resumed(world, _with_inbox(state, client, connection, tuple(others)), client, thread, first)


def _subscribed(state: State, client: int, command: CommandSent) -> State:
    """Return the state after a client has subscribed or unsubscribed. The confirmation comes as a message."""
    name, connection, adds = command.words[0], command.connection, SUBSCRIBING[command.words[0]]
    is_pattern = name.startswith(b"P")
    subscribed = set(state.subscribed)
    known = [each for each in sorted(subscribed) if each[:2] == (client, connection) and each.is_pattern == is_pattern]
    for channel in command.words[1:] or [each.channel for each in known]:
        subscription = Subscribed(client, connection, channel, is_pattern)
        subscribed = subscribed | {subscription} if adds else subscribed - {subscription}
        number = sum(each[:2] == (client, connection) for each in subscribed)
        state = _delivered(state, client, connection, (name.lower(), channel, number))
    return state._replace(subscribed=tuple(sorted(subscribed)))


# WATCH: a connection watches keys, and its next transaction is executed only if no command has touched them since. The watching
# connections are not in the keys, so they are a part of the state. The real server decides whether a command touches a key, by a
# second connection that watches it. Keys that expire, or that a restart loses, count as touched. A closed connection watches
# nothing.


def _watches(state: State, client: int, command: CommandSent) -> list[Watch]:
    return [watch for watch in state.watched if (watch.client, watch.connection) == (client, command.connection)]


def _watching(state: State, client: int, command: CommandSent) -> State:
    """Return the state after WATCH or UNWATCH."""
    if command.words[0] == commands.UNWATCH:
        return _unwatched(state, client, command.connection)
    known = {watch.key for watch in _watches(state, client, command)}
    new = [Watch(client, command.connection, key) for key in dict.fromkeys(command.words[1:]) if key not in known]
    return state._replace(watched=tuple(sorted((*state.watched, *new))))


def _unwatched(state: State, client: int, *connection: int) -> State:
    """Return the state after a connection of a client, or all its connections, have stopped to watch keys."""
    return state._replace(watched=without(state.watched, client, *connection)) if state.watched else state


def _after_touch(state: State, touches: Callable[[Watch], bool]) -> State:
    """Return the state after some watched keys were touched. touches: returns whether the key of a watch was."""
    if not state.watched:
        return state
    return state._replace(watched=tuple([watch._replace(touched=watch.touched or touches(watch)) for watch in state.watched]))


def _keys_ended(world: World, state: State, before: int) -> State:
    """Return the state after watched keys were touched by expiry or loss. before: the earlier state of the lock's store."""
    gone = {key.name for key in world.lock.contents[before]} - {key.name for key in world.lock.contents[state.lock]}
    return _after_touch(state, lambda watch: watch.key in gone)


# A thread continues, and others that it makes ready continue in the same event.


def _resumed(world: World, state: State, client: int, thread: int, result: Any) -> State:
    """Return the state after a thread has continued with the result of its operation."""
    tree = world.trees[client]
    number = tree.step(state.nodes[client], thread, result, state.now_ms)
    node = tree.nodes[number]
    for connection in node.closed if state.subscribed else ():
        subscribed = without(state.subscribed, client, connection)
        state = state._replace(subscribed=subscribed, inboxes=without(state.inboxes, client, connection))
    happened = state.happened
    if node.marks:
        happened += tuple([Marked(client, *mark) for mark in node.marks])
    return state._replace(nodes=put(state.nodes, client, number), happened=happened)


def _replied(world: World, state: State, client: int, thread: int, result: Any) -> State:
    """Return the state after a thread has got its result: it continues now, or when its paused client is resumed."""
    if state.modes[client] == RUNS:
        return _resumed(world, state, client, thread, result)
    others = without(state.waiting, client, thread)
    return state._replace(waiting=tuple(sorted((*others, Waiting(client, thread, result)), key=itemgetter(0, 1))))


def _finished(world: World, move: Move) -> Move:
    """Return a move with all that follows at once: blocking commands that can be done are served, and threads wake."""
    state = move.state
    while state.blocked and (served := _served(world, state)) is not None:
        state = served
    return move._replace(state=settled(world, move.before, state))


def _served(world: World, state: State) -> State | None:
    """Return the state after the first blocking command that can be done now; None if there is none."""
    for client, thread, command in world.blocked(state):
        executed, reply = _executed(world, state, client, thread, command)
        if is_done(command.words, reply):
            done = executed._replace(blocked=without(executed.blocked, client, thread))
            return _replied(world, done, client, thread, reply.raw)
    return None


def settled(world: World, before: State, state: State) -> State:
    """Return the state after all threads have woken whose sleep has ended. before: the state before the event.

    A thread that wakes does not affect other clients, nor they the thread. So waking is not an event of its own, but a part of
    the event that ended the sleep. A pause or a crash between the two has the same result as just before both.
    """
    for client, thread in world.napping(before) if before.lock != state.lock and not world.wakes_at_any_moment else ():
        if state.modes[client] != DEAD and isinstance(world.node(state, client).pending[thread], Nap):
            state = _replied(world, state, client, thread, None)
    for _ in range(MOST_WAKES):
        if (woken := _wake(world, state)) is None:
            return state
        state = woken
    raise Livelock("a thread keeps waking, and nothing changes")


def _wake(world: World, state: State) -> State | None:
    """Return the state after the first thread whose wait is over has woken; None if there is none."""
    for client, thread, operation in world.sleeping(state):
        if isinstance(operation, Listen) and (unread := messages(state, client, operation.connection)):
            if unread[0][0] not in (MESSAGE, P_MESSAGE):  # a confirmation does not depend on other clients
                return _read(world, state, client, thread, operation.connection)
        elif isinstance(operation, Nap) and world.wakes_at_any_moment:
            continue
        elif operation.at_ms is not None and operation.at_ms <= state.now_ms:
            return _resumed(world, state, client, thread, None)
    return None

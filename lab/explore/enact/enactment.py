"""Run the events of a schedule on real replicas, one after another. Each command and reply must be equal to the explorer's."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import psutil
import redis

from app.request.steps import GO, LOSE_COMMAND, LOSE_REPLY, SEND_TWICE
from lab.explore.code.operation import CommandSent, Listen, Nap, Operation
from lab.explore.code.wire import AT_ONCE, KNOWN
from lab.explore.enact.controller import Controller, HeldThread, send_request
from lab.explore.enact.faults import Injected
from lab.explore.enact.names import Names
from lab.explore.search.event import EventKind, letter_of
from lab.explore.search.replay import Walk
from lab.explore.search.state import RUNS, Move, State
from lab.explore.store.commands import SUBSCRIBING, TRANSACTION
from lab.explore.store.resp import Reply
from lab.servers.cluster import Cluster
from lab.servers.programs.gunicorn import health
from lab.servers.server import Server

ORDERS = {
    EventKind.STEP: GO,
    EventKind.LOST_REPLY: LOSE_REPLY,
    EventKind.LOST_COMMAND: LOSE_COMMAND,
    EventKind.RESEND: SEND_TWICE,
}
WITHIN_S = 5.0  # in which a thread that can run reaches its next command, even on a busy machine
SETTLE_S = 0.02  # in which a thread reads its clock and goes to sleep
BEFORE_EXPIRY_S = 0.25  # the time between a waiter's last failed try and the moment at which the lock is free
MOST_IN_VAIN = 8  # the most commands of one try


class ClusterDiffers(Exception):  # noqa: N818 - a result
    """The cluster behaved otherwise than in the search. The message names the event."""


class NotHeld(ClusterDiffers):
    """A replica did not reach a command at which the lab can hold it. This neither confirms nor contradicts the search."""


class Enactment:
    """Runs the events of a schedule, as the driver of a run: it sends the requests, and injects the faults."""

    def __init__(self, walk: Walk, controller: Controller, injected: Injected, timeout_s: float) -> None:
        self.walk, self.controller, self.injected, self.timeout_s = walk, controller, injected, timeout_s
        self.difference = ""  # the event at which the cluster differed; empty if it did not
        self.is_held = True  # whether the lab could hold each command until then
        self.paused: dict[int, int] = {}  # by paused client: the place of the event that paused it
        self.threads: dict[tuple[int, int], HeldThread] = {}  # by client and number of its thread
        self.requests: list[Thread] = []  # by client: the thread that sends its request
        self.pids: list[int] = []
        self.began_s = 0.0

    def __call__(self, system: Cluster, folder: Path, is_well: Callable[[], bool]) -> None:
        """Send one request to each replica, and run the events. Then let all requests end."""
        self.system = system
        self.names = Names(f"lab:{system.run}:{system.stage.name}:lock", f"lab:{system.run}:{system.stage.name}:counter")
        try:
            self._begin(folder)
            for place, move in enumerate(self.walk.moves):
                if not is_well():
                    break
                try:
                    self._enact(place, move)
                except ClusterDiffers as difference:
                    raise type(difference)(f"event {place + 1}, {move.event}: {difference}") from None
        except ClusterDiffers as difference:
            self.difference, self.is_held = str(difference), not isinstance(difference, NotHeld)
        finally:
            self._let_go()
            self.injected.write(folder)

    def _begin(self, folder: Path) -> None:
        """Start the requests one after another, each up to its first command."""
        for server in filter(None, (*self.system.lock_store, self.system.counter_redis)):
            self._load(server)
        replicas = self.system.replicas
        self.pids = [int(health(replica.port, replica.host)["pid"]) for replica in replicas]
        for number, replica in enumerate(replicas):
            arguments = letter_of(number), replica, folder, self.timeout_s
            self.requests.append(Thread(target=send_request, args=arguments, daemon=True))
            self.requests[-1].start()
            self._settle(self.walk.start, number)
        self.began_s = time.monotonic()

    def _load(self, server: Server) -> None:
        with _client(server) as client:
            for sha, text in self.walk.world.counter.real.scripts.items():
                if sha.encode() not in self.walk.world.counter.real.noticed:  # others are loaded by an event
                    client.script_load(text)

    def _enact(self, place: int, move: Move) -> None:
        event = move.event
        if event.kind is EventKind.CLOCK:
            self._pass_time(move)
        elif event.kind is EventKind.PAUSE:
            self._pause(place, event.client)
        elif event.kind is EventKind.RESUME:
            self._resume(event.client, move.before.now_ms)
        elif event.kind is EventKind.CRASH:
            self._crash(place, event.client)
        else:
            self._try_in_vain(move)
            self._step(place, move)
        for client in range(len(self.walk.world.trees)):
            self._settle(move.state, client)

    # steps of a replica

    def _step(self, place: int, move: Move) -> None:
        event = move.event
        thread = self._held(event.client, event.thread, move.command)
        if event.kind is not EventKind.STEP:
            self.injected.begin(place, thread.replica, thread.pid, thread.request)
        self.controller.order(thread, ORDERS[event.kind])
        if not self.controller.wait_until(lambda: bool(thread.replies) or thread.gone, WITHIN_S) or not thread.replies:
            raise ClusterDiffers("no reply came")
        if event.kind is not EventKind.STEP:
            self.injected.recovered(place)
        expected = move.reply.value if isinstance(move.reply, Reply) else move.reply
        if event.kind in (EventKind.STEP, EventKind.RESEND) and not self.names.same_reply(expected, thread.replies[0]):
            raise ClusterDiffers(f"the reply was {thread.replies[0]!r}, and in the search {expected!r}")

    def _held(self, client: int, number: int, command: CommandSent | None) -> HeldThread:
        """Return a thread of a replica when it is held, at this command if one is given. Raises ClusterDiffers and NotHeld."""
        if command is not None and (command.behind or command.follows or command.words[0] == TRANSACTION):
            raise NotHeld(f"{letter_of(client, number > 0)} sends several commands at once")
        self.controller.wait_until(lambda: self._come(client, number, command) is not None, WITHIN_S)
        thread = self._find(client, number, command)
        wanted = b" ".join(command.words).decode(errors="replace") if command else "a command"
        if thread is None:
            raise NotHeld(f"{letter_of(client, number > 0)} did not reach {wanted}")
        if command is not None and not self.names.same_command(command.words, thread.words):
            raise ClusterDiffers(
                f"{letter_of(client, number > 0)} sends {' '.join(map(self.names.plain, thread.words))}, and not {wanted}"
            )
        return thread

    def _come(self, client: int, number: int, command: CommandSent | None) -> HeldThread | None:
        """Return the held thread of a replica. Let commands pass that are no events of a search, such as PING."""
        if command is not None and number == 0:
            for thread in self._held_threads(client):
                introduces = thread.words[0].upper().encode() in (*AT_ONCE, *KNOWN)
                if introduces and not self.names.same_command(command.words, thread.words):
                    self.controller.order(thread)
        return self._find(client, number, command)

    def _held_threads(self, client: int) -> list[HeldThread]:
        return [thread for thread in self.controller.threads if thread.pid == self.pids[client] and thread.words]

    def _find(self, client: int, number: int, command: CommandSent | None) -> HeldThread | None:
        known = self.threads.get((client, number))
        if known is not None:
            return known if known.words else None
        for thread in self._held_threads(client):
            if thread in self.threads.values():
                continue
            fits = command is None or self.names.same_command(command.words, thread.words)
            request = letter_of(client)  # a thread in the background may work for the request too
            if thread.request == request if number == 0 else thread.request in ("", request) and fits:
                self.threads[client, number] = thread
                return thread
        return None

    def _settle(self, state: State, client: int) -> None:
        """Wait until each thread of a replica that runs waits at the same command as in the search. Raises ClusterDiffers."""
        if state.modes[client] != RUNS:
            return
        node = self.walk.world.node(state, client)
        for number, operation in enumerate(node.pending):
            if isinstance(operation, Listen) or (isinstance(operation, CommandSent) and operation.words[0] in SUBSCRIBING):
                raise NotHeld(f"{letter_of(client, number > 0)} listens to a channel")
            if isinstance(operation, CommandSent):
                self._held(client, number, operation)
            elif operation is not None:
                self.controller.pass_time(SETTLE_S)
        if all(node.ended) and not self.controller.wait_until(lambda: not self.requests[client].is_alive(), WITHIN_S):
            raise ClusterDiffers(f"the request of {letter_of(client)} did not end")

    # time

    def _pass_time(self, move: Move) -> None:
        """Wait until the keys of this event have expired; if none expires, until the real clock has reached the same time."""
        gone = self._keys(move.before) - self._keys(move.state)
        wait_s = self._until_expiry_s() if gone else self.began_s + move.state.now_ms / 1000 - time.monotonic()
        until_s = time.monotonic() + wait_s
        if any(self._waiters(move)):
            self.controller.pass_time(wait_s - BEFORE_EXPIRY_S)
            self._try_in_vain(move)
        if gone:
            while time.monotonic() < until_s + WITHIN_S and gone & self._real_keys():
                self.controller.pass_time(0.005)
        else:
            self.controller.pass_time(until_s - time.monotonic())

    def _waiters(self, move: Move) -> Iterator[tuple[int, int, Operation | None]]:
        """Yield each client that an event wakes from a nap, the thread, and the operation that follows."""
        for client, mode in enumerate(move.before.modes):
            old, new = (self.walk.world.node(state, client) for state in (move.before, move.state))
            naps = any(isinstance(operation, Nap) for operation in old.pending)
            if client == move.event.client or mode != RUNS or old is new or not naps:
                continue
            sent = [isinstance(operation, CommandSent) and operation not in old.pending for operation in new.pending]
            number = sent.index(True) if any(sent) else 0
            yield client, number, new.pending[number]

    def _try_in_vain(self, move: Move) -> None:
        """Let each waiter that the event wakes try once more without success just before, so that it has read the clock."""
        for client, number, expected in self._waiters(move):
            for _ in range(MOST_IN_VAIN):
                thread = self._held(client, number, None)
                self.controller.order(thread)
                self.controller.wait_until(lambda thread=thread: bool(thread.words), WITHIN_S)  # type: ignore[misc]
                if not isinstance(expected, CommandSent) or self.names.same_command(expected.words, thread.words):
                    break

    def _until_expiry_s(self) -> float:
        with _client(self.system.lock_store[0]) as client:
            left_ms = [int(client.pttl(key)) for key in client.keys("*")]
        return min((left for left in left_ms if left > 0), default=0) / 1000

    def _keys(self, state: State) -> set[str]:
        return {key.name.decode(errors="replace") for key in self.walk.world.lock.contents[state.lock]}

    def _real_keys(self) -> set[str]:
        with _client(self.system.lock_store[0]) as client:
            return {self.names.plain(key.decode(errors="replace")) for key in client.keys("*") if client.exists(key)}

    # faults

    def _pause(self, place: int, client: int) -> None:
        self._record(place, client)
        os.kill(self.pids[client], signal.SIGSTOP)
        process = psutil.Process(self.pids[client])
        if not self.controller.wait_until(lambda: process.status() == psutil.STATUS_STOPPED, WITHIN_S):
            raise ClusterDiffers("the process did not stop")
        self.paused[client] = place

    def _resume(self, client: int, now_ms: int = 0) -> None:
        """Resume a replica when its pause has lasted as long as in the search: it can have begun late."""
        place = self.paused.pop(client)
        record, lasts_ms = self.injected.records[place], now_ms - self.walk.moves[place].before.now_ms
        self.controller.pass_time(record.at_ns / 1e9 + lasts_ms / 1000 - time.monotonic())
        record.recovering_ns = time.monotonic_ns()
        os.kill(self.pids[client], signal.SIGCONT)
        self.injected.recovered(place)

    def _crash(self, place: int, client: int) -> None:
        self._record(place, client)
        os.kill(self.pids[client], signal.SIGKILL)
        if not self.controller.wait_until(lambda: not self.requests[client].is_alive(), WITHIN_S):
            raise ClusterDiffers("the process did not end")
        self.injected.recovered(place)

    def _record(self, place: int, client: int) -> None:
        self.injected.begin(place, self.system.replicas[client].name, self.pids[client], letter_of(client))

    def _let_go(self) -> None:
        """Resume all paused replicas, let all threads continue, and wait until all requests have ended."""
        for client in list(self.paused):
            self._resume(client)
        self.controller.free()
        self.controller.wait_until(lambda: not any(request.is_alive() for request in self.requests), self.timeout_s)
        self.controller.close()


def _client(server: Server) -> redis.Redis:
    """Return a client of the lab for one server. It is closed after a ``with`` block."""
    return redis.Redis(host=server.host, port=server.port, password=server.secret or None, protocol=2)

"""A second checker of the explorer: every schedule of a small question, each run by itself from its start.

It has the stage's code as the explorer runs it (``lab.explore.code``), and nothing else of it: its own loop, its own faults, its
own clock, its own statement of who is entitled. No two schedules are merged, whatever they have in common. What a command does
to the keys is asked of the real Redis, once for each state of the keys.

For locks on one server whose commands do not wait in it: no pipelines, no messages, no scripts that ask for the time.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from lab.explore.code.operation import (
    COUNTER,
    LOCK,
    LOST,
    AboutToWrite,
    Choice,
    CommandSent,
    Ended,
    Granted,
    Nap,
    Releasing,
    Until,
    WriteDone,
)
from lab.explore.code.program import Program
from lab.explore.code.replica import Replica
from lab.explore.questions import Question
from lab.explore.store.real_redis import MOST_MS, MOST_TRIES, RealRedis
from lab.explore.store.resp import RespClient

DATABASE = 9
GRID_MS = 100
RUNS, PAUSED, DEAD = "runs", "paused", "dead"
LOST_ONE, OF_RESTARTS = "an increment was lost", "survives_store_restart"
Keys = tuple[tuple[bytes, bytes, int], ...]


class Redis:
    """What a real server does to some keys."""

    def __init__(self, real: RealRedis) -> None:
        self.client = RespClient(real.host, real.port)
        self.client.send([("SELECT", DATABASE)])
        self.known: dict[tuple[Keys, tuple[bytes, ...]], tuple[bytes, Keys]] = {}

    def execute(self, keys: Keys, words: tuple[bytes, ...]) -> tuple[bytes, Keys]:
        which = keys, words
        if which not in self.known:
            loading = [("RESTORE", name, ttl_ms, value) for name, value, ttl_ms in keys]
            for _ in range(MOST_TRIES):  # on a machine that stalls, a key would have less to live than it should
                began_s = time.monotonic()
                *_, reply, names = self.client.send([("FLUSHDB",), *loading, words, ("KEYS", "*")])
                after = [(name, *self.client.send([("DUMP", name), ("PTTL", name)])) for name in sorted(names.value)]
                if 1000 * (time.monotonic() - began_s) < MOST_MS:
                    break
            whole = tuple((name, value.value, -(-max(0, ttl.value) // GRID_MS) * GRID_MS) for name, value, ttl in after)
            self.known[which] = reply.raw, whole
        return self.known[which]


def later(keys: Keys, passed_ms: int) -> Keys:
    """Return the keys that are left after some time."""
    return tuple((name, value, ttl_ms and ttl_ms - passed_ms) for name, value, ttl_ms in keys if not 0 < ttl_ms <= passed_ms)


@dataclass
class Holder:
    """A request in its work: until when it is entitled, and why it is not any more."""

    until_ms: int | None
    why: str = ""
    pause: str = ""  # the claim that an expiry breaks after its last pause


@dataclass
class Run:
    """One schedule, as far as it has come."""

    replicas: list[Replica]
    left: dict[str, int]
    lock: Keys = ()
    counter: Keys = ()
    now_ms: int = 0
    modes: list[str] = field(default_factory=list)
    asleep_no_more: set[tuple[int, int]] = field(default_factory=set)  # of paused replicas
    over: set[int] = field(default_factory=set)
    waits: set[int] = field(default_factory=set)
    writing: set[int] = field(default_factory=set)
    releasing: dict[int, bool | None] = field(default_factory=dict)  # whether the lock was its own as its release began
    owner: int | None = None  # who made the lock's key, and since when its lease counts
    since_ms: int = 0
    holds: dict[int, Holder] = field(default_factory=dict)
    writes: Counter[int] = field(default_factory=Counter)
    last_why: str = ""
    broken: set[str] = field(default_factory=set)


EVENT = tuple[Any, ...]


class BruteForce:
    """All schedules of a question, one after the other."""

    def __init__(self, real: RealRedis, program: Program, asked: Question) -> None:
        self.program, self.asked, self.redis = program, asked, Redis(real)
        self.lease_ms = asked.task.ttl_ms if program.stage.ttl_ms is not None else None
        self.schedules = self.cut = 0
        self.breaking: Counter[str] = Counter()
        todo: list[list[EVENT]] = [[]]
        while todo:
            todo += self._run(todo.pop())
        self.redis.client.close()

    def _run(self, beginning: list[EVENT]) -> list[list[EVENT]]:
        """Run a schedule that begins so, to its end. Return the beginnings of those that part from it after that."""
        run = Run([self.program.start(number) for number in range(self.asked.replicas)], self.asked.budget._asdict())
        run.modes = [RUNS] * len(run.replicas)
        run.waits = set(range(len(run.replicas)))
        for client in range(len(run.replicas)):
            self._note(run, client)
        others: list[list[EVENT]] = []
        taken: list[EVENT] = []
        while possible := self._possible(run):
            event = beginning[len(taken)] if len(taken) < len(beginning) else possible[0]
            if len(taken) >= len(beginning):
                others += [[*taken, other] for other in possible[1:]]
            taken.append(event)
            self._do(run, event)
        self.schedules += 1
        self.cut += run.now_ms >= self.asked.horizon_ms and any(run.modes[client] == RUNS for client in run.waits)
        if run.left["restarts"] != self.asked.budget.restarts:  # then the lost data is the cause of all that breaks
            run.broken = {OF_RESTARTS} if run.broken else set()
        self.breaking.update(run.broken)
        for replica in run.replicas:
            replica.close()
        return others

    # what can happen

    def _possible(self, run: Run) -> list[EVENT]:
        found: list[EVENT] = []
        for client, thread, operation in self._able(run):
            match operation:
                case Choice(values):
                    found += [("draws", client, thread, number) for number in range(len(values))]
                case CommandSent():
                    found += self._at_server(run, client, thread, operation)
        if not found:
            found += self._time(run)
        for client, mode in enumerate(run.modes):
            if mode == PAUSED:
                found.append(("resumes", client))
            elif mode == RUNS and client not in run.over:
                found += [(name, client) for name in ("pauses", "crashes") if run.left[name]]
        if run.left["restarts"] and run.lock and not self._all_over(run):
            found.append(("restarts",))
        return found

    def _able(self, run: Run) -> list[tuple[int, int, Any]]:
        return [
            (client, number, thread.pending)
            for client, mode in enumerate(run.modes)
            if mode == RUNS
            for number, thread in enumerate(run.replicas[client].threads)
            if thread.pending is not None and not isinstance(thread.pending, Nap | Until)
        ]

    def _at_server(self, run: Run, client: int, thread: int, command: CommandSent) -> list[EVENT]:
        found: list[EVENT] = [("step", client, thread)]
        if command.server == COUNTER:
            fails = run.left["failures"] and (client in run.writing) is (self.asked.task.work_ms > 0)
            return [*found, ("failures", client, thread)] if fails else found
        changes = self.redis.execute(run.lock, command.words)[1] != run.lock
        if run.left["lost_replies"]:
            found.append(("lost reply", client, thread))
            found += [("lost command", client, thread)] if changes else []
        return [*found, ("resends", client, thread)] if run.left["resends"] else found

    def _all_over(self, run: Run) -> bool:
        return all(mode == DEAD or client in run.over for client, mode in enumerate(run.modes))

    def _time(self, run: Run) -> list[EVENT]:
        horizon_ms = self.asked.horizon_ms
        if self._all_over(run) or run.now_ms >= horizon_ms:
            return []
        until_ms = min(self._deadlines(run), default=horizon_ms + 1)
        if until_ms > horizon_ms:
            return [("time", horizon_ms)] if any(run.modes[client] == RUNS for client in run.waits) else []
        return [("time", until_ms)]

    def _deadlines(self, run: Run) -> list[int]:
        ends = [run.now_ms + ttl_ms for *_, ttl_ms in run.lock if ttl_ms]
        return ends + [at_ms for at_ms in self._waits_until(run, Until) if at_ms > run.now_ms]

    def _waits_until(self, run: Run, kind: type) -> list[int]:
        return [
            thread.pending.at_ms
            for replica, mode in zip(run.replicas, run.modes, strict=True)
            for thread in replica.threads
            if mode == RUNS and isinstance(thread.pending, kind) and thread.pending.at_ms is not None
        ]

    # what it does

    def _do(self, run: Run, event: EVENT) -> None:
        before, asleep = run.lock, self._asleep(run)
        match event:
            case "draws", client, thread, number:
                self._resume(run, client, thread, run.replicas[client].threads[thread].pending.values[number])
            case "time", until_ms:
                self._pass(run, until_ms)
                return
            case kind, client:
                self._change_mode(run, kind, client)
            case ("restarts",):
                if run.owner in run.holds and not self._why(run, run.owner):
                    run.holds[run.owner].why = OF_RESTARTS
                run.lock, run.owner = (), None
                run.left["restarts"] -= 1
            case kind, client, thread:
                self._command(run, kind, client, thread)
        self._settle(run, asleep if run.lock != before else [])

    def _change_mode(self, run: Run, kind: str, client: int) -> None:
        """Pause, resume or kill a replica."""
        if kind == "resumes":
            run.modes[client] = RUNS
            for its, thread in sorted(run.asleep_no_more):
                if its == client:
                    self._resume(run, client, thread, None)
            run.asleep_no_more = {one for one in run.asleep_no_more if one[0] != client}
            return
        run.left[kind] -= 1
        if kind == "pauses":
            run.modes[client] = PAUSED
            if client in run.holds:
                run.holds[client].pause = "survives_a_late_freeze" if client in run.writing else "survives_a_freeze"
        else:
            run.modes[client] = DEAD
            run.holds.pop(client, None)
            run.waits.discard(client)

    def _asleep(self, run: Run) -> list[tuple[int, int]]:
        return [
            (client, number)
            for client, replica in enumerate(run.replicas)
            if run.modes[client] != DEAD
            for number, thread in enumerate(replica.threads)
            if isinstance(thread.pending, Nap)
        ]

    def _command(self, run: Run, kind: str, client: int, thread: int) -> None:
        command = run.replicas[client].threads[thread].pending
        own = run.replicas[client].threads[thread].own
        reply: Any = LOST
        if kind != "step":
            name = "lost_replies" if kind.startswith("lost") else kind
            run.left[name] -= 1
        if kind not in ("lost command", "failures"):
            if command.server == LOCK:
                reply = self._at_lock(run, client, command, own)
                if kind == "resends":
                    reply = self._at_lock(run, client, command, own)
            else:
                reply, run.counter = self.redis.execute(run.counter, command.words)
        self._resume(run, client, thread, LOST if kind == "lost reply" else reply)

    def _at_lock(self, run: Run, client: int, command: CommandSent, own: bool) -> bytes:
        """Execute a command at the lock's store, and note what becomes of the lock."""
        if own and client in run.releasing and run.releasing[client] is None:
            run.releasing[client] = run.owner == client
        was, (reply, run.lock) = run.lock, self.redis.execute(run.lock, command.words)
        before, after = (next((ttl_ms for name, _, ttl_ms in keys if name == b"L"), None) for keys in (was, run.lock))
        if before is None and after is not None:
            run.owner, run.since_ms = client, run.now_ms
        elif before is not None and after is None:
            self._freed(run, client)
        elif before is not None and after is not None and after > before and run.owner == client:
            run.since_ms = run.now_ms
            if client in run.holds and not self._why(run, client) and self.lease_ms is not None:
                run.holds[client].until_ms = run.now_ms + self.lease_ms
        return reply

    def _freed(self, run: Run, client: int) -> None:
        owner, run.owner = run.owner, None
        if owner is not None and owner != client and owner in run.holds and not self._why(run, owner):
            claim = "releases_atomically" if run.releasing.get(client) else "releases_only_its_own"
            run.holds[owner].why = claim
            run.broken.add(claim)

    def _pass(self, run: Run, until_ms: int) -> None:
        """Let time pass. Who asks in vain meanwhile, and changes nothing by it, is a part of the same event."""
        while True:
            then_ms = min([until_ms, *self._waits_until(run, Nap)])
            asleep, before = self._asleep(run), run.lock
            run.lock, run.now_ms = later(run.lock, then_ms - run.now_ms), then_ms
            names = {name for name, *_ in run.lock}
            run.owner = run.owner if b"L" in names else None
            expired = {name for name, *_ in before} != names
            if then_ms == until_ms or expired:
                self._settle(run, asleep if before != run.lock else [])
                return
            self._settle(run, asleep if expired else [])
            if not self._ask_in_vain(run):
                return

    def _ask_in_vain(self, run: Run) -> bool:
        """Let all who are awake ask; return whether all of them were refused. Otherwise nobody has asked: it is an event."""
        while able := self._able(run):
            client, thread, operation = able[0]
            if not isinstance(operation, CommandSent) or operation.server != LOCK:
                return False
            reply, after = self.redis.execute(run.lock, operation.words)
            if after != run.lock:
                return False
            self._resume(run, client, thread, reply)
            self._settle(run, [])
        return True

    def _settle(self, run: Run, roused: list[tuple[int, int]]) -> None:
        """Wake the naps that a change of the store ends, and all whose moment has come."""
        for client, thread in roused:
            if run.modes[client] == PAUSED:
                run.asleep_no_more.add((client, thread))
            elif run.modes[client] == RUNS and isinstance(run.replicas[client].threads[thread].pending, Nap):
                self._resume(run, client, thread, None)
        while due := self._due(run):
            self._resume(run, *due, None)

    def _due(self, run: Run) -> tuple[int, int] | None:
        for client, mode in enumerate(run.modes):
            for number, thread in enumerate(run.replicas[client].threads if mode == RUNS else ()):
                one = thread.pending
                if isinstance(one, Nap | Until) and one.at_ms is not None and one.at_ms <= run.now_ms:
                    return client, number
        return None

    def _resume(self, run: Run, client: int, thread: int, result: Any) -> None:
        run.replicas[client].resume([(thread, result, run.now_ms)])
        self._note(run, client)

    # what it breaks

    def _why(self, run: Run, client: int) -> str:
        """Return the claim that a holder breaks which works now; nothing for one that is entitled."""
        hold = run.holds[client]
        if hold.why or hold.until_ms is None or run.now_ms < hold.until_ms:
            return hold.why
        return hold.pause or "held_to_the_end"

    def _note(self, run: Run, client: int) -> None:
        for _, mark in run.replicas[client].marks:
            match mark:
                case Granted(key):
                    self._granted(run, client, key)
                case AboutToWrite():
                    run.writing.add(client)
                case WriteDone(_, lost):
                    self._wrote(run, client, lost)
                case Releasing():
                    run.writing.discard(client)
                    if self._why(run, client) == "held_to_the_end" and not run.writes[client]:
                        run.broken.add("held_to_the_end")
                    run.holds.pop(client, None)
                    run.releasing[client] = None
                case Ended():
                    run.over.add(client)
                    run.waits.discard(client)
                    run.holds.pop(client, None)

    def _granted(self, run: Run, client: int, key: str) -> None:
        run.waits.discard(client)
        if not key or run.owner != client:
            run.holds[client] = Holder(None, "exclusive")
            return
        until_ms = None if self.lease_ms is None else run.since_ms + self.lease_ms
        slow = until_ms is not None and until_ms <= run.now_ms
        if not slow and any(one != client and not self._why(run, one) for one in run.holds):
            run.broken.add("exclusive")
        run.holds[client] = Holder(until_ms, "survives_a_slow_acquire" if slow else "")

    def _wrote(self, run: Run, client: int, lost: int) -> None:
        run.writing.discard(client)
        why = self._why(run, client) if client in run.holds else "exclusive"
        if lost > 0:
            thefts = ("releases_atomically", "releases_only_its_own")
            first = next((one for one in (why, run.last_why) if one and one not in thefts), why or run.last_why)
            run.broken |= {first or "exclusive", LOST_ONE}
        if run.writes[client]:
            run.broken.add("counts_once")
        run.last_why = why
        run.writes[client] += 1

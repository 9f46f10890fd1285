"""Judging a million increments: how long, and in how much memory; and how both grow from a quarter of that.

The histories are made up, but their lines are those a run writes: four an increment over three replicas, stamps a little out
of order, one line a request, and the key events of the lock's store. ``clean`` loses nothing, under a lock; ``lossy`` loses nine
tenths, without one; ``leaky`` loses as much under a lock that lets everybody in, so that the store's events are searched too.
"""

from __future__ import annotations

import dataclasses
import heapq
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec

from app.journal import AnyEvent, Got, Released, Writing, Wrote
from lab.evidence.history import KeyEvent, Outcome, Request
from lab.evidence.inventory import inventory
from lab.evidence.run_folder import RunRecord, save
from lab.experiments.benchmark import Measured, RatioLimit, Unmeasured
from lab.prerequisites import program
from lab.scenario import reader

MILLION = 1_000_000
LONGEST_S, MOST_MIB, MOST_GROWTH = 15.0, 512.0, 5.0
REPLICAS, INSIDE = 3, 96  # requests at once: three replicas of 32 threads
START_NS = 5_000_000_000
KEY = "lab:bench:lock"


def measure(_pairs: int) -> Iterator[Measured]:
    for kind in KINDS:
        quarter_s, _ = judged(kind, MILLION // 4)
        whole_s, peak_mib = judged(kind, MILLION)
        growth = whole_s / quarter_s
        name, what = f"judging {kind}", "a million increments judged"
        yield Measured(name=name, what=what, unit="s", value=whole_s, promise=RatioLimit(at_most=LONGEST_S), samples=[whole_s])
        yield Measured(
            name=name,
            what="peak memory of that",
            unit="MiB",
            value=peak_mib,
            promise=RatioLimit(at_most=MOST_MIB),
            samples=[peak_mib],
        )
        yield Measured(
            name=name,
            what="time, as a multiple of that for a quarter",
            unit="",
            value=growth,
            promise=RatioLimit(at_most=MOST_GROWTH),
            samples=[growth],
        )


def judged(kind: str, increments: int) -> tuple[float, float]:
    """Return seconds and peak MiB of ``lab check`` on a history of this kind, in a process of its
    own. Raises Unmeasured.
    """
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as folder:
        write(Path(folder), kind, increments)
        began_s = time.monotonic()
        with subprocess.Popen([program("lab"), "check", folder, "--json"], stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)  # the usage of this child only; other calls add up all children
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1, 3):  # any verdict is valid for an invented history
            raise Unmeasured(f"lab check ended with {process.returncode} on a {kind} history of {increments} increments")
        return time.monotonic() - began_s, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 2**20


def write(folder: Path, kind: str, increments: int) -> None:
    """Fill a run folder with a history."""
    with ExitStack() as files:
        evidence = Evidence(folder, files, has_store=kind != "lossy")
        final = KINDS[kind](increments, evidence)
        evidence.close()
    rush = dataclasses.replace(reader.load("rush"), requests=increments, ttl_ms=3000 if evidence.key else None)
    stage = {"name": kind, "store": "redis" if evidence.key else None, "claims": ["exclusive"] if kind == "clean" else []}
    about = dataclasses.asdict(rush) | {"tests": rush.tests.name}
    record = RunRecord(
        run=folder.name, scenario=about, stage=stage, command="lab bench judging", commit="", started_utc="", final=final
    )
    record.files = inventory(folder)
    save(folder / "run.json", record)


class Evidence:
    """A run folder's files, and functions that write as a run does."""

    def __init__(self, folder: Path, files: ExitStack, has_store: bool) -> None:
        (folder / "journal").mkdir()
        self.key = KEY if has_store else ""
        self._names = [f"replica-{number}" for number in range(1, REPLICAS + 1)]
        self._journals = [files.enter_context((folder / "journal" / f"{name}.jsonl").open("wb")) for name in self._names]
        self._requests = files.enter_context((folder / "requests.jsonl").open("wb"))
        self._server = files.enter_context((folder / "server.jsonl").open("wb"))
        self._encode = msgspec.json.Encoder().encode
        self._reported: list[KeyEvent] = []

    def journal(self, number: int, event: AnyEvent) -> None:
        """Write an event to the journal of the replica that serves this request."""
        self._journals[number % REPLICAS].write(self._encode(event) + b"\n")

    def key_events(self, at_ns: int, *events: str) -> None:
        """Keep key events of the lock's store, if there is a store."""
        self._reported += [KeyEvent(at_ns, event, self.key) for event in events if self.key]

    def close(self) -> None:
        """Write the key events in the order in which a store reports them."""
        for event in sorted(self._reported, key=lambda event: event.at_ns):
            self._server.write(self._encode(event) + b"\n")

    def answered(self, number: int, start_ns: int, end_ns: int, value: int) -> None:
        """Write a line of the load's record."""
        times, replica = (start_ns, start_ns, end_ns), self._names[number % REPLICAS]
        request = Request(f"r{number}", *times, Outcome.ACKNOWLEDGED, 200, replica, value)
        self._requests.write(self._encode(request) + b"\n")


def one_by_one(increments: int, evidence: Evidence) -> int:
    """Write a history under a sound lock with all clients waiting. Return the counter's final value."""
    chance = random.Random(1)  # noqa: S311 - reproducible histories, no secret
    free_ns = START_NS
    for number in range(increments):
        start_ns = max(START_NS, free_ns - INSIDE * 300_000) - chance.randrange(100_000)
        got_ns = free_ns + 2_000
        read_ns = got_ns + chance.randrange(100_000, 150_000)
        wrote_ns = read_ns + chance.randrange(100_000, 150_000)
        free_ns = wrote_ns + 50_000
        released_ns = free_ns + 5_000  # the answer arrives when the next holder has the lock already
        request = f"r{number}"
        evidence.key_events(got_ns, "set", "expire")
        evidence.journal(number, Got(request=request, key=evidence.key, asked_ns=start_ns, got_ns=got_ns, commands=1))
        evidence.journal(
            number, Writing(request=request, reading_ns=got_ns + 9_000, read_ns=read_ns, read=number, value=number + 1)
        )
        evidence.journal(number, Wrote(request=request, wrote_ns=wrote_ns, value=number + 1, overwrote=number))
        evidence.journal(
            number, Released(request=request, releasing_ns=wrote_ns + 9_000, released_ns=released_ns, result="ok", commands=1)
        )
        evidence.key_events(free_ns, "del")
        evidence.answered(number, start_ns, released_ns, number + 1)
    return increments


def all_at_once(increments: int, evidence: Evidence) -> int:
    """Write a history without a lock, with INSIDE requests at a time. Return the counter's final value."""
    chance = random.Random(1)  # noqa: S311 - as above
    counter = [0]
    first = min(INSIDE, increments)
    rest = iter(range(first, increments))
    due = [(START_NS + number, number, _request(number, START_NS + number, counter, evidence, chance)) for number in range(first)]
    while due:
        now_ns, number, request = due[0]
        if (next_ns := next(request, None)) is not None:
            heapq.heapreplace(due, (next_ns, number, request))
        elif (number := next(rest, -1)) >= 0:
            heapq.heapreplace(due, (now_ns, number, _request(number, now_ns, counter, evidence, chance)))
        else:
            heapq.heappop(due)
    return counter[0]


def _request(number: int, start_ns: int, counter: list[int], evidence: Evidence, chance: random.Random) -> Iterator[int]:
    """Write one request among others, and yield the moments at which it wants to continue.

    A time stamp is a little later than its event, so the lines of a journal are not quite in the
    order of their stamps.
    """

    def after(moment_ns: int, typical_us: int) -> int:
        return moment_ns + int(chance.expovariate(1 / typical_us) * 1000)

    request, commands = f"r{number}", 1 if evidence.key else 0
    yield (asked_ns := after(start_ns, 20_000))
    got_ns = asked_ns + 9_000
    evidence.key_events(got_ns, "set", "expire", *(["expired"] if number % 100 == 0 else []))
    evidence.journal(number, Got(request=request, key=evidence.key, asked_ns=asked_ns, got_ns=got_ns, commands=commands))
    yield (at_ns := after(got_ns, 6_000))
    read, read_ns = counter[0], after(at_ns, 100)
    evidence.journal(number, Writing(request=request, reading_ns=at_ns, read_ns=read_ns, read=read, value=read + 1))
    yield (at_ns := after(read_ns, 5_000))
    overwrote, counter[0] = counter[0], read + 1
    wrote_ns = after(at_ns, 100)
    releasing_ns, released_ns = wrote_ns + 9_000, wrote_ns + 20_000
    evidence.journal(number, Wrote(request=request, wrote_ns=wrote_ns, value=read + 1, overwrote=overwrote))
    evidence.journal(
        number, Released(request=request, releasing_ns=releasing_ns, released_ns=released_ns, result="ok", commands=commands)
    )
    evidence.key_events(released_ns, "del")
    yield released_ns
    evidence.answered(number, start_ns, released_ns + 1_000_000, read + 1)


KINDS = {"clean": one_by_one, "lossy": all_at_once, "leaky": all_at_once}

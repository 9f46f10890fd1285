"""What ``lab explore`` costs: the seconds for a stage with all its faults, the memory, and the time of one schedule.

The time of a schedule is measured with clients that race for a counter: by the explorer, with each schedule by itself, and by
frontrun.

frontrun explores three threads of one process, on a counter in its memory: 90 schedules of the same race. It is not a dependency
of the lab. Where the program is missing, the comparison is left out, and a remark states it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from app.locks import stages
from lab.errors import ExitStatus
from lab.experiments.benchmark import Measured, RatioLimit, Unmeasured, pairwise, ratio
from lab.explore.code.program import Task
from lab.explore.decision import Explorer
from lab.explore.search.budget import NONE
from lab.explore.search.replay import walk_live
from lab.explore.search.search import random_schedules, search
from lab.explore.search.world import World
from lab.explore.store.real_redis import RealRedis
from lab.report.statistics import mean
from lab.servers import process
from lab.servers.programs.redis import RedisServer
from lab.servers.supervisor import Supervisor

ANSWERS, ANSWERS_WITHIN_S = "uuid", 2.0
HEAVIEST, MOST_MIB = "pubsub", 300.0  # the stage whose searches have most states
CLIENTS, SCHEDULES = 4, 2520
THREADS = 3  # of frontrun: with four it takes minutes
ONE_BY_ONE = 20  # schedules that are run by themselves
TTL_MS, UNTIL_MS, WITHIN_S = 3000, 7000, 60.0
RACE = f"""
import time
from frontrun import explore
class Counter:
    value = 0
def add(counter):
    value = counter.value
    counter.value = value + 1
began_s = time.monotonic()
found = explore(Counter, [add] * {THREADS}, lambda counter: True, stop_on_first=False, preemption_bound=None)
print(found.num_explored, time.monotonic() - began_s)
"""


def measure(pairs: int) -> Iterator[Measured]:
    """Measure the seconds of a decision, its memory, and the seconds for a schedule as ratios."""
    samples = [_explored(ANSWERS)[0] for _ in range(pairs)]
    value, low, high = mean(samples)
    what, promise = f"processor time of `lab explore {ANSWERS}`, {pairs} times", RatioLimit(at_most=ANSWERS_WITHIN_S)
    yield Measured(
        name="explorer seconds", what=what, unit="s", value=value, low=low, high=high, promise=promise, samples=samples
    )
    _, most = _explored(HEAVIEST)
    what, promise = f"memory of `lab explore {HEAVIEST}` at its highest", RatioLimit(at_most=MOST_MIB)
    yield Measured(name="explorer memory", what=what, unit="MiB", value=most, promise=promise, samples=[most])
    yield from _per_schedule(pairs)


def _explored(stage: str) -> tuple[float, float]:
    """Return the seconds of processor time of ``lab explore``, and its memory in MiB at its highest. Raises Unmeasured."""
    command = [sys.executable, "-m", "lab.cli", "explore", stage, "--json", "--budget", "600"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None  # noqa: S101 - a pipe was asked for
    words = running.stderr.read()
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in (ExitStatus.GOOD, ExitStatus.BROKEN):
        raise Unmeasured(f"lab explore {stage} ended with {running.returncode}: {words[-200:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _per_schedule(pairs: int) -> Iterator[Measured]:
    supervisor, rival = Supervisor(), shutil.which("frontrun")
    try:
        with tempfile.TemporaryDirectory(prefix="lab-bench-") as folder:
            running = process.start(RedisServer("explored-redis"), supervisor, Path(folder)).wait()
            real = RealRedis(running.host, running.port)
            _all_s(real)  # warm
            both = list(pairwise(pairs, lambda: _alone_s(real), lambda: _all_s(real)))
            remark = "" if rival else "frontrun is not installed, so it is not compared"
            yield _ratio("each schedule by itself", 10, both, remark)
            if rival:
                yield _ratio("frontrun", 2, list(pairwise(pairs, lambda: _frontrun_s(rival), lambda: _all_s(real))))
            real.close()
    finally:
        supervisor.close()


def _ratio(other: str, at_least: float, both: list[tuple[float, float]], remark: str = "") -> Measured:
    ratios = [theirs / ours for theirs, ours in both]
    what = f"time of {other} for a schedule, as a multiple of the explorer's, {len(ratios)} pairs"
    return ratio(f"explorer against {other}", what, RatioLimit(at_least=at_least), ratios, remark)


def _world(real: RealRedis) -> World:
    return Explorer(stages()["none"], real).world(Task(TTL_MS), CLIENTS)


def _all_s(real: RealRedis) -> float:
    """Return seconds for a schedule, when the explorer decides all of them from the start."""
    began_s = time.monotonic()
    world = _world(real)
    found = search(world, NONE, UNTIL_MS, began_s + WITHIN_S, fold=True)
    world.close()
    if found.schedules != SCHEDULES:
        raise Unmeasured(f"the explorer found {found.schedules} schedules, and there are {SCHEDULES}")
    return (time.monotonic() - began_s) / SCHEDULES


def _alone_s(real: RealRedis) -> float:
    """Return seconds for a schedule that is run by itself, from an empty server."""
    world = _world(real)
    schedules = random_schedules(world, NONE, UNTIL_MS, ONE_BY_ONE, 1)
    began_s = time.monotonic()
    for events in schedules:
        walk_live(world, events, UNTIL_MS)
    world.close()
    return (time.monotonic() - began_s) / ONE_BY_ONE


def _frontrun_s(program: str) -> float:
    """Return seconds for a schedule of frontrun. Raises Unmeasured."""
    python = Path(program).with_name("python")
    command = [program, str(python if python.exists() else sys.executable), "-c", RACE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise Unmeasured(f"frontrun ended with {done.returncode}: {done.stderr[-200:]}")
    number, seconds = done.stdout.split()[-2:]
    return float(seconds) / int(number)

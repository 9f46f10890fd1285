"""Runs in other processes: many, several at a time, or one command of the lab as a user would start it.

A process makes one run after another, because it then imports the modules of a run only once.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lab.errors import NothingShown, in_short
from lab.interrupts import PARENT, end_with_lab, ignore_signals
from lab.judge.judgement import Judgement
from lab.paths import INSTALLED
from lab.pipeline import finish, fitted, make_run
from lab.scenario.options import flags
from lab.servers.supervisor import one_supervisor

Task = TypeVar("Task")
Result = TypeVar("Result")
SLOWEST_S = 180
SPAWN = multiprocessing.get_context("spawn")
# -P: a folder `app` or `lab` in the user's folder is not ours; a clone may be found by the folder alone
LAB = [sys.executable, *(["-P"] if INSTALLED else []), "-m", "lab"]


def in_parallel(make: Callable[..., Result], tasks: Sequence[tuple[Task, Any]], jobs: int) -> Iterator[tuple[Task, Result]]:
    """Call ``make`` with the argument beside each task, in ``jobs`` processes. Yield each task as it is done, with the result.

    After an interrupt, runs in progress end as interrupted ones do, and no other begins.
    """
    stop = SPAWN.Event()
    with processes(jobs, stop) as pool:
        running = {pool.submit(make, *about): task for task, about in tasks}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BaseException:
            stop.set()
            for process in multiprocessing.active_children():
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def processes(jobs: int, stop: Event) -> Executor:
    """Return a pool of processes that make runs until the event is set."""
    return ProcessPoolExecutor(jobs, SPAWN, _begin, (stop, os.getpid()))


_stop: list[Event] = []  # in a process that makes runs: set after an interrupt


def _begin(stop: Event, parent: int) -> None:
    """Prepare a process for its runs: it ends with the lab that started it, and its servers have one supervisor."""
    os.environ[PARENT] = str(parent)
    end_with_lab()
    os.setsid()  # Ctrl-C reaches only the lab, which then interrupts each run once
    ignore_signals()
    _stop.append(stop)
    supervisor = contextlib.ExitStack()
    supervisor.enter_context(one_supervisor())
    atexit.register(supervisor.close)


def make(scenario: str, stage: str, given: Mapping[str, Any], draw: bool, expected: str, reports: Path) -> Judgement:
    """Make a run in this process, as ``lab run`` does, and print nothing. Raises NothingShown if there is no verdict.

    draw: draw the run; one whose verdict is not the expected one is drawn in any case. expected: empty if nothing is.
    """
    if _stop and _stop[-1].is_set():
        raise NothingShown("the round was interrupted before the run began")
    words = ["lab", "run", scenario, "--stage", stage, *flags(given)]
    late = threading.Timer(SLOWEST_S, os.kill, (os.getpid(), signal.SIGTERM))
    late.start()
    try:
        done = make_run(*fitted(scenario, stage, given), shlex.join(words), reports=reports)
        finish(done, draw or expected not in ("", done.judgement.verdict), is_listed=False)
    except Exception as error:
        raise NothingShown(f"{shlex.join(words)} ended without a verdict: {in_short(error)}") from error
    except KeyboardInterrupt as interrupt:
        raise NothingShown(f"{shlex.join(words)} was interrupted, or took longer than {SLOWEST_S} s") from interrupt
    finally:
        late.cancel()
    return done.judgement


def child_run(words: Sequence[str], cwd: Path) -> Judgement:
    """Make a run with these arguments of ``lab run`` in another process, and return its verdict. Raises NothingShown."""
    status, out, err = child_command(["run", *words, "--json"], cwd)
    if not out.startswith("{"):
        raise NothingShown(f"lab run {' '.join(words)} ended with status {status}: {err.strip()[-500:]}")
    return msgspec.json.decode(out, type=Judgement)


def child_command(words: Sequence[str], cwd: Path, within_s: float = SLOWEST_S) -> tuple[int, str, str]:
    """Execute a command line of the lab in another process. Return its exit status, output and errors.

    cwd: the folder that holds ``reports``. within_s: how long it may take. Raises NothingShown if it takes longer.
    """
    env = os.environ | {PARENT: str(os.getpid())}
    try:
        done = subprocess.run([*LAB, *words], cwd=cwd, env=env, capture_output=True, text=True, timeout=within_s, check=False)
    except subprocess.TimeoutExpired:
        raise NothingShown(f"lab {' '.join(words)} was ended: it took longer than {within_s} s") from None
    return done.returncode, done.stdout, done.stderr

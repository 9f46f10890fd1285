"""One ``lab run --json`` in another process, as a user would start it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

import msgspec

from lab.errors import ExitStatus, NothingShown
from lab.interrupts import PARENT
from lab.judge.judgement import Judgement
from lab.paths import INSTALLED

SLOWEST_S = 180
RUNS_OF_A_WORKER = 50  # then another worker takes over: what a long process collects must not matter
# -P: a folder `app` or `lab` in the user's folder is not ours; a clone may be found by the folder alone
LAB = [sys.executable, *(["-P"] if INSTALLED else []), "-m", "lab.cli"]
# made before there are threads: msgspec ends the interpreter where two threads are the first to decode a type, both at once
JUDGEMENT = msgspec.json.Decoder(Judgement)


class Worker:
    """A process that makes one run after another (``lab worker``)."""

    def __init__(self) -> None:
        self.left = RUNS_OF_A_WORKER
        self._is_busy = False
        self._process = subprocess.Popen(
            [*LAB, "worker"],
            text=True,
            env=os.environ | {PARENT: str(os.getpid())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches only this process, which then interrupts its workers once
        )

    def execute(self, words: Sequence[str], cwd: Path, within_s: float = SLOWEST_S) -> tuple[int, str, str]:
        """Execute a command line of the lab in a folder. Return its exit status, output and errors. Raises NothingShown."""
        self.left, self._is_busy = self.left - 1, True
        late = threading.Timer(within_s, self._process.kill)
        late.start()
        try:
            lines, answers = cast(IO[str], self._process.stdin), cast(IO[str], self._process.stdout)
            lines.write(json.dumps({"words": list(words), "cwd": str(cwd.resolve())}) + "\n")
            lines.flush()
            answer = json.loads(answers.readline())
        except (OSError, ValueError):
            raise NothingShown(
                f"lab {' '.join(words)} was ended: it took longer than {within_s} s, or its process was killed"
            ) from None
        finally:
            late.cancel()
        self._is_busy = False
        return answer["status"], answer["out"], answer["err"]

    def interrupt(self) -> None:
        """Let the run in progress end as interrupted, if there is one: its record is kept."""
        if self._is_busy:
            self._process.terminate()

    def close(self) -> None:
        """End the process."""
        self.interrupt()
        with contextlib.suppress(OSError):
            cast(IO[str], self._process.stdin).close()
        cast(IO[str], self._process.stdout).close()
        self._process.wait()


class WarmRuns:
    """Workers, of which each thread that makes runs takes one that has nothing to do."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._one_at_a_time = threading.Lock()

    def execute(self, words: Sequence[str], cwd: Path, within_s: float = SLOWEST_S) -> tuple[int, str, str]:
        """Execute a command line of the lab in a folder. Return its exit status, output and errors. Raises NothingShown."""
        worker = self._take()
        try:
            done = worker.execute(words, cwd, within_s)
        except BaseException:
            worker.close()
            raise
        finally:
            self._busy.remove(worker)
        if worker.left and done[0] != ExitStatus.INTERRUPTED:  # an interrupt ends a worker
            self._idle.append(worker)
        else:
            worker.close()
        return done

    def _take(self) -> Worker:
        """Return an idle worker; a new one where none is idle."""
        with self._one_at_a_time:
            worker = self._idle.pop() if self._idle else Worker()
            self._busy.add(worker)
            return worker

    def interrupt(self) -> None:
        """Let all runs in progress end as interrupted."""
        for worker in [*self._busy]:
            worker.interrupt()

    def close(self) -> None:
        """End the workers."""
        while self._idle:
            self._idle.pop().close()


_warm: list[WarmRuns] = []  # empty where each run has a process of its own


@contextlib.contextmanager
def warm_runs() -> Iterator[None]:
    """While the block runs, let workers make the runs. A worker imports what a run needs only once."""
    _warm.append(WarmRuns())
    try:
        yield
    finally:
        _warm.pop().close()


def interrupt_runs() -> None:
    """Let the runs of all workers end as interrupted."""
    for one in _warm:
        one.interrupt()


def child_run(words: Sequence[str], cwd: Path | None = None) -> Judgement:
    """Make a run with these arguments of ``lab run``, and return its verdict.

    cwd: the folder that holds ``reports``; the current one by default. Raises NothingShown.
    """
    status, out, err = child_command(["run", *words, "--json"], cwd)
    if not out.startswith("{"):
        raise NothingShown(f"lab run {' '.join(words)} ended with status {status}: {err.strip()[-500:]}")
    return JUDGEMENT.decode(out)


def child_command(words: Sequence[str], cwd: Path | None = None, within_s: float = SLOWEST_S) -> tuple[int, str, str]:
    """Execute a command line of the lab in another process. Return its exit status, output and errors.

    within_s: how long it may take. Raises NothingShown if it takes longer.
    """
    with contextlib.ExitStack() as alone:
        workers = _warm[0] if _warm else alone.enter_context(contextlib.closing(WarmRuns()))
        return workers.execute(words, cwd or Path(), within_s)

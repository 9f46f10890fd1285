"""Run the ``lab`` command as a user does, in a folder of the test's own."""

import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from lab.commands.exit_status import status_of
from lab.errors import ExitStatus
from lab.experiments.runs import SPAWN, processes
from lab.judge.fact import Code
from lab.scenario.options import flags

LAB = Path(sys.executable).with_name("lab")
PATIENCE_S = 300  # only a command that hangs takes this long, however busy the machine is
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup the lab ignores SIGHUP, and so would each lab that a test starts


@dataclass(frozen=True)
class Done:
    """The result of a command: its exit status, output, errors and run folder."""

    status: int
    out: str
    err: str
    folder: Path

    @property
    def verdict(self) -> dict[str, Any]:
        assert (self.folder / "verdict.json").exists(), f"no verdict; status {self.status}:\n{self.err}"
        return json.loads((self.folder / "verdict.json").read_text(encoding="utf-8"))


def wait_for(what: Callable[[], Any], within_s: float = PATIENCE_S) -> Any:
    """Poll a function until its result is true, and return the result. Raises AssertionError if it stays false."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError(f"did not come within {within_s} s")


def listens(port: int) -> bool:
    """Return whether a process listens on a port."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def lab(*words: str, cwd: Path, timeout_s: float = PATIENCE_S, env: dict[str, str] | None = None) -> Done:
    """Run a command of the lab to its end. env: variables in addition to the environment of this process."""
    about: dict[str, Any] = {"cwd": cwd, "timeout": timeout_s, "env": {**os.environ, **(env or {})}}
    done = subprocess.run([LAB, *map(str, words)], capture_output=True, text=True, check=False, **about)
    return Done(done.returncode, done.stdout, done.stderr, (cwd / "reports" / "runs" / "latest").resolve())


def warm(*words: str | Path, cwd: Path) -> Done:
    """Run a command as ``lab`` does, in a process that has its modules already: for a test that needs no new process."""
    done = WARM.submit(_execute, [*map(str, words)], cwd).result()
    return Done(*done, (cwd / "reports" / "runs" / "latest").resolve())


def _execute(words: list[str], cwd: Path) -> tuple[int, str, str]:
    from lab.cli import lab as command

    os.chdir(cwd)
    sys.argv[1:] = words
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = status_of(command, words)
    return int(status), out.getvalue(), err.getvalue()


def run(scenario: str | Path, stage: str, cwd: Path, *, draw: bool = False, **options: Any) -> Done:
    """Run ``lab run SCENARIO --stage STAGE --json …``. draw: draw its pictures as well.

    A worker process makes the run. A run that proves nothing is made once more.
    """
    words = ("run", scenario, "--stage", stage, "--json", *flags(options), *([] if draw else ["--no-draw"]))
    done = warm(*words, cwd=cwd)
    if _shows_something(done):
        return done
    AGAIN.append(f"{scenario} on {stage}")
    return warm(*words, cwd=cwd)


def _shows_something(done: Done) -> bool:
    """Return whether a run is evidence, or failed. A busy machine can keep a run from its danger: that proves nothing."""
    path = done.folder / "verdict.json"
    why = json.loads(path.read_text(encoding="utf-8"))["why"] if done.status == ExitStatus.NOTHING_SHOWN and path.exists() else []
    return not {one["code"] for one in why} & {code.value for code in NO_EVIDENCE}


NO_EVIDENCE = (Code.DANGER_NOT_REACHED, Code.STALLED)  # a run with another reason is never made again
AGAIN: list[str] = []  # runs that were made again; tests/conftest.py prints them
WARM = processes(4, SPAWN.Event())


class Started:
    """A lab in a process group of its own."""

    def __init__(self, cwd: Path, *words: str) -> None:
        self.cwd = cwd
        self.process = subprocess.Popen(
            [LAB, *words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def descendants(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def requests_done(self) -> int:
        return sum(path.read_bytes().count(b"\n") for path in self.cwd.glob("reports/runs/.*.part/requests.jsonl"))

    def named(self, name: str) -> list[psutil.Process]:
        found = []
        for process in self.descendants():
            with contextlib.suppress(psutil.Error):  # it may be gone by now
                found += [process] if name in " ".join(process.cmdline()) else []
        return found

    def end(self) -> Done:
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return Done(self.process.returncode, out, err, (self.cwd / "reports" / "runs" / "latest").resolve())


def gone(processes: list[psutil.Process]) -> bool:
    """Return True when all processes have ended: the supervisor ends them, however long a busy machine takes."""
    return bool(wait_for(lambda: not any(map(runs, processes))))


def runs(process: psutil.Process) -> bool:
    """Return whether a process runs. A zombie does not: it has ended, but its parent has not read its status yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def left(folder: Path) -> list[psutil.Process]:
    """Return the processes that run in a folder or name it."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            about = (process.cwd(), *process.cmdline())
            found += [process] if runs(process) and any(str(folder) in word for word in about) else []
    return found


def assert_counts_agree(folder: Path) -> None:
    """Check that both ways of counting agree, and that each lost increment has the write that destroyed it."""
    verdict = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    losses = [json.loads(line) for line in (folder / "losses.jsonl").read_text(encoding="utf-8").splitlines()]

    assert verdict["lost"] == verdict["writes"] - verdict["final"]
    assert verdict["lost"] == sum(loss["destroyed"] for loss in losses)
    assert all(loss["culprit"]["request"] for loss in losses)

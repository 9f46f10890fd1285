"""Whatever is ended at a random moment, no process and no port is left, and no folder that looks complete and is not.

An ordinary run has an interrupt: ``test_interrupts.py`` kills the lab, the supervisor and both, with a replica that was stopped.
``make trial`` ends ten runs in each way. ``test_side_by_side.py`` kills a hundred.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.command import Done, Started, gone, runs, wait_for
from tests.sampled import sampled

KINDS = ("an interrupt", "a kill of the lab", "a kill of the supervisor", "a kill of both")
LATEST_S = 6.0  # on an idle machine, the shorter of the two runs is over by then
SUPERVISOR = "supervisor_process.py"


class Ended:
    """A run that something ended at a random moment."""

    def __init__(self, folder: Path, kind: str, seed: int) -> None:
        chance = random.Random(f"{kind} {seed}")
        stage, requests = chance.choice(["lua", "lua", "mysql_for_update", "redlock"]), chance.choice(["300", "100000"])
        processes = chance.choice(["1", "1", "2"])
        self.words = ("run", "rush", "--stage", stage, "--requests", requests, "--processes", processes)
        self.one = Started(folder, *self.words)
        wait_for(lambda: self.one.named(SUPERVISOR) or self.one.process.poll() is not None)
        self.moment_s = chance.uniform(0, LATEST_S)
        with contextlib.suppress(psutil.TimeoutExpired):
            psutil.Process(self.one.process.pid).wait(self.moment_s)
        self.family = self.one.descendants()
        self.ports = listened_to(self.family)
        supervisors = self.one.named(SUPERVISOR)
        self.sent = [*([self.one.process] if kind != KINDS[2] else []), *(supervisors if kind in KINDS[2:] else [])]
        chance.shuffle(self.sent)
        number = chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]) if kind == KINDS[0] else signal.SIGKILL
        for process in self.sent:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        self.signalled_s = time.monotonic()
        self.done: Done = self.one.end()
        self.took_s = time.monotonic() - self.signalled_s


# a command that starts labs of its own; test_explore_command.py ends searches
OF_MANY = ("test", "lua", "--scenario", "rush", "--requests", "20000", "--budget", "2", "--no-draw")


def listened_to(family: list[psutil.Process]) -> set[int]:
    """Return the ports on which processes listen."""
    pids = {process.pid for process in family}
    found = psutil.net_connections("inet")
    return {one.laddr.port for one in found if one.pid in pids and one.status == psutil.CONN_LISTEN}


def left(folder: Path) -> list[psutil.Process]:
    """Return the processes that run in a folder or name it."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            about = (process.cwd(), *process.cmdline())
            found += [process] if runs(process) and any(str(folder) in word for word in about) else []
    return found


@pytest.fixture
def ended(tmp_path, kind, seed) -> Iterator[Ended]:
    one = Ended(tmp_path, kind, seed)
    yield one
    for process in left(tmp_path):
        process.kill()


@pytest.mark.parametrize(("kind", "seed"), sampled([(kind, seed) for kind in KINDS for seed in range(10)], [(KINDS[0], 0)]))
def test_nothing_is_left(ended, tmp_path, kind, seed):
    """After an ending at a random moment nothing is left, and what is kept states how it ended."""
    assert gone(ended.family)
    assert wait_for(lambda: not left(tmp_path), within_s=5)
    assert not ended.ports & listened_to(list(psutil.process_iter()))
    assert "Traceback" not in ended.done.err
    complete = list(tmp_path.glob("reports/runs/2*"))
    for folder in complete:
        assert (folder / "verdict.json").exists()
    if kind in (KINDS[0], KINDS[2]) and ended.sent:
        assert ended.done.status in (130, 0, 3), ended.done.err  # 0 or 3: it was over, or nearly so
        if ended.done.status == 130:
            assert not list(tmp_path.glob("reports/runs/.*.part"))
            ends = [json.loads((folder / "run.json").read_text(encoding="utf-8"))["ended"] for folder in complete]
            assert set(ends) <= {"complete", "interrupted", "unsupervised"}


@pytest.mark.parametrize("seed", sampled(range(5), [0]))
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_ended_command_leaves_no_process(tmp_path, number, seed):
    """After a signal to a command, at a random moment, nothing of it is left, though its runs would go on for long."""
    one = Started(tmp_path, *OF_MANY)
    wait_for(lambda: one.named("spawn_main"))
    with contextlib.suppress(psutil.TimeoutExpired):
        psutil.Process(one.process.pid).wait(random.Random(seed).uniform(0, LATEST_S))
    family = one.descendants()
    try:
        one.process.send_signal(number)
        wait_for(lambda: not any(map(runs, family)) and not left(tmp_path), within_s=10)
    finally:
        for process in [*family, *left(tmp_path)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        one.process.communicate()

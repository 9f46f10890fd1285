"""However a run ends, no process outlives it, no result is lost, and its folder states how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lab.paths import HOME
from lab.servers import ports
from tests.command import Started, gone, left, runs, wait_for, warm
from tests.sampled import sampled


@pytest.fixture
def started(request, tmp_path) -> Iterator[Started]:
    """Yield a long run, of the stage in the test's parameter or of lua. `test_side_by_side.py` ends runs at any moment."""
    stage = getattr(request, "param", "lua")
    one = Started(tmp_path, "run", "rush", "--stage", stage, "--requests", "100000", "--rate", "50", "--no-draw")
    wait_for(lambda: one.requests_done() > 50)
    yield one
    with contextlib.suppress(ProcessLookupError):
        os.killpg(one.process.pid, signal.SIGKILL)
    one.process.communicate()


def lua_and(folder, does) -> Path:
    """Write a stage that does something when a replica imports it, and return its path."""
    stage = folder / "own.py"
    text = (HOME / "app" / "locks" / "lua.py").read_text(encoding="utf-8")
    stage.write_text(f"{text}\nimport os\nif os.environ.get('LAB_REPLICA'):\n    {does}\n", encoding="utf-8")
    return stage


def test_interrupt_keeps_the_partial_run(started):
    """Servers listen on loopback alone, and never on a usual port; `lab clean` does not remove a run in progress.

    An interrupt stops every process, and the partial run is kept and marked.
    """
    family = started.descendants()
    assert len(family) >= 10  # supervisor, two Redis, three masters and workers, nginx, locust
    pids = {process.pid for process in family}
    listening = [one for one in psutil.net_connections("inet") if one.pid in pids and one.status == psutil.CONN_LISTEN]
    assert {one.laddr.ip for one in listening} == {"127.0.0.1"}
    assert not {one.laddr.port for one in listening} & {80, 6379, 5557, 8089}
    warm("clean", "--keep", "0", cwd=started.cwd)
    assert len(list(started.cwd.glob("reports/runs/.*.part"))) == 1

    started.process.send_signal(signal.SIGINT)
    done = started.end()  # before the requests that are left could be sent

    assert done.status == 130
    assert gone(family)
    assert done.verdict["verdict"] == "VOID"
    assert json.loads((done.folder / "run.json").read_text(encoding="utf-8"))["ended"] == "interrupted"
    assert done.verdict["requests"] > 50


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_late_signal_changes_no_status(number):
    """A signal that comes after the work, while Python itself ends, leaves the exit status as it was."""
    late = f"import atexit, os, sys; atexit.register(os.kill, os.getpid(), {int(number)}); sys.argv = ['lab', '--help']"

    done = subprocess.run([sys.executable, "-c", f"{late}; from lab.cli import main; main()"], capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


def test_interrupt_at_start_leaves_nothing(tmp_path):
    """An interrupt while the servers start leaves no process and no folder."""
    one = Started(tmp_path, "run", "rush", "--stage", str(lua_and(tmp_path, "import time; time.sleep(60)")))
    family = wait_for(lambda: one.named("redis-server 127.0.0.1") and one.descendants())

    one.process.send_signal(signal.SIGINT)

    assert one.end().status == 130
    assert gone(family)
    assert list(tmp_path.glob("reports/runs/*")) == []


@pytest.mark.parametrize("whole_group", sampled([False, True], [False]))
def test_killed_lab_leaves_no_process(started, whole_group):
    """After a kill of the lab no process is left, even if a replica was stopped."""
    family = started.descendants()
    stopped = started.named("gunicorn")[-1]
    stopped.suspend()

    (os.killpg if whole_group else os.kill)(started.process.pid, signal.SIGKILL)

    assert gone(family)
    assert not list(started.cwd.glob("reports/runs/2*"))  # no incomplete run has a final name
    left = list(started.cwd.glob("reports/runs/.*.part"))
    assert len(left) == 1
    assert "removed 1" in warm("clean", cwd=started.cwd).out
    assert not left[0].exists()


def test_killed_supervisor_ends_the_run(started):
    """After a kill of the supervisor the lab ends all servers, also a stopped replica, and keeps the partial run."""
    family = started.descendants()
    started.named("gunicorn")[-1].suspend()

    (supervisor,) = started.named("supervisor_process.py")
    supervisor.kill()
    done = started.end()

    assert done.status == 130
    assert gone(family)
    assert (done.verdict["verdict"], done.verdict["why"][0]["name"]) == ("VOID", "unsupervised")


@pytest.mark.parametrize(
    ("name", "started"),
    sampled(
        [
            ("lock-redis", "lua"),
            ("nginx", "lua"),
            ("replica-2", "lua"),
            ("counter-redis", "etcd"),
            ("mariadb", "mysql_for_update"),
        ],
        ["counter-redis", "replica-2"],
    ),
    indirect=["started"],
)
def test_dead_server_ends_the_run(started, name):
    """A server that dies during a run ends it with a clear message, and the verdict is VOID."""
    ours = [one for one in started.descendants() if any(f"/{name}/" in f"{word}/" for word in (one.cwd(), *one.cmdline()))]
    master = min(ours, key=lambda process: process.create_time())

    master.kill()
    done = started.end()

    assert done.status == 3
    assert done.verdict["verdict"] == "VOID"
    assert f"lost a server in the middle of the run: {name}" in " ".join(done.out.lower().split()), done.out


def test_replica_that_does_not_start(tmp_path):
    """A replica that does not start is reported with the last lines of its log."""
    stage = lua_and(tmp_path, "raise RuntimeError('no coffee')")

    done = warm("run", "rush", "--stage", stage, cwd=tmp_path)

    assert done.status == 4
    assert "no coffee" in done.err
    assert "Traceback" not in done.err.partition("no coffee")[2]
    (kept,) = (tmp_path / "reports" / "runs").iterdir()
    assert str(kept.relative_to(tmp_path)) in done.err
    assert "no coffee" in (kept / "logs" / "replica-1" / "log").read_text(encoding="utf-8")
    assert "removed 1" in warm("clean", cwd=tmp_path).out
    assert not kept.exists()


def test_up_serves_until_an_interrupt(tmp_path):
    """`lab up` serves at the given port until an interrupt, and refuses the pages of other sites."""
    address = f"http://127.0.0.1:{ports.free_port(page=True)}"
    one = Started(tmp_path, "up", "--stage", "lua", "--port", address.rpartition(":")[2])
    assert one.process.stdout.readline().split()[0] == address

    def post(**headers: str) -> dict:
        return json.load(urllib.request.urlopen(urllib.request.Request(f"{address}/increment", method="POST", headers=headers)))

    for foreign in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            post(**foreign)
    own = f"localhost:{address.rpartition(':')[2]}"
    assert [post()["stage"], post(Host=own, Origin=f"http://{own}")["value"]] == ["lua", 2]
    family = one.descendants()
    one.process.send_signal(signal.SIGINT)
    done = one.end()
    assert done.status == 0
    assert "nothing is left running" in done.err
    assert gone(family)


@pytest.mark.parametrize(
    ("name", "status", "says", "kept"),
    [
        ("supervisor_process.py", 130, "interrupted: .* was killed, .*", 0),
        ("nginx", 4, ".*nginx; the end of its log.*", 1),
    ],
)
def test_killed_process_ends_up(tmp_path, name, status, says, kept):
    """A kill of the supervisor or of a server under `lab up` ends all, with the reason; the log of a server is kept."""
    one = Started(tmp_path, "up", "--stage", "lua")
    assert one.process.stdout.readline()
    family = one.descendants()

    one.named(name)[0].kill()
    done = one.end()

    assert (done.status, bool(re.fullmatch(says, done.err.strip(), re.DOTALL))) == (status, True), done.err
    assert gone(family)
    folders = list(tmp_path.glob("reports/runs/*"))
    assert len(folders) == kept
    for folder in folders:
        assert str(folder.relative_to(tmp_path)) in done.err
        assert (folder / "logs" / "nginx" / "log").exists()


def test_killed_command_of_many_runs(tmp_path):
    """After a kill of a command that makes runs in other processes, none of these is left, although its runs were not over."""
    one = Started(tmp_path, "test", "lua", "--scenario", "rush", "--requests", "20000", "--budget", "2", "--no-draw")
    wait_for(lambda: one.named("spawn_main"))
    family = one.descendants()
    try:
        one.process.kill()
        wait_for(lambda: not any(map(runs, family)) and not left(tmp_path))
    finally:
        for process in left(tmp_path):
            process.kill()
        one.process.communicate()

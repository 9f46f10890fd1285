"""Test that a forked program is like a started one, with a process, a folder and an environment of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from lab.servers.programs.gunicorn import Gunicorn
from lab.servers.supervisor import Forkable, Supervisor
from tests.command import runs, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere programs are started, and never forked")
PROGRAM = """
import json, os, random, sys, threading, time
imported_in = os.getpid()

def opened():
    found = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    return sorted(os.readlink(one).partition(":")[0] for one in found if os.path.lexists(one))  # without the file of the listing

def report():
    about = {"pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0), "argv": sys.argv, "cwd": os.getcwd()}
    about |= {"env": dict(os.environ), "imported_in": imported_in, "random": random.random(), "version": 1}
    about |= {"threads": threading.active_count(), "files": opened()}
    print(json.dumps(about), flush=True)

def main():
    report()
    if "stay" in sys.argv:
        time.sleep(1000)
    return 7
"""
ENV = {"PATH": os.environ["PATH"], "LAB_REPLICA": "one"}


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    with closing(Supervisor()) as one:
        yield one


@pytest.fixture
def home(tmp_path) -> Path:
    """Return the folder of a project with a program in its package ``app``."""
    folder = tmp_path / "home"
    (folder / "app").mkdir(parents=True)
    (folder / "app" / "__init__.py").touch()
    (folder / "app" / "reporter.py").write_text(PROGRAM, encoding="utf-8")
    return folder


class Place:
    """The folder in which programs run, and the way to fork them."""

    def __init__(self, supervisor: Supervisor, home: Path, folder: Path) -> None:
        self.supervisor, self.folder, self.log = supervisor, folder, folder / "log"
        self.forkable = Forkable("app.reporter:main", ("app.reporter",), str(home))

    def start(self, *words: str, env: dict[str, str] = ENV) -> int:
        self.log.unlink(missing_ok=True)
        plain = [sys.executable, "-c", "print('{\"started\": true}', flush=True)"]
        return self.supervisor.start([*plain, *words], env, self.folder, self.log, self.forkable)

    def report(self) -> dict:
        return json.loads(
            wait_for(lambda: self.log.exists() and self.log.read_bytes().endswith(b"}\n") and self.log.read_bytes())
        )


@pytest.fixture
def place(supervisor, home, tmp_path) -> Place:
    return Place(supervisor, home, tmp_path)


def test_program_is_a_process_of_its_own(place, supervisor, tmp_path):
    """A forked program has its own session, arguments, folder, log and environment, and is the supervisor process's child."""
    pid = place.start("stay")
    found = place.report()

    assert (found["pid"], found["session"], found["parent"]) == (pid, pid, supervisor.pid)
    assert (found["argv"][-1], found["cwd"], found["env"]) == ("stay", str(tmp_path), ENV)
    assert found["imported_in"] not in (pid, supervisor.pid)
    files = [one for one in found["files"] if "libffi" not in one]  # some builds of libffi keep their own file open
    assert (found["threads"], files) == (
        1,
        [os.devnull, str(place.log), str(place.log), "socket"],
    )  # it holds the ports of the run
    assert psutil.Process(pid).cmdline()[:2] == [sys.executable, "-c"]
    assert supervisor.exit_of(pid) is None
    assert supervisor.signal(pid, signal.SIGKILL)
    assert wait_for(lambda: supervisor.exit_of(pid)) == -signal.SIGKILL


def test_two_programs_share_one_import(place, supervisor):
    """Two programs share the modules that were imported first, but no random numbers and no environment."""
    supervisor.prepare(place.forkable, ENV)
    prepared = [one.pid for one in wait_for(psutil.Process(supervisor.pid).children)]
    first = place.start()
    one = place.report()
    place.start(env={"PATH": "", "LAB_RUN": "two"})
    two = place.report()

    assert [one["imported_in"], two["imported_in"]] == prepared * 2
    assert one["random"] != two["random"]
    assert two["env"] == {"PATH": "", "LAB_RUN": "two"}
    assert wait_for(lambda: supervisor.exit_of(first)) == 7
    assert not supervisor.signal(first, signal.SIGTERM)


def test_programs_of_two_interpreters(place, home):
    """Programs that two interpreters fork in turn have two seeds of hash(): an interpreter draws its seed at its start."""
    (home / "app" / "reporter.py").write_text(PROGRAM.replace('"version": 1', '"version": hash("a")'), encoding="utf-8")
    place.forkable = replace(place.forkable, interpreters=2)
    found = []
    for _ in range(4):
        place.start()
        found.append(place.report())

    for what in ("imported_in", "version"):
        one, two, three, four = [each[what] for each in found]
        assert (one, two) == (three, four)
        assert one != two


def test_another_fork_server(place, supervisor):
    """After the fork server was killed, a new one forks, and the programs of the old one go on."""
    first = place.start("stay")
    one = place.report()
    server = psutil.Process(one["imported_in"])
    server.kill()
    wait_for(lambda: not runs(server))
    place.start()
    killed = place.report()

    assert one["imported_in"] != killed["imported_in"]
    assert supervisor.exit_of(first) is None


@pytest.mark.whole
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nothing_like_this", "ModuleNotFoundError: No module named 'nothing_like_this'"),
        ("import os; os._exit(0)", "ended"),
    ],
)
def test_import_that_fails(place, home, code, why):
    """A program whose modules cannot be imported is not started, and the error has the reason."""
    (home / "app" / "reporter.py").write_text(code, encoding="utf-8")

    with pytest.raises(OSError, match=why):
        place.start()


@pytest.mark.whole
def test_no_stage_is_imported_before_the_fork():
    """A fork server imports no stage for a replica, so two runs never share the code of a lock."""
    modules = Gunicorn("replica", stores=("redis", "redis_nodes", "mysql", "postgresql", "zookeeper", "etcd")).forkable.modules
    code = f"import sys, importlib; [importlib.import_module(name) for name in {modules}]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert [name for name in done.stdout.split() if name.startswith("app.locks.")] == []

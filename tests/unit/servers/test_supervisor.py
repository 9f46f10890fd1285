"""Test the connection to the supervisor after interrupts, and one supervisor for several runs."""

import contextlib
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lab.interrupts import interruptible, unless_interrupted
from lab.servers.supervisor import Supervisor, SupervisorGone, one_supervisor, supervised
from tests.command import runs, wait_for


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    with contextlib.closing(Supervisor()) as one:
        one._socket.settimeout(60)  # a question without an answer fails, and does not wait for ever
        yield one


def status(pid: int) -> str | None:
    """Return the state of a process; None if its own parent has waited for it meanwhile."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status()
    return None


def below(supervisor: Supervisor) -> list[int]:
    """Return the pids of all programs that were started, and of their descendants."""
    return [one.pid for one in psutil.Process(supervisor.pid).children(recursive=True)]


def test_two_questions_at_once(supervisor):
    """A question that an interrupt had held back is answered with the next one, and a late answer is ignored."""
    line = json.dumps({"number": 7}) + "\n"
    supervisor._socket.sendall((line + line.replace("7", "8")).encode())

    assert [json.loads(supervisor._line())["number"] for _ in range(2)] == [7, 8]
    supervisor._socket.sendall(line.replace("7", "99").encode())
    assert [supervisor._ask()["number"] for _ in range(2)] == [1, 2]


@pytest.mark.whole
def test_interrupts_leave_the_line_whole(supervisor):
    """Interrupts at any moment of a question leave the connection usable."""
    asking, interrupted = False, 0

    def interrupt(*_: object) -> None:
        nonlocal asking
        if asking:
            asking = False
            raise KeyboardInterrupt

    previous = signal.signal(signal.SIGUSR1, interrupt)
    main, over = threading.main_thread().ident, threading.Event()

    def pester() -> None:
        while not over.wait(0.0007):
            signal.pthread_kill(main, signal.SIGUSR1)

    pestering = threading.Thread(target=pester)
    pestering.start()
    try:
        for _ in range(2000):
            try:
                asking = True
                supervisor._ask()
                asking = False
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        over.set()
        pestering.join()
        signal.signal(signal.SIGUSR1, previous)

    assert interrupted > 20
    assert supervisor._ask()["number"] > interrupted


def started(supervisor: Supervisor, folder: Path) -> list[psutil.Process]:
    """Start a program with a stopped worker, and return both processes."""
    program = supervisor.start(["sh", "-c", "sleep 1000 & kill -STOP $!; wait"], dict(os.environ), folder, folder / "log")
    worker = wait_for(lambda: [one for one in psutil.Process(program).children() if one.status() == psutil.STATUS_STOPPED])
    return [psutil.Process(program), *worker]


def test_killed_supervisor_leaves_no_process(supervisor, tmp_path):
    """After the supervisor process was killed, the lab ends all servers, and the next question raises an interrupt.

    All servers count as killed, no signal is sent, and no other server starts.
    """
    family = started(supervisor, tmp_path)

    supervisor._process.kill()

    with pytest.raises(SupervisorGone, match="was killed"), interruptible():
        supervisor.exit_of(family[0].pid)
    assert not any(map(runs, family))
    with pytest.raises(SupervisorGone):
        unless_interrupted()  # if another thread asked
    assert supervisor.exit_of(family[0].pid) == -signal.SIGKILL
    assert supervisor.signal(family[0].pid, signal.SIGTERM) is False
    with pytest.raises(SupervisorGone):
        supervisor.start(["true"], {}, tmp_path, tmp_path / "log")


def test_stopped_supervisor_is_ended(supervisor, tmp_path):
    """A supervisor process that does not answer counts as killed."""
    family = started(supervisor, tmp_path)
    supervisor._socket.settimeout(0.2)
    os.kill(supervisor.pid, signal.SIGSTOP)

    with pytest.raises(SupervisorGone), interruptible():
        supervisor.exit_of(family[0].pid)
    assert not any(map(runs, family))


def test_signal_reaches_other_sessions(supervisor, tmp_path):
    """A signal also reaches a process that is below a program and leads a session of its own."""
    line = "setsid sh -c 'kill -STOP $$; kill -STOP $$' & wait"
    program = supervisor.start(["sh", "-c", line], dict(os.environ), tmp_path, tmp_path / "log")
    wait_for(lambda: [status(one) for one in below(supervisor) if one != program] == [psutil.STATUS_STOPPED])

    supervisor.signal(program, signal.SIGKILL)

    wait_for(lambda: {status(one) for one in below(supervisor)} <= {psutil.STATUS_ZOMBIE})


def test_no_zombies_are_left(supervisor, tmp_path):
    """The supervisor reaps an orphan, such as a worker whose master was killed, and still knows the exit of a program."""
    program = supervisor.start(
        ["sh", "-c", "sh -c 'exit 4' & kill -STOP $$; exit 3"], dict(os.environ), tmp_path, tmp_path / "log"
    )
    wait_for(lambda: status(program) == psutil.STATUS_STOPPED and len(below(supervisor)) == 2)
    os.kill(program, signal.SIGCONT)
    wait_for(lambda: {status(one) for one in below(supervisor)} == {psutil.STATUS_ZOMBIE})

    last = supervisor.start(["sh", "-c", "kill -STOP $$"], dict(os.environ), tmp_path, tmp_path / "log")

    assert below(supervisor) == [last]
    assert supervisor.exit_of(program) == 3


def start(supervisor: Supervisor, folder) -> psutil.Process:
    """Start a program that would never end, with a child that has left its session and is stopped."""
    line = "setsid sh -c 'kill -STOP $$' & sleep 1000"
    return psutil.Process(supervisor.start(["sh", "-c", line], dict(os.environ), folder, folder / "log"))


def test_runs_have_one_supervisor(tmp_path):
    """Two runs have one supervisor, and no program outlives its run, also if it has left its session."""
    with one_supervisor():
        with supervised() as first:
            program = start(first, tmp_path)
        assert not runs(program)
        assert below(first) == []
        with supervised() as second:
            program = start(second, tmp_path)
            assert second is first
            assert second.exit_of(program.pid) is None
            assert second.signal(program.pid, signal.SIGCONT)

    assert not runs(program)
    assert not psutil.pid_exists(first.pid)

"""The supervisor's line: whatever an interrupt leaves on it, the next question is answered."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from lab.servers.supervisor import Supervisor


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    with closing(Supervisor()) as one:
        one._socket.settimeout(10)  # of a question that is not answered: fail, and do not wait for ever
        yield one


def test_two_questions_at_once(supervisor):
    """As after an interrupt: what it kept from being sent goes with the next."""
    line = json.dumps({"descendants": 0, "number": 7}) + "\n"
    supervisor._socket.sendall((line + line.replace("7", "8")).encode())

    assert [json.loads(supervisor._line())["number"] for _ in range(2)] == [7, 8]


def test_late_answer_is_ignored(supervisor):
    """An answer to a question of before is ignored."""
    supervisor._socket.sendall(json.dumps({"descendants": 0, "number": 99}).encode() + b"\n")

    assert supervisor.descendants() == []
    assert supervisor.descendants() == []


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
                supervisor.descendants()
                asking = False
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        over.set()
        pestering.join()
        signal.signal(signal.SIGUSR1, previous)

    assert interrupted > 20
    assert supervisor.descendants() == []

"""Test that ports belong to the process that took them and to all processes below it, until the last of them has ended."""

import contextlib
import os
import socket
import subprocess
import sys

import psutil
import pytest

from lab.errors import NotReady
from lab.servers import ports
from lab.servers.ports import LOOPBACK, PortBlock, free_port
from tests.command import wait_for

# a lab that takes the only block, and starts a program whose child is in a session of its own
LAB = """
import os, pathlib, sys, time
from lab.servers import ports
from lab.servers.supervisor import Supervisor
ports.PORTS = range({first}, {first} + ports.IN_A_BLOCK)
supervisor, folder = Supervisor(), pathlib.Path(sys.argv[1])
supervisor.start(["sh", "-c", "setsid sleep 1000 & wait"], dict(os.environ), folder, folder / "log")
print(supervisor.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def only_block(monkeypatch) -> int:
    """Return the first port of the only block that is left."""
    one = PortBlock()
    os.close(one.held)
    monkeypatch.setattr(ports, "PORTS", range(one.first, one.first + ports.IN_A_BLOCK))
    return one.first


def test_ports_of_a_process():
    """A port is given again only after all others of its block, and a port for a page is never given to a store."""
    servers = [free_port() for _ in range(ports.IN_A_BLOCK - ports.FOR_PAGES)]

    assert len({*servers}) > ports.IN_A_BLOCK / 2  # servers of other tests listen on some
    assert not {*servers} & {free_port(page=True) for _ in range(ports.FOR_PAGES)}
    with socket.create_server((LOOPBACK, (taken := free_port()))):
        assert taken not in [free_port() for _ in range(ports.IN_A_BLOCK)]


def test_forked_process_has_its_own_ports():
    """A forked process gives out no port of its parent."""
    first, (reading, writing) = ports.block().first, os.pipe()
    if not (pid := os.fork()):
        os.write(writing, str(ports.block().first).encode())
        os._exit(0)
    os.waitpid(pid, 0)

    assert int(os.read(reading, 9)) != first
    os.close(reading)
    os.close(writing)


def test_no_free_block(only_block):
    """Without a free block, the error has the range of ports."""
    held = PortBlock().held
    try:
        with pytest.raises(NotReady, match=rf"all 1 blocks of ports from {only_block} .* are taken"):
            PortBlock()
    finally:
        os.close(held)


def test_ports_are_held_until_all_has_ended(only_block, tmp_path):
    """The ports of a killed lab and supervisor are free only when the last process below them has ended."""
    with subprocess.Popen(
        [sys.executable, "-c", LAB.format(first=only_block), tmp_path], stdout=subprocess.PIPE, text=True
    ) as lab:
        supervisor = psutil.Process(int(lab.stdout.readline()))
        (last,) = wait_for(lambda: [one for one in supervisor.children(recursive=True) if one.name() == "sleep"])
        supervisor.kill()
        lab.kill()
    wait_for(lambda: last.ppid() != supervisor.pid)
    assert taken() is None

    last.kill()

    os.close(wait_for(taken).held)


def taken() -> PortBlock | None:
    """Take the only block and return it; None if it is taken."""
    with contextlib.suppress(NotReady):
        return PortBlock()
    return None

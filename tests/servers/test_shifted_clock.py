"""The wall clock of a store can jump ahead and back, and be right again."""

from __future__ import annotations

import dataclasses
import time

import pytest

from lab.scenario import reader
from lab.scenario.requirements import CLOCKED
from lab.servers import process
from lab.servers.shifted_clock import jump_clock
from lab.servers.stores import store_servers
from lab.servers.supervisor import Supervisor


@pytest.mark.parametrize("name", CLOCKED)
def test_clock_jumps_and_comes_back(name, tmp_path):
    """The server's own clock shows each jump and the way back, and the server stays alive."""
    supervisor = Supervisor()
    try:
        planned = store_servers(name).programs(dataclasses.replace(reader.load("clock_jump"), store_nodes=1))[:1]
        (running,) = [process.start(one, supervisor, tmp_path).wait() for one in planned]

        def ahead_ms() -> float:
            return running.program.clock_ms(running.port) - time.time() * 1000

        assert jump_clock(running, 60_000)
        assert 30_000 < ahead_ms() < 90_000
        assert jump_clock(running, -60_000)
        assert ahead_ms() < -30_000
        jump_clock(running, 0)
        assert abs(ahead_ms()) < 30_000
    finally:
        supervisor.close()

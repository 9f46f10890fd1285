"""The plan of a growth measurement, and which process a cost belongs to."""

from __future__ import annotations

import psutil
import pytest

from app.locks import stages
from lab.experiments import growth


def test_plan_keeps_the_limit():
    """No run sends more than is allowed, and every store has a lock in the plan."""
    planned = list(growth.plan(1000))

    assert {options["requests"] for *_, options in planned} == {1000}
    assert max(value for varied, value, *_ in planned if varied == "users") <= 1000
    assert {stages()[stage].store for varied, _, stage, _ in planned if varied == "store"} >= {
        "redis",
        "mysql",
        "zookeeper",
        "etcd",
    }
    assert max(options["requests"] for *_, options in growth.plan(500_000)) == 500_000


class Ending:
    """A process between its last instruction and its end: its command line is gone, and it is not yet a zombie."""

    pid = 1

    def cmdline(self):
        return []

    def cwd(self):
        return "/"


def test_ending_process_belongs_to_no_part():
    """The cost of a process that is ending is not added to another part."""
    with pytest.raises(psutil.ZombieProcess):
        growth._part(Ending())

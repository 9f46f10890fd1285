"""Test that the target and the needs of a fault decide where it works, and that it is refused by name elsewhere."""

from functools import partial

import pytest

from app.locks import stage
from lab.containers.cluster import refuse as refuse_in_containers
from lab.errors import BadInput
from lab.scenario import reader
from lab.servers.stores import refuse

IN_CONTAINERS, WITHOUT_ENGINE = (partial(refuse_in_containers, control=control) for control in (True, False))


@pytest.mark.parametrize(
    ("where", "scenario", "name"),
    [
        (refuse, "leader_killed", "etcd"),
        (refuse, "session_loss", "zookeeper"),
        (refuse, "clock_jump", "redlock"),
        (IN_CONTAINERS, "frozen_holder", "lua"),
        (IN_CONTAINERS, "session_loss", "zookeeper"),
        (IN_CONTAINERS, "cut_off", "lua"),
        (IN_CONTAINERS, "renewal_stalls", "watchdog"),
        (WITHOUT_ENGINE, "frozen_holder", "lua"),
        (WITHOUT_ENGINE, "session_loss", "zookeeper"),
    ],
)
def test_where_a_fault_works(where, scenario, name):
    """A fault works if the place of the run has its target and its needs."""
    where(stage(name), reader.load(scenario))


@pytest.mark.parametrize(
    ("where", "scenario", "name", "why"),
    [
        (refuse, "leader_killed", "lua", "leader_killed cannot inject the fault kill_leader into lua: "),
        (refuse, "session_loss", "lua", "session_loss cannot inject the fault end_session into lua: "),
        (refuse, "renewal_stalls", "local", "stall_redis.* local has no store"),
        (WITHOUT_ENGINE, "cut_off", "lua", "cut_off"),
        (WITHOUT_ENGINE, "renewal_stalls", "watchdog", "stall_redis"),
    ],
)
def test_where_a_fault_is_refused(where, scenario, name, why):
    """A fault is refused by name if the place of the run lacks its target or one of its needs."""
    with pytest.raises(BadInput, match=why):
        where(stage(name), reader.load(scenario))

"""The stores as the lab runs them, one in each file, and which faults each allows, wherever its servers run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from app.lock import Stage
from app.shelf import plugins
from lab.errors import BadInput
from lab.scenario.fault import Need, Place, Target
from lab.scenario.requirements import CLOCKED, VOLATILE, WITH_REPLICA
from lab.scenario.scenario import Scenario

if TYPE_CHECKING:
    from lab.servers.store import StoreServers


def store_servers(name: str) -> StoreServers:
    """Return the store of a name: a run loads no other. Raises KeyError for an unknown name."""
    return cast("StoreServers", plugins.file(__name__, name))


def place(stage: Stage, scenario: Scenario) -> Place:
    """Return which faults the stage's store allows."""
    if stage.store is None:
        return Place(closed=dict.fromkeys((Target.SESSION, Target.NETWORK, Target.STORE), f"{stage.name} has no store"))
    lacking = {}
    if not hasattr(store_servers(stage.store), "leader"):
        lacking[Need.LEADER] = f"{stage.store} has none"
    if not hasattr(store_servers(stage.store), "end_session"):
        lacking[Need.SESSIONS] = f"{stage.store} has none"
    if stage.store not in VOLATILE:
        lacking[Need.DISK] = f"the lab does not know the files of {stage.store}"
    elif not scenario.store_persists:
        lacking[Need.DISK] = "the scenario does not ask for a disk (store_persists = true)"
    if stage.store not in CLOCKED:
        lacking[Need.CLOCKS] = f"the clock of {stage.store} cannot be shifted"
    elif not scenario.store_clocks:
        lacking[Need.CLOCKS] = "the scenario does not ask for them (store_clocks = true)"
    if not scenario.store_replica or stage.store != WITH_REPLICA:
        lacking[Need.REPLICA] = "the scenario does not ask for one (store_replica = true), or the store has none"
    return Place(lacking=lacking)


def refuse(stage: Stage, scenario: Scenario) -> None:
    """Refuse a fault that the stage's store cannot have. Raises BadInput."""
    for kind, why in place(stage, scenario).refusals(scenario.faults).items():
        raise BadInput(f"{scenario.name} cannot inject the fault {kind} into {stage.name}: {why}")

"""A fault is one file: with its declarations alone it runs, is judged, and is refused by name where it cannot work."""

from __future__ import annotations

import dataclasses
import sys
import tomllib
from pathlib import Path

import pytest

from app.locks import stage
from lab.containers.cluster import refuse as refuse_in_containers
from lab.errors import BadInput
from lab.evidence.history import History
from lab.judge.verdict import judge
from lab.paths import SCENARIOS
from lab.pipeline import by_locust, conduct
from lab.scenario import faults as shelf
from lab.scenario import scenario as scenarios
from lab.scenario.overrides import override
from lab.scenario.scenario import Scenario
from lab.servers import external_stores, fault_target
from lab.servers.supervised import supervised

FILE = """
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.{target}
    needs: ClassVar[tuple[Need, ...]] = ({needs})
    effect: ClassVar[Effect] = Effect.STORE_SILENT

    for_ms: int
    at: str = "read.after"
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.silence_nodes([1])

    def recover(self, system: System, record: FaultRecord) -> None:
        system.recover_nodes([1])
"""
KIND = "hiccup"


@pytest.fixture
def new_fault(tmp_path, monkeypatch):
    """Put one more file on the shelf, for this test only."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setattr(shelf, "__path__", [*shelf.__path__, str(folder)])
    module = f"{shelf.__name__}.{KIND}"

    def add(target: str, needs: str = "") -> None:
        (folder / f"{KIND}.py").write_text(FILE.format(target=target, needs=needs), encoding="utf-8")

    yield add
    sys.modules.pop(module, None)
    vars(shelf).pop(KIND, None)


def with_new_fault(name: str) -> Scenario:
    """Return a scenario of the shelf in which every fault is the new one."""
    table = tomllib.loads((SCENARIOS / f"{name}.toml").read_text(encoding="utf-8"))
    for fault in table["faults"]:
        fault["kind"] = KIND
    return scenarios.parse(name, table, "made.toml")


def refused(refuse, *given) -> str:
    """Return why something is refused; empty if it is not."""
    try:
        refuse(*given)
    except BadInput as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("target", "outside", "containers", "containers_without_host"),
    [
        ("REPLICA", True, True, True),
        ("SESSION", False, True, True),
        ("NETWORK", False, True, False),
        ("STORE", False, True, False),
    ],
)
def test_from_its_target_follows_where_a_new_fault_works(new_fault, target, outside, containers, containers_without_host):
    new_fault(target)
    one, lua = with_new_fault("renewal_stalls"), stage("lua")

    words = [
        refused(fault_target.refuse, lua, one),
        refused(external_stores.refuse, lua, one, {"redis": "there:6379"}),
        refused(refuse_in_containers, lua, one, True),
        refused(refuse_in_containers, lua, one, False),
    ]

    assert [why == "" for why in words] == [True, outside, containers, containers_without_host]
    assert all(KIND in why for why in words if why)


@pytest.mark.parametrize(
    ("needs", "one", "other"),
    [
        ("Need.LEADER,", "etcd", "lua"),
        ("Need.SESSIONS,", "zookeeper", "lua"),
        ("Need.CLOCKS,", None, "lua"),
    ],
)
def test_from_its_needs_follows_on_which_stages_a_new_fault_works(new_fault, needs, one, other):
    new_fault("STORE", needs)
    scenario = with_new_fault("renewal_stalls")

    assert refused(fault_target.refuse, stage(other), scenario).startswith(f"renewal_stalls cannot inject the fault {KIND}")
    if one is None:
        scenario, one = dataclasses.replace(scenario, store_clocks=True), other
    assert refused(fault_target.refuse, stage(one), scenario) == ""


def test_containers_have_no_clocks_and_no_sessions_of_one_replica_in_mariadb(new_fault):
    new_fault("SESSION", "Need.SESSIONS,")
    one = with_new_fault("session_loss")

    assert refused(refuse_in_containers, stage("etcd"), one, False) == ""
    assert "all replicas have the same user" in refused(refuse_in_containers, stage("mysql_for_update"), one, False)


def test_a_stage_without_a_store_has_no_fault_of_the_store(new_fault):
    new_fault("STORE")

    assert "local has no store" in refused(fault_target.refuse, stage("local"), with_new_fault("renewal_stalls"))


def test_a_fault_that_declares_too_little_is_named(new_fault, tmp_path):
    new_fault("STORE")
    file = tmp_path / "shelf" / f"{KIND}.py"
    text = file.read_text(encoding="utf-8").replace("effect: ClassVar[Effect] = Effect.STORE_SILENT", "")
    file.write_text(text, encoding="utf-8")

    with pytest.raises(TypeError, match=f"{KIND} must declare effect"):
        shelf.faults()


@pytest.mark.real
def test_a_new_fault_runs_on_real_servers_and_is_judged_from_the_folder_alone(new_fault, tmp_path):
    """The judge does not know the file: it reads the effect in the record, and finds the mechanism of that effect."""
    new_fault("STORE")
    one = stage("watchdog")
    with supervised() as keeper:
        scenario = override(with_new_fault("renewal_stalls"), one, {})
        done = conduct(keeper, one, scenario, by_locust(keeper, scenario, lambda ended: None), "a test", reports=tmp_path)

    (record,) = History(done.folder.path).faults()
    assert (record.kind, record.effect) == (KIND, "store_silent")
    assert record.recovered_ns - record.at_ns >= 900_000_000
    assert done.record.scenario["faults"][0]["target"] == "store"
    assert done.judgement.verdict == "ADMITTED", done.judgement
    (tmp_path / "shelf" / f"{KIND}.py").unlink()
    again, _ = judge(Path(done.folder.path))
    assert again == done.judgement
    assert {violation.mechanism for violation in again.violations} == {"the store was silent for longer than the TTL"}

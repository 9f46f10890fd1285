"""A fault that no scenario has yet: one file on a shelf of the test's own."""

import sys
import tomllib

import pytest

from lab.paths import SCENARIOS
from lab.scenario import faults as shelf
from lab.scenario import reader as scenarios
from lab.scenario.scenario import Scenario

FILE = """
from lab.evidence.fault_record import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario import fault
from lab.scenario.fault import Need, System, Target


class Fault(fault.Fault, frozen=True):
    target = Target.{target}
    needs = ({needs})
    effect = Effect.STORE_SILENT

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

"""The measurement of waits runs scenarios only on stages that they fit."""

from __future__ import annotations

from app.locks import stages
from lab.experiments.benchmarks import waits
from lab.scenario import reader
from lab.scenario.overrides import override
from tests.every import every

RUNS = [("rush", name) for name in (*waits.STAGES, "redlock", "redlock_cohort")] + [
    (waits.CRASH, name) for name in ("fair", "pubsub")
]


@every("name, stage", RUNS)
def test_a_measured_run_makes_sense(name, stage):
    """Every run of the measurement is one that ``lab run`` accepts."""
    fitted = override(reader.load(name), stages()[stage], {"requests": waits.REQUESTS, "users": 100})

    assert fitted.requests == waits.REQUESTS

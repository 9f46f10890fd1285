"""Compared runs have different labels, and the runs of a ladder have a page."""

from pathlib import Path

import pytest

from lab.evidence import run_folder
from lab.evidence.run_folder import save
from lab.judge.verdict import judge
from lab.report import run_data
from lab.report.comparison import differing, with_labels
from lab.report.run_data import Result
from lab.report.run_page import keep
from tests.builders import made_run

BEGAN = "2026-01-01T00:00:00.000+00:00"


@pytest.fixture
def runs(tmp_path, monkeypatch) -> Path:
    """A folder of runs, where the lab looks for them."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "reports" / "runs"


def made(runs: Path, number: int, stage: str = "mine", ttl_ms: int | None = None, began: str = BEGAN, **scenario) -> Path:
    """A judged run of three requests with some parameters of its own."""
    folder = made_run(runs / f"2026010{number}T000000.000Z-rush-{stage}-{number}", stage=stage)
    record = run_folder.load(folder)
    record.scenario |= scenario
    record.stage["ttl_ms"] = ttl_ms
    record.started_utc = began
    save(folder / "run.json", record)
    keep(folder, *judge(folder))
    return folder


def results(*folders: Path) -> list[Result]:
    return with_labels([run_data.load(folder) for folder in folders])


@pytest.mark.parametrize(
    ("one", "other", "labels"),
    [
        ({"stage": "a"}, {"stage": "b"}, ["a", "b"]),
        ({"ttl_ms": 300}, {"ttl_ms": None}, ["mine, TTL 300 ms", "mine, no TTL"]),
        ({"replicas": 3}, {"replicas": 1}, ["mine", "mine, 1 replica"]),
        ({}, {"began": "2026-01-01T00:05:00.000+00:00"}, ["mine, 2026-01-01 00:00:00.000", "mine, 2026-01-01 00:05:00.000"]),
    ],
)
def test_labels_of_two_runs(runs, one, other, labels):
    """Two runs have labels of what differs, or else of when they began."""
    assert [result.label for result in results(made(runs, 1, **one), made(runs, 2, **other))] == labels


def test_labels_of_three_runs(runs):
    """Of three runs, only the two with equal parameters are labelled with their time."""
    later = "2026-01-01T00:05:00.000+00:00"
    compared = results(made(runs, 1, ttl_ms=300), made(runs, 2, ttl_ms=300, began=later), made(runs, 3, ttl_ms=900))

    labels = [result.label for result in compared]

    assert labels[2] == "mine, TTL 900 ms"
    assert len(set(labels)) == 3
    assert differing(compared) == ["ttl_ms"]

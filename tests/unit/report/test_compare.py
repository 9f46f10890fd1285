"""Compared runs have different labels, begin at their first requests, and are drawn on the same axes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from matplotlib.figure import Figure

from lab.commands.report import compare
from lab.errors import BadInput
from lab.evidence import run_folder
from lab.evidence.run_folder import save
from lab.judge.verdict import judge
from lab.report import run_data
from lab.report.chart import FEW
from lab.report.charts import charts
from lab.report.pages import keep
from lab.report.run_data import FaultBand, Result, differing, with_labels
from tests.builders import made_run
from tests.pages import assert_self_contained

NAME = "20260101T000000.000Z-rush-mine-1"
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


def titles(name: str, compared: list[Result]) -> str:
    axes = Figure().add_subplot()
    charts("many")[name].draw(axes, compared)
    return axes.get_title(loc="left") or axes.get_title()


@pytest.mark.parametrize(
    ("one", "other", "labels"),
    [
        ({"stage": "a"}, {"stage": "b"}, ["a", "b"]),
        ({"ttl_ms": 300}, {"ttl_ms": 900}, ["mine, TTL 300 ms", "mine, TTL 900 ms"]),
        ({"ttl_ms": 300}, {"ttl_ms": None}, ["mine, TTL 300 ms", "mine, no TTL"]),
        ({"users": 1}, {"users": 20}, ["mine, 1 user", "mine, 20 users"]),
        ({"replicas": 3}, {"replicas": 1}, ["mine", "mine, 1 replica"]),
        ({"name": "rush"}, {"name": "convoy"}, ["mine, rush", "mine, convoy"]),
        ({"rate": 100.0}, {"rate": None}, ["mine, no users, 100.0 arrivals/s", "mine, 2 users, no rate"]),
        ({"work_ms": 1, "seed": 1}, {"work_ms": 2, "seed": 7}, ["mine, work 1 ms, seed 1", "mine, work 2 ms, seed 7"]),
        ({}, {"began": "2026-01-01T00:05:00.000+00:00"}, ["mine, 00:00:00", "mine, 00:05:00"]),
        ({}, {"began": "2026-01-02T00:00:00.000+00:00"}, ["mine, 2026-01-01 00:00:00", "mine, 2026-01-02 00:00:00"]),
        ({}, {}, ["mine, 20260101T000000.000Z-rush-mine-1", "mine, 20260102T000000.000Z-rush-mine-2"]),
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


def test_comparison_has_all_its_parts(runs, tmp_path):
    """A comparison is a page, every chart as SVG and PNG, and a table of what differs."""
    names = [made(runs, 1, ttl_ms=300).name, str(made(runs, 2, ttl_ms=900))]

    page, table, *pictures = compare(names, tmp_path / "out")

    assert {path.stem for path in pictures} == set(charts("many")) - {"asks", "speeds", "vanished", "waits"}  # of many runs
    assert {path.suffix for path in pictures} == {".svg", ".png"}
    assert_self_contained(page)
    assert "| mine, TTL 900 ms | 900 | `20260102T000000.000Z-rush-mine-2` |" in table.read_text(encoding="utf-8")
    for path in pictures:
        if path.suffix == ".svg" and path.stem in ("counters", "paces", "wait"):
            assert "mine, TTL 300 ms" in path.read_text(encoding="utf-8"), path.name


def test_comparison_is_extended(runs, tmp_path, undrawn):
    """A comparison's folder is compared again where it is, and a run can be added to it."""
    out = tmp_path / "out"
    compare([made(runs, 1).name, made(runs, 2, ttl_ms=5).name], out)
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}

    compare([str(out)], None)

    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before
    assert len(list(compare([str(out), made(runs, 3, ttl_ms=9).name], tmp_path / "three")[0].parent.glob("runs/*"))) == 3


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "two or more"),
        ([NAME], "needs two or more. 'lab report"),
        ([NAME] * 2, "given twice"),
        ([NAME, f"reports/runs/{NAME}"], "are the same run"),
        (
            [NAME, "20260101T000000.000Z-rush-mein-1"],
            f"Did you mean '{NAME}'",
        ),
    ],
)
def test_unfit_runs_are_refused(runs, names, message):
    """What cannot be compared is refused by name and leaves no file."""
    made(runs, 1)

    with pytest.raises(BadInput, match=message):
        compare(names, None)

    assert list(runs.parent.glob("comparison-*")) == []


def test_charts_state_their_findings(runs):
    """Each chart over time states its finding."""
    replace = msgspec.structs.replace
    one, other = results(made(runs, 1, stage="a"), made(runs, 2, stage="b"))
    one = replace(one, judgement=replace(one.judgement, duration_s=0.5))
    kept = replace(other.judgement, lost=0, final=3, duration_s=3)
    other = replace(other, judgement=kept, series=replace(other.series, causes=[]))

    assert titles("counters", [one, other]) == "a: 3 acknowledged, the counter holds 2; 1 of 2 runs lost nothing"
    assert titles("paces", [one, other]) == "a keeps 4.0 times as many increments a second as b: 4 against 1"
    assert "a lost the most increments, 1; cause: granted to two holders at once" in titles("mechanisms", [one, other])
    assert not charts("many")["mechanisms"].fits([other])


def test_faults_have_lanes(runs):
    """The faults of each run are in a lane of their own."""
    replace = msgspec.structs.replace
    kinds = [("stall_redis", "lock", 0.001), ("kill", "replica-1", 0.003), ("kill", "replica-2", 0.004)]
    faults = [FaultBand(kind, whom, at_s, at_s + 0.001) for kind, whom, at_s in kinds]
    both = results(made(runs, 1, "a"), made(runs, 2, "b"))
    faulty = [replace(one, series=replace(one.series, faults=faults)) for one in both]
    axes = Figure().add_subplot()

    charts("many")["paces"].draw(axes, faulty)

    said = {text.get_text(): text.xy[1] for text in axes.texts if "stall" in text.get_text()}
    assert set(said) == {"a: stall redis, kill × 2", "b: stall redis, kill × 2"}
    assert len(set(said.values())) == 2


def test_only_few_runs_share_axes(runs):
    """Only a few runs are drawn on the same axes."""
    (one,) = results(made(runs, 1))

    assert charts("many")["counters"].fits([one] * FEW)
    assert not charts("many")["paces"].fits([one] * (FEW + 1))


def test_undrawn_run_is_compared(runs, tmp_path, undrawn):
    """A run whose pictures were left for later is compared from what it kept."""
    kept = made(runs, 2, ttl_ms=7)

    compare([made(runs, 1).name, kept.name], tmp_path / "out")

    assert not (kept / "report.html").exists()
    assert run_folder.load(tmp_path / "out" / "runs" / kept.name) == run_folder.load(kept)

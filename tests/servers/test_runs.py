"""Runs of a round are like runs of their own commands, and an interrupt keeps those that are done."""

from __future__ import annotations

import signal

import msgspec
import pytest

from lab.experiments.matrix_round import judged
from lab.experiments.runs import in_parallel
from lab.judge.judgement import Verdict
from lab.pipeline import publish_site
from lab.report.matrix import Cell, read
from tests.command import Started, gone, lab, wait_for

SCENARIO, STAGE = "retry_counts_twice", "lua"
OF_A_RUN = {"run", "started_utc", "files", "clients", "commands", "others_percent"}  # what differs between any two runs


def record(folder) -> dict:
    known = msgspec.json.decode((folder / "run.json").read_bytes())
    return {name: value for name, value in known.items() if name not in OF_A_RUN}


@pytest.mark.trial
def test_round_records_what_a_command_records(tmp_path, monkeypatch):
    """The second run of a process has the record of a run by ``lab run``, and leaves the same files."""
    alone = lab("run", SCENARIO, "--stage", STAGE, "--no-draw", cwd=tmp_path).folder
    monkeypatch.chdir(tmp_path)
    cells = [Cell(stage=STAGE, scenario=SCENARIO, claim="counts_retries_once") for _ in range(2)]
    about = SCENARIO, STAGE, {}, False
    cells = [cell for _, (cell, _) in in_parallel(judged, [(cell, (cell, *about)) for cell in cells], jobs=1)]
    publish_site()  # as a matrix does after its rounds
    second = tmp_path / "reports" / "runs" / cells[1].run
    one, two = record(alone), record(second)

    assert [cell.verdict for cell in cells] == [Verdict.KEPT] * 2
    assert one.pop("command") == f"{two.pop('command')} --no-draw"
    assert one == two
    assert {path.name for path in alone.iterdir()} == {path.name for path in second.iterdir()}


def test_interrupted_round_keeps_what_is_done(tmp_path):
    """Ctrl-C ends the runs in progress at once, and no other begins; the cells that have run are in the matrix."""
    words = ("--stage", "none", "--scenario", "rush", "--scenario", "work_outlasts_ttl", "--repeat", "90", "--jobs", "1")
    one = Started(tmp_path, "experiment", "matrix", *words, "--out", "out")
    wait_for(lambda: list(tmp_path.glob("reports/runs/2*/verdict.json")), within_s=90)
    wait_for(lambda: list(tmp_path.glob("reports/runs/.*.part")), within_s=90)
    family = one.descendants()

    one.process.send_signal(signal.SIGINT)
    done = one.end()

    assert done.status == 130, done.err
    assert gone(family)
    assert any(cell.verdict for cell in read(tmp_path / "out").cells)

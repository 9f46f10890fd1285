"""Small sweeps on real servers."""

from __future__ import annotations

import json
import re
import signal

import pytest

from lab.experiments.sweep import load_result
from tests.command import Started, gone, lab, wait_for


@pytest.mark.trial
def test_small_retry_sweep(tmp_path):
    """A small retry sweep counts the commands of polling."""
    done = lab("sweep", "retry", "--values", "5,100", "--repeats", "1", "--requests", "400", "--out", "out", cwd=tmp_path)

    result = load_result(tmp_path / "out")
    often, seldom = sorted(result.points, key=lambda point: point.value)
    assert (done.status, result.partial) == (0, "")
    assert often.figures["commands_per_increment"] > seldom.figures["commands_per_increment"]
    assert re.search(r"2 runs, about \d+ seconds", done.out)
    for point in result.points:
        verdict = json.loads((tmp_path / "reports" / "runs" / point.run / "verdict.json").read_text(encoding="utf-8"))
        assert verdict["commands_per_increment"] == point.figures["commands_per_increment"]


def test_interrupted_sweep_keeps_its_points(tmp_path):
    """An interrupt keeps the points that were measured, and no process goes on."""
    one = Started(tmp_path, "sweep", "ttl", "--values", "0.5,2", "--repeats", "5", "--requests", "20", "--out", "out")
    wait_for((tmp_path / "out" / "sweep.json").exists, within_s=60)
    wait_for(lambda: one.requests_done() > 1, within_s=60)
    running = one.descendants()

    one.process.send_signal(signal.SIGINT)

    done = one.end()
    result = load_result(tmp_path / "out")
    assert (done.status, result.ended) == (130, "interrupted")
    assert gone(running)
    assert 0 < len(result.points) < result.planned == 10
    assert result.partial in (tmp_path / "out" / "sweep.md").read_text(encoding="utf-8")
    assert "nothing is left running" in done.out

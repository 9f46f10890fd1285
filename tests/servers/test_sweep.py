"""Small sweeps on real servers."""

from __future__ import annotations

import json
import re
import signal

import pytest

from lab.errors import ExitStatus
from lab.experiments.sweep import LOST_SHARE, load_result
from tests.command import Started, gone, lab, run, wait_for


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


@pytest.mark.trial
def test_small_ttl_sweep(tmp_path):
    """A small TTL sweep shows losses beyond the TTL, and none below it.

    A lock that is renewed is not in it: on a busy machine, a renewal within 67 ms can come too late.
    """
    words = ["sweep", "ttl", "--values", "0.2,1.5", "--repeats", "1", "--out", "out"]
    done = lab(*words, cwd=tmp_path)
    if done.status == ExitStatus.NOTHING_SHOWN:  # a busy machine can stop a holder for as long as such a lease
        done = lab(*words, cwd=tmp_path)

    result = load_result(tmp_path / "out")
    shares = {(point.stage, point.value): point.figures[LOST_SHARE] for point in result.points}
    assert (done.status, len(shares)) == (0, 2)
    assert shares["lua", 1.5] > 0.3
    assert shares["lua", 0.2] == 0
    assert not list((tmp_path / "reports" / "runs").glob("*/report.html"))


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


@pytest.mark.trial
def test_pictures_can_be_left_for_later(tmp_path):
    done = run("rush", "incr", tmp_path, draw=True, requests=300)
    left = run("rush", "incr", tmp_path, requests=300)

    assert left.folder != done.folder
    assert json.loads(left.out) == left.verdict
    assert (left.folder / "series.json").exists()
    assert not [path for path in left.folder.iterdir() if path.suffix in (".svg", ".html")]
    assert lab("report", str(left.folder), cwd=tmp_path).status == 0
    assert {path.name for path in done.folder.iterdir()} == {path.name for path in left.folder.iterdir()}

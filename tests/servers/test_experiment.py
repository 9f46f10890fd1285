"""Small experiments on real servers."""

from __future__ import annotations

import json
import signal

from lab.experiments.result import load
from tests.command import Started, gone, lab, wait_for


def test_small_experiment(tmp_path):
    """An experiment measures each value by a run of its own, and writes a file, a table, and a picture in each language."""
    words = ("--values", "5,100", "--repeats", "1", "--requests", "150", "--out", "out")
    done = lab("experiment", "retry", *words, cwd=tmp_path)

    result = load(tmp_path / "out" / "retry.csv")
    often, seldom = sorted(result.points, key=lambda point: float(point.value))
    assert (done.status in (0, 3), result.partial) == (True, "")
    assert often.figures["commands_per_increment"] > seldom.figures["commands_per_increment"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["retry.csv", "retry.md", "retry.svg", "retry.zh.svg"]
    for point in result.points:
        verdict = json.loads((tmp_path / "reports" / "runs" / point.run / "verdict.json").read_text(encoding="utf-8"))
        assert (verdict["verdict"], round(verdict["commands_per_increment"], 2)) == (
            point.verdict,
            round(point.figures["commands_per_increment"], 2),
        )


def test_small_pair(tmp_path):
    """The experiment on locks alone measures a lock side by side with redis-py's; the table has their ratio."""
    words = ("--stage", "lua", "--values", "one client", "--repeats", "1", "--out", "out")
    done = lab("experiment", "locks", *words, cwd=tmp_path)

    result = load(tmp_path / "out" / "locks.csv")
    assert done.status == 0
    assert [(point.stage, point.pair) for point in result.points] == [("lua", 1), ("redis-py", 1)]
    assert all(point.figures["cycles_per_s"] > 0 for point in result.points)
    assert "ratio to redis-py" in (tmp_path / "out" / "locks.md").read_text(encoding="utf-8")


def test_interrupt_keeps_points(tmp_path):
    """An interrupt keeps the points that were measured, and no process goes on."""
    one = Started(tmp_path, "experiment", "ttl", "--values", "0.5,2", "--repeats", "5", "--requests", "20", "--out", "out")
    wait_for((tmp_path / "out" / "ttl.csv").exists, within_s=90)
    wait_for(lambda: one.requests_done() > 1, within_s=90)
    running = one.descendants()

    one.process.send_signal(signal.SIGINT)

    done = one.end()
    result = load(tmp_path / "out" / "ttl.csv")
    assert (done.status, result.about["ended"]) == (130, "interrupted")
    assert gone(running)
    assert 0 < len(result.points) < int(result.about["planned"]) == 20
    assert result.partial in (tmp_path / "out" / "ttl.md").read_text(encoding="utf-8")
    assert "nothing is left running" in done.out

"""Runs over two nodes with different clocks, with and without faults, have the verdicts of local runs.

One deployment serves all of them. The tests need root and a kernel with time namespaces; without these they are skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from lab.evidence import run_folder
from lab.evidence.history import History
from lab.experiments.matrix import expectations
from lab.judge.clock_bounds import bound
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge_again
from tests.containers.two_nodes import APART_S, NODE, Nodes, refusal, two_nodes

MOST_MS = 20.0  # the largest error of a clock's offset on a busy machine; 3 ms is usual
RUNS = [
    ("rush", "lua", {"requests": 300, "wait_ms": 60_000}),  # a waiter that polls may be overtaken for long
    ("rush", "none", {"requests": 300}),
    ("rush", "etcd", {"requests": 300}),
    ("holder_crash", "lua", {}),
    ("frozen_holder", "fencing", {}),
    ("late_writes", "local", {}),
    ("slow_holder", "ttl", {}),
    ("release_race", "uuid", {}),
    ("convoy", "pubsub", {"requests": 40}),
]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory) -> Iterator[Nodes]:
    """Yield the stack on two nodes, and check that nothing of the second node is left afterwards."""
    if why := refusal():
        pytest.skip(f"no run was made on two nodes: the kernel gave this user no namespaces for a second one: {why}")
    with two_nodes(tmp_path_factory.mktemp("nodes")) as up:
        yield up
    for command in (["ip", "link"], ["mount"], ["ps", "-eo", "args"]):
        assert NODE not in subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("scenario", "stage", "options"), RUNS)
def test_verdict_is_the_local_one(scenario, stage, options, nodes, tmp_path, record_property):
    """A run over two nodes has the expected verdict, also if a copy is judged again, and the offset of its clocks is found."""
    for _ in range(2):
        folder = nodes.run(scenario, stage, **options)
        verdict = Judgement.load(folder)
        if verdict.verdict != "VOID":
            break  # a VOID run is no evidence, and is made once more
    record = run_folder.load(folder)
    sent = [json.loads(line) for line in (folder / "requests.jsonl").read_text(encoding="utf-8").splitlines()]
    assert verdict.verdict == expectations()[scenario, stage], verdict.why
    assert (verdict.replicas, verdict.clocks) == (3, 2)
    assert len({record.clock_of[name] for name in {one["worker"] for one in sent}}) == 2  # workers of both nodes
    assert not record.scenario["rate"] or verdict.duration_s > 0.7 * record.scenario["requests"] / record.scenario["rate"]

    found = bound(History(folder), record.clock_of, record.clock_readings)
    ((ahead_ns),) = found.ahead_ns.values()
    record_property("clocks", f"wrong by {ahead_ns / 1e6 - APART_S * 1e3:.3f} ms, at most {verdict.clock_error_ms} ms")
    assert abs(ahead_ns - APART_S * 1e9) <= found.worst_ns <= MOST_MS * 1e6

    again, _ = judge_again(shutil.copytree(folder, tmp_path / "copied"))
    assert again == verdict

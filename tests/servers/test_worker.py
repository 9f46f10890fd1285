"""Runs of one worker are like runs of their own processes."""

from __future__ import annotations

import json

import msgspec
import psutil
import pytest

from lab.experiments.child_run import child_run, warm_runs
from lab.judge.judgement import Verdict
from tests.command import lab

WORDS = ("retry_counts_twice", "--stage", "lua", "--no-draw")
OF_A_RUN = {"run", "started_utc", "files"}  # what differs between any two runs


def record(folder) -> dict:
    known = msgspec.json.decode((folder / "run.json").read_bytes())
    return {name: value for name, value in known.items() if name not in OF_A_RUN}


@pytest.mark.trial
def test_worker_records_what_a_process_records(tmp_path):
    """The second run of a worker has the record of a run in a process of its own, and leaves the same files."""
    before = set(psutil.Process().children(recursive=True))  # of other tests
    alone = lab("run", *WORDS, "--json", cwd=tmp_path).folder
    with warm_runs():
        judgements = [child_run(WORDS, tmp_path) for _ in range(2)]
        left = [one.name() for one in set(psutil.Process().children(recursive=True)) - before]
    second = (tmp_path / "reports" / "runs" / "latest").resolve()
    one, two = record(alone), record(second)

    assert [judgement.verdict for judgement in judgements] == [Verdict.KEPT] * 2
    assert second.name == judgements[1].run
    assert sorted(two.pop("command").split()) == sorted(one.pop("command").split())
    assert [len(record.pop("clients")) > 0 for record in (one, two)] == [True, True]  # whose ports differ
    for counts in (*one.pop("commands").values(), *two.pop("commands").values()):
        assert sum(counts.values()) > 0
    assert one == two
    assert {path.name for path in alone.iterdir()} == {path.name for path in second.iterdir()}
    assert not {"nginx", "redis-server"} & set(left)
    assert json.loads((second / "journal" / "replica-1.jsonl").read_text(encoding="utf-8").splitlines()[0])["what"] == "started"

"""A fault that is one file runs on real servers, and the judge needs no more than the record of it."""

from __future__ import annotations

from pathlib import Path

from app.locks import stage
from lab.evidence.history import History
from lab.evidence.loss import Mechanism
from lab.judge.verdict import judge
from lab.pipeline import conduct
from lab.scenario.scenario import override
from lab.servers.supervisor import supervised
from tests.new_fault import KIND, with_new_fault
from tests.trial import by_threads, is_evidence

MOST = 2  # runs; a busy machine can keep one from its danger


def test_new_fault_on_real_servers(new_fault, tmp_path):
    """The judge does not know the file: it reads the effect in the record, and finds the mechanism of that effect."""
    new_fault("STORE")
    one = stage("watchdog")
    with supervised() as supervisor:
        scenario = override(with_new_fault("renewal_stalls"), one, {})
        for _ in range(MOST):
            done = conduct(supervisor, one, scenario, by_threads(scenario), "a test", reports=tmp_path)
            if is_evidence(done.judgement):
                break

    (record,) = History(done.folder.path).faults()
    assert (record.kind, record.effect) == (KIND, "store_silent")
    assert record.recovered_ns - record.at_ns >= 900_000_000
    assert done.record.scenario["faults"][0]["target"] == "store"
    assert done.judgement.verdict == "ADMITTED", done.judgement
    (tmp_path / "shelf" / f"{KIND}.py").unlink()
    again, _ = judge(Path(done.folder.path))
    assert again == done.judgement
    assert {violation.mechanism for violation in again.violations} == {Mechanism.STORE_SILENT_PAST_TTL}

"""The exact account of what a run lost."""

from lab.evidence.loss import Mechanism
from lab.judge.verdict import judge
from lab.language import Language
from lab.report import run_data, run_page
from lab.report.run_data import Cause, Result
from lab.report.run_page import RunPage
from tests.builders import made_run, result_of


def lossy(tmp_path, lost: int, causes: list[Cause], **figures) -> Result:
    return result_of(tmp_path, causes, **{"acknowledged": 5000, "writes": 5000, "lost": lost, "final": 5000 - lost} | figures)


def account_of(result: Result) -> list[Cause]:
    return RunPage(result, 0, Language.ENGLISH).account


def test_unconfirmed_writes_have_a_line(tmp_path):
    """What no mechanism took is a line of its own."""
    found = account_of(lossy(tmp_path, 3, [Cause(Mechanism.NO_LOCK, 4, 2, 2)]))

    assert [(line.mechanism, line.net) for line in found] == [(Mechanism.NO_LOCK, 2), (Mechanism.WRITE_UNCONFIRMED, 1)]


def test_series_have_the_writes(tmp_path):
    """The series record how many writes overwrote increments."""
    folder = made_run(tmp_path / "20260101T000000.000Z-rush-mine-1")
    run_page.keep(folder, *judge(folder))

    assert [(cause.destroyed, cause.writes) for cause in run_data.load(folder).series.causes] == [(1, 1)]

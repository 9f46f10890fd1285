"""The exact account of what a run lost, and charts that draw its net figures."""

import pytest

from lab.evidence.loss import Mechanism
from lab.judge.verdict import judge
from lab.language import Language
from lab.report import run_data, run_page
from lab.report.charts import charts
from lab.report.run_data import Cause, Result
from lab.report.run_page import RunPage
from tests.builders import made_run, result_of


def lossy(tmp_path, lost: int, causes: list[Cause], **figures) -> Result:
    return result_of(tmp_path, causes, **{"acknowledged": 5000, "writes": 5000, "lost": lost, "final": 5000 - lost} | figures)


def account_of(result: Result) -> list[Cause]:
    return RunPage(result, 0, Language.ENGLISH).account


@pytest.fixture
def none(tmp_path) -> Result:
    """A run whose writes overwrote more than what is lost in the end."""
    causes = [Cause(Mechanism.NO_LOCK, 1936, 285, 900), Cause(Mechanism.PROCESS_LOCAL, 2223, 348, 1100)]
    return lossy(tmp_path, 3526, causes, lost_by={Mechanism.PROCESS_LOCAL: 1875, Mechanism.NO_LOCK: 1651})


def test_unconfirmed_writes_have_a_line(tmp_path):
    """What no mechanism took is a line of its own."""
    found = account_of(lossy(tmp_path, 3, [Cause(Mechanism.NO_LOCK, 4, 2, 2)]))

    assert [(line.mechanism, line.net) for line in found] == [(Mechanism.NO_LOCK, 2), (Mechanism.WRITE_UNCONFIRMED, 1)]


@pytest.mark.whole
def test_charts_draw_net_figures(none):
    """The bars of the causes are net figures."""
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    charts()["mechanisms"].draw(axes, [none])

    assert sorted(bar.get_width() for bar in axes.patches) == [1651, 1875]
    assert "3526" in axes.get_title()


def test_series_have_the_writes(tmp_path):
    """The series record how many writes overwrote increments."""
    folder = made_run(tmp_path / "20260101T000000.000Z-rush-mine-1")
    run_page.keep(folder, *judge(folder))

    assert [(cause.destroyed, cause.writes) for cause in run_data.load(folder).series.causes] == [(1, 1)]

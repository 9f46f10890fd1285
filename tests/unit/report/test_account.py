"""One account of what a run lost: its sentence, its split by cause and the exact account have the same sum."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from lab.evidence.loss import Mechanism
from lab.judge.verdict import judge, weigh
from lab.report import account, pages, run_data
from lab.report.charts import charts
from lab.report.run_data import Cause, Result, Series
from tests.builders import findings_of_ten, made_run, record_of_ten
from tests.every import every

NO_CURVES = {"wait_ms": [], "wait_share": [], "time_s": [], "acknowledged": [], "unknown": [], "value": []}
GROSS = st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900)), max_size=4)


def result_of(tmp_path, lost: int, causes: list[Cause], **figures) -> Result:
    record = record_of_ten()
    judgement = weigh(record, findings_of_ten())
    figures = {"acknowledged": 5000, "writes": 5000, "lost": lost, "final": 5000 - lost} | figures
    series = Series(**NO_CURVES, causes=causes)
    return Result(record=record, judgement=msgspec.structs.replace(judgement, **figures), series=series, folder=tmp_path)


@pytest.fixture
def none(tmp_path) -> Result:
    """A run whose writes overwrote more than what is lost in the end."""
    causes = [Cause(Mechanism.NO_LOCK, 1936, 285, 900), Cause(Mechanism.PROCESS_LOCAL, 2223, 348, 1100)]
    return result_of(tmp_path, 3526, causes)


def test_account_of_losses(none):
    """The parts are net figures, and the gross figures are in the exact account only."""
    one = account.account(none)

    assert one.sentence == "5\u2009000 requests were answered “done”. The counter says 1\u2009474. 3\u2009526 are gone."
    assert one.split == {Mechanism.PROCESS_LOCAL: 1875, Mechanism.NO_LOCK: 1651}
    assert [(line.writes, line.overwritten, line.brought_back, line.net) for line in one.lines] == [
        (1100, 2223, 348, 1875),
        (900, 1936, 285, 1651),
    ]


@settings(deadline=None)  # a busy machine is not what is tested
@given(st.integers(0, 5000), GROSS)
def test_sums_are_what_is_lost(tmp_path_factory, lost, gross):
    """Whatever the writes did: the split and the exact account add up to what is lost."""
    causes = [Cause(f"cause {number}", back, forward, 1) for number, (back, forward) in enumerate(gross)]
    one = account.account(result_of(tmp_path_factory.getbasetemp(), lost, causes))

    assert sum(one.split.values()) == lost
    assert sum(line.net for line in one.lines) == lost


@every(
    "figures, words",
    [
        ({"lost": 0, "final": 5000}, "The counter says 5\u2009000. None is gone."),
        ({"lost": 1, "final": 4999}, "The counter says 4\u2009999. 1 is gone."),
        ({"lost": 9, "final": None}, "The counter could not be read. 9 are gone."),
        (
            {"writes": 5003, "duplicated": 2, "lost": 4, "final": 4999},
            "1 write was made for requests that got no clear answer. The counter says 4\u2009999. 4 are gone.",
        ),
        ({"writes": 4999, "lost": 1, "final": 4999}, "For 1 of these answers no write is on record."),
    ],
)
def test_sentence(tmp_path, figures, words):
    """The sentence names everything that was written, so it leads to what is gone."""
    result = result_of(tmp_path, causes=[], **figures)

    assert words in account.sentence(result.judgement)


def test_unconfirmed_writes_have_a_line(tmp_path):
    """What no mechanism took is a line of its own."""
    one = account.account(result_of(tmp_path, 3, [Cause(Mechanism.NO_LOCK, 2, 0, 2)]))

    assert one.split == {Mechanism.NO_LOCK: 2, Mechanism.WRITE_UNCONFIRMED: 1}
    assert [(line.mechanism, line.overwritten, line.net) for line in one.lines] == [
        (Mechanism.NO_LOCK, 2, 2),
        (Mechanism.WRITE_UNCONFIRMED, None, 1),
    ]


def test_charts_draw_net_figures(none):
    """The bars of the causes are net figures."""
    axes = Figure().add_subplot()
    charts("many")["mechanisms"].draw(axes, [none])

    assert sorted(bar.get_width() for bar in axes.patches) == [1651, 1875]
    assert "3\u2009526" in axes.get_title()


def test_speed_is_that_of_what_was_kept(none):
    """Titles and bars have the increments kept a second; the acknowledged ones are named as such."""
    speed = {"throughput_per_s": 1829.0, "duration_s": 2.0}
    none = msgspec.structs.replace(none, judgement=msgspec.structs.replace(none.judgement, **speed))
    axes = {name: Figure().add_subplot() for name in ("paces", "throughput")}
    for name, drawn in axes.items():
        if name != "throughput":
            curves = msgspec.structs.replace(none.series, time_s=[1.0], acknowledged=[5000], unknown=[0], value=[1474])
            none = msgspec.structs.replace(none, series=curves)
        charts("many")[name].draw(drawn, [none])

    assert "737" in axes["paces"].get_title()
    assert [bar.get_width() for bar in axes["throughput"].patches] == [737]
    assert "acknowledged" in axes["paces"].get_ylabel()


def test_series_have_the_writes(tmp_path):
    """The series record how many writes overwrote increments."""
    folder = made_run(tmp_path / "20260101T000000.000Z-rush-mine-1")
    pages.keep(folder, *judge(folder))

    assert [(cause.destroyed, cause.writes) for cause in run_data.load(folder).series.causes] == [(1, 1)]

"""A stage without a lock has no waits for one, and a picture has no legend for what it does not show."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from lab.report import pages, run_data
from lab.report.charts import charts
from tests.builders import Made, made_run


@pytest.mark.parametrize(("key", "waits"), [("lock", 2), ("", 0)])
def test_waits_need_a_lock(tmp_path, key, waits):
    """The curve of waits is empty where no request named a key."""
    made = (
        Made(tmp_path).increment("a", read=0, overwrote=0, key=key).increment("b", read=1, overwrote=1, at=(4, 5, 6, 7), key=key)
    )

    assert len(run_data.series(made.analyse(final=2)).wait_ms) == waits


def test_legend_has_what_is_drawn(tmp_path):
    """The picture of the counter names unknown requests only where there are some."""
    folder = made_run(tmp_path / "20260101T000000.000Z-rush-mine-1")
    pages.report_run(folder)
    axes = Figure().add_subplot()

    charts("one")["counter"].draw(axes, [run_data.load(folder)])

    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["acknowledged", "the counter", "lost"]

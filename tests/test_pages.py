"""The pages in a real browser: read, moved and looked at as a reader does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.report import report_many, runs_in
from tests.real import run

pytestmark = pytest.mark.real
REFERENCE = Path(__file__).parents[1] / "reports" / "reference"


@pytest.fixture(scope="module")
def lost(tmp_path_factory) -> Path:
    """The page of a run that lost increments."""
    return run("rush", "none", tmp_path_factory.mktemp("lost"), draw=True, requests=600).folder / "report.html"


def test_a_runs_page_can_be_read_by_everybody(browser, lost):
    browser.look(browser.open(lost), "run")


def test_a_comparison_can_be_read_by_everybody(browser, tmp_path):
    page, *_ = report_many(runs_in(REFERENCE), tmp_path)

    browser.look(browser.open(page), "comparison")

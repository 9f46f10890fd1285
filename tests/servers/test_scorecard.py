"""``lab libraries measure`` with real runs: two libraries, two scenarios."""

from __future__ import annotations

import pytest

from lab.libraries.scorecard import INDEX, entries
from tests.command import lab


@pytest.mark.trial
def test_two_libraries_are_measured_once(tmp_path):
    """Of each the runs are kept claim by claim, and the cost next to lua."""
    out = tmp_path / "kept"
    names, scenarios = ["pypi_redis", "pypi_etcd3gw"], ["--scenario", "rush", "--scenario", "work_outlasts_ttl"]
    lab("libraries", "measure", *names, "--rounds", "1", *scenarios, "--out", out, cwd=tmp_path, timeout_s=600)

    of_etcd, of_redis = entries(out)
    for one in (of_etcd, of_redis):
        assert {cell.scenario for claim in one.tested.claims for cell in claim.cells} == {"rush", "work_outlasts_ttl"}
        assert one.tested.speed is not None
        assert one.tested.speed.commands > 0
    longer = of_redis.claim("held_to_the_end")
    assert longer is not None
    assert (longer.promised, longer.verdict, longer.cells[0].lost > 0) == (False, "ADMITTED", True)
    assert (out / INDEX).is_file()

"""Test one run of a round: when it is drawn, and when it has no verdict."""

from types import SimpleNamespace

import pytest

from lab.errors import NothingShown, NotReady
from lab.experiments import runs


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return a list that says of each run whether it was drawn. No run is made: each is BROKEN."""
    found: list[bool] = []
    done = SimpleNamespace(judgement=SimpleNamespace(verdict="BROKEN"))
    monkeypatch.setattr(runs, "fitted", lambda *about: ())
    monkeypatch.setattr(runs, "make_run", lambda *about, reports: done)
    monkeypatch.setattr(runs, "finish", lambda done, draw, is_listed: found.append(draw))
    return found


def test_only_a_surprise_is_drawn(drawn, tmp_path):
    """A run is drawn only if the caller says so, or if its verdict differs from the expected one."""
    for draw, expected in ((False, "KEPT"), (False, "BROKEN"), (False, ""), (True, "BROKEN")):
        runs.make("rush", "lua", {}, draw, expected, tmp_path)

    assert drawn == [True, False, False, True]


@pytest.mark.parametrize("ended", [NotReady("no server"), ValueError("of the lab"), KeyboardInterrupt()])
def test_run_without_a_verdict(drawn, monkeypatch, tmp_path, ended):
    """A run that cannot start, fails or is interrupted raises NothingShown with the command of the run."""

    def fail(*about, reports):
        raise ended

    monkeypatch.setattr(runs, "make_run", fail)

    with pytest.raises(NothingShown, match=r"lab run rush --stage lua --requests 5 (ended without a verdict|was interrupted)"):
        runs.make("rush", "lua", {"requests": 5}, False, "", tmp_path)

"""A run of a round: when it is drawn, and when it has no verdict."""

from types import SimpleNamespace

import pytest

from lab.errors import NothingShown, NotReady
from lab.experiments import runs


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Whether each run was drawn. All runs are BROKEN, and none is made."""
    found: list[bool] = []
    done = SimpleNamespace(judgement=SimpleNamespace(verdict="BROKEN"))
    monkeypatch.setattr(runs, "fitted", lambda *about: ())
    monkeypatch.setattr(runs, "make_run", lambda *about, reports: done)
    monkeypatch.setattr(runs, "finish", lambda done, draw, is_listed: found.append(draw))
    return found


def test_only_a_surprise_is_drawn(drawn, tmp_path):
    """Runs are not drawn unless that is asked for, or another verdict was expected."""
    for draw, expected in ((False, "KEPT"), (False, "BROKEN"), (False, ""), (True, "BROKEN")):
        runs.make("rush", "lua", {}, draw, expected, tmp_path)

    assert drawn == [True, False, False, True]


@pytest.mark.parametrize("ended", [NotReady("no server"), ValueError("of the lab"), KeyboardInterrupt()])
def test_run_without_a_verdict(drawn, monkeypatch, tmp_path, ended):
    """A run that cannot start, fails or is interrupted shows nothing, and the message has its command."""

    def fail(*about, reports):
        raise ended

    monkeypatch.setattr(runs, "make_run", fail)

    with pytest.raises(NothingShown, match=r"lab run rush --stage lua --requests 5 (ended without a verdict|was interrupted)"):
        runs.make("rush", "lua", {"requests": 5}, False, "", tmp_path)

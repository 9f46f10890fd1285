"""Stages that the explorer has no model of are named as such, with the reason."""

from dataclasses import replace

import pytest

from app.locks import stage, stages
from lab.commands import explore, listing
from lab.commands.explore import Unexplored, explored
from lab.errors import ExitStatus
from lab.explore.store.others import why_not
from tests.every import every


@every("name", stages)
def test_every_stage_of_the_lab_is_explored(name):
    """All stores of the lab are known."""
    assert not why_not(stage(name))


def test_refused(monkeypatch):
    """The command shows nothing: its status states it, and its message gives the reason and another command."""
    monkeypatch.setattr(explore, "find_stage", lambda name: replace(stage(name), store="consul"))

    with pytest.raises(Unexplored, match=r"etcd is not explored: it asks consul.*lab run SCENARIO --stage etcd") as caught:
        explored("etcd")
    assert caught.value.exit_status == ExitStatus.NOTHING_SHOWN


@pytest.mark.parametrize("name", ["uuid", "etcd"])
def test_listed(name, capsys):
    """``lab stages NAME`` gives the command."""
    listing.print_stages(name)

    assert f"lab explore {name}" in capsys.readouterr().out

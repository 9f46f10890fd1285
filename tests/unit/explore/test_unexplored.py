"""Stages that the explorer has no model of are named as such, with the reason."""

import pytest

from app.locks import stage, stages
from lab.commands import listing
from lab.commands.explore import Unexplored, explored
from lab.errors import ExitStatus
from lab.explore.unexplored import REASONS, why_not


@pytest.mark.parametrize("name", stages())
def test_every_stage_is_explored_or_has_a_reason(name):
    """A stage is explored, or the reason is known for its store."""
    assert why_not(stage(name)) == REASONS.get(str(stage(name).store), "")


@pytest.mark.parametrize("name", ["etcd", "zookeeper", "mysql_insert"])
def test_refused(name):
    """The command shows nothing: its status states it, and its message gives the reason and another command."""
    with pytest.raises(Unexplored, match=f"{name} is not explored: it asks .*lab run SCENARIO --stage {name}") as caught:
        explored(name)
    assert caught.value.exit_status == ExitStatus.NOTHING_SHOWN


def test_listed(capsys):
    """``lab stages NAME`` gives the command, or the reason."""
    listing.print_stages("uuid")
    listing.print_stages("etcd")

    out = capsys.readouterr().out
    assert "lab explore uuid" in out
    assert "not explored: it asks etcd" in out

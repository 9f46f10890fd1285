"""Test the diff of two stages: it shows the code that the new stage changes, and nothing else."""

import pytest

from app.locks import followers, names, stages
from lab.scenario.stage_diff import changes, difference
from tests.every import every

STAGES = stages()
PAIRS = [(STAGES[one.follows], one) for one in STAGES.values() if one.follows]


@every("old, new", PAIRS)
def test_diff_without_record_and_machinery(old, new):
    """A diff has no line of a stage's record, and none of the renewing thread, except in `watchdog`, which introduces it."""
    changed = [line[1:] for line in difference(old, new) if line[0] in "+-"]

    assert not [line for line in changed if line.startswith(("STAGE", "    lock=", "    follows=", "    gains=", "    loses="))]
    assert new.name == "watchdog" or not [line for line in changed if "Renewer" in line]
    assert not [line for line in changed if line.startswith("class Lock")] or old.name == "none"


def test_stage_with_anothers_lock():
    """A stage that takes its whole lock from another stage changes no code."""
    assert difference(STAGES["etcd"], STAGES["etcd_fenced"]) == []
    assert changes(STAGES["etcd"], STAGES["etcd_fenced"]).settings == (("resource", "read_then_write", "fenced"),)


@pytest.mark.parametrize("name", names())
def test_followers_of_a_stage(name):
    """The followers that are read from the files of the stages are the ones that the imported stages state."""
    assert followers(name) == [one.name for one in STAGES.values() if one.follows == name]

"""The diff of two stages shows what the new stage teaches, and nothing else."""

import pytest

from app.locks import followers, names, stages
from lab.scenario.stage_diff import changes, difference
from tests.every import every

STAGES = stages()
PAIRS = [(STAGES[one.follows], one) for one in STAGES.values() if one.follows]


@every("old, new", PAIRS)
def test_diff_without_record_and_machinery(old, new):
    """No diff shows the record or the machinery of another stage."""
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
    """What is read in the files of the stages is what they state when they are imported."""
    assert followers(name) == [one.name for one in STAGES.values() if one.follows == name]

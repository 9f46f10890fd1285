"""The diff of two stages shows what the new stage teaches, and nothing else."""

import pytest

from app.locks import followers, names, stage, stages
from lab.scenario.stage_diff import changes, code, difference
from tests.every import every

STAGES = stages()
PAIRS = [(STAGES[one.follows], one) for one in STAGES.values() if one.follows]
OLD = """\"\"\"Old.\"\"\"

import time

from app.lock import Stage, claims


class Lock:
    def __init__(self, *given):
        pass

    def run(self, work):
        MACHINE.use(LIMIT)


LIMIT = 3


class Machine:
    def use(self, limit):
        return Part(limit)


class Part:
    pass


MACHINE = Machine()

STAGE = Stage(
    lock=Lock,
    claims=claims("fair exclusive"),
)
"""
NEW = """\"\"\"New.\"\"\"

import time

from app.lock import Stage, claims
from app.locks.old import MACHINE


class Lock:
    def __init__(self, *given):
        pass

    def run(self, work):
        MACHINE.use(LIMIT)
        return work


LIMIT = 3

STAGE = Stage(
    lock=Lock,
    ttl_ms=3000,
    claims=claims("fair reentrant"),
)
"""


@pytest.fixture
def old_and_new(tmp_path, monkeypatch):
    """Two stages of which the new one imports the machinery of the old one."""
    (tmp_path / "old.py").write_text(OLD, encoding="utf-8")
    (tmp_path / "new.py").write_text(NEW, encoding="utf-8")
    monkeypatch.setattr("app.locks.__path__", [*__import__("app.locks").locks.__path__, str(tmp_path)])
    return stage(str(tmp_path / "old.py")), stage(str(tmp_path / "new.py"))


def test_imported_code_is_left_out(old_and_new):
    """What the new stage imports from the old one is left out, with all that only it uses; so are docstring and record."""
    changed = [line for line in difference(*old_and_new) if line[0] in "+-"]
    text, found = "".join(code(old_and_new[0])), changes(*old_and_new)

    assert changed == ["--- old", "+++ new", "+from app.locks.old import MACHINE", "+        return work"]
    assert (text.partition("\n")[0], text.rpartition("\n\n")[2]) == ("import time", "MACHINE = Machine()\n")
    assert [[claim.name for claim in some] for some in (found.gained, found.lost)] == [["reentrant"], ["exclusive"]]
    assert found.settings == (("ttl_ms", None, 3000),)


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

"""The diff of two stages shows what the new stage teaches, and nothing else."""

from __future__ import annotations

import pytest

from app.locks import stage, stages
from lab.scenario.stage_diff import changes, code, difference

STAGES = stages()
PAIRS = [(STAGES[one.follows], one) for one in STAGES.values() if one.follows]
OLD = """\"\"\"Old.\"\"\"

import time

from app.lock import Stage, claims


class Lock:
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


def test_what_the_new_stage_imports_from_the_old_one_is_left_out_with_all_that_only_it_uses(old_and_new):
    changed = [line for line in difference(*old_and_new) if line[0] in "+-"]

    assert changed == ["--- old", "+++ new", "+from app.locks.old import MACHINE", "+        return work"]


def test_the_changes_are_the_promises_gained_and_lost_and_the_settings(old_and_new):
    found = changes(*old_and_new)

    assert [claim.name for claim in found.gained] == ["reentrant"]
    assert [claim.name for claim in found.lost] == ["exclusive"]
    assert found.settings == (("ttl_ms", None, 3000),)


def test_the_code_is_the_file_without_docstring_and_record(old_and_new):
    text = "".join(code(old_and_new[0]))

    assert text.startswith("import time\n")
    assert text.endswith("MACHINE = Machine()\n")
    assert "Old." not in text


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=[new.name for _, new in PAIRS])
def test_no_diff_shows_the_record_or_the_machinery_of_another_stage(old, new):
    changed = [line[1:] for line in difference(old, new) if line[0] in "+-"]

    assert not [line for line in changed if line.startswith(("STAGE", "    lock=", "    follows=", "    claims="))]
    assert new.name == "watchdog" or not [line for line in changed if "Renewer" in line]
    assert not [line for line in changed if line.startswith("class Lock")] or old.name == "none"


def test_a_stage_that_takes_its_whole_lock_from_another_changes_no_code():
    assert difference(STAGES["etcd"], STAGES["etcd_fenced"]) == []
    assert changes(STAGES["etcd"], STAGES["etcd_fenced"]).settings == (("resource", "read_then_write", "fenced"),)

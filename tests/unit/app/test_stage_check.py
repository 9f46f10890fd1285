"""Test that a stage file with a wrong record is refused when it is read, with the key, the value and the choices."""

import pytest

from app import settings
from app.locks import NotAStage, stage
from app.shelf import plugins
from app.shelf.stage_check import LONGEST_MS
from lab.errors import BadInput
from lab.scenario import options
from lab.scenario.stages import find_stage
from tests.every import every

HEAD = '''"""Mine."""
from app.lock import Claim, Stage, claims


class Mine:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        pass

    def run(self, work):
        pass


class NoRun:
    pass


class NoParameters:
    def run(self, work):
        pass


class NoWork(Mine):
    def run(self):
        pass


'''
FIRST = len(HEAD.splitlines()) + 1


def refusal(folder, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(HEAD + text, encoding="utf-8")
    with pytest.raises(NotAStage) as refused:
        stage(str(path))
    return str(refused.value)


@every(
    "keys, words",
    [
        ("lock=int", ["lock must be a class", "not the class int"]),
        ("lock=NoRun", ["lock must be a class with the method run(work)", "NoRun"]),
        ("lock=Mine(1, 2, 3, 4, 5)", ["lock must be a class", "an object of the class Mine"]),
        ("lock=NoParameters", ["must be made as Lock(store, key, ttl_ms, wait_ms, retry_ms)", "NoParameters cannot"]),
        ("lock=NoWork", ["NoWork.run must take the work"]),
        ("lock=Mine, lease=True", ["must be made as Lock(", "lease_ms"]),
        ("lock=Mine, lease='yes'", ["lease must be True or False, not 'yes'"]),
        ("lock=Mine, store='etcd', by_lane=True", ["by_lane needs store = 'redis' or 'redis_nodes', not 'etcd'"]),
        ("worker=['true'], store='redis', by_lane=True", ["by_lane is for a lock in the replica's own process"]),
        ("lock=Mine, follows='lau'", ["follows = 'lau' is not known", "Did you mean 'lua'? `lab list stages` lists all."]),
        ("lock=Mine, store='rediss'", ["store = 'rediss' is not known", "Did you mean 'redis'?"]),
        ("lock=Mine, store='redis_subscriptions'", ["store = 'redis_subscriptions' is not known"]),
        ("lock=Mine, store=''", ["store = '' is not known"]),
        ("lock=Mine, resource='fensed'", ["resource = 'fensed'", "Did you mean 'fenced'"]),
        ("lock=Mine, store='redis', resource='mysql_row'", ["resource = 'mysql_row' is in the store 'mysql'", "'redis'"]),
        ("lock=Mine, claims=['exclusive']", ["claims must be claims(", "not ['exclusive']"]),
        ("lock=Mine, claims=frozenset({3})", ["claims must be claims(", "frozenset({3})"]),
        ("lock=Mine, follows='uid', loses='exclusive'", ["follows = 'uid' is not known", "Did you mean 'uuid'"]),
        ("lock=Mine, ttl_ms=0", ["ttl_ms must be", "at least 1", "not 0"]),
        ("lock=Mine, ttl_ms=True", ["ttl_ms must be", "not True"]),
        ("lock=Mine, ttl_ms=10**20", ["ttl_ms must be", "at most 86\u2009400\u2009000"]),
        ("lock=Mine, ttl_step_ms=0", ["ttl_step_ms must be", "not 0"]),
        ("lock=Mine, ttl_ms=1500, ttl_step_ms=1000", ["ttl_ms = 1500 is not a multiple of ttl_step_ms = 1000"]),
    ],
)
def test_wrong_key_is_refused(tmp_path, keys, words):
    """A wrong key of a stage's record is refused in one line, without an address in memory."""
    said = refusal(tmp_path, f"\nSTAGE = Stage(\n    {keys},\n)\n")

    assert [word for word in words if word not in said] == []
    assert "\n" not in said
    assert "0x" not in said


@every(
    "text, words",
    [
        ("", ["no STAGE = Stage(…) in it"]),
        ("STAGE = None", ["no STAGE = Stage(…) in it"]),
        ("STAGE = 5", ["STAGE must be Stage(…), not 5"]),
        ("STAGE = Mine", ["STAGE must be Stage(…), not the class Mine"]),
        ("STAGE = {'lock': Mine}", ["STAGE must be Stage(…)"]),
    ],
)
def test_no_record(tmp_path, text, words):
    """A file without a record, or with another object in its place, is refused."""
    said = refusal(tmp_path, text)

    assert [word for word in words if word not in said] == []


def test_claims_are_given_twice(tmp_path):
    """A stage that states both all its claims and the changes of its claims is refused."""
    keys, words = (
        "claims=claims('fair'), gains='reentrant'",
        "give either all claims in claims, or the changes in gains and loses",
    )
    (tmp_path / "mine.py").write_text(f"{HEAD}STAGE = Stage(Mine, follows='uuid', {keys})", encoding="utf-8")

    with pytest.raises(BadInput, match=rf"line {FIRST}: ValueError: {words}$"):
        find_stage(str(tmp_path / "mine.py"))


def test_one_limit_of_times():
    """A stage, a replica and a scenario have the same limit for times."""
    assert LONGEST_MS == settings.LONGEST_MS == options.LONGEST_MS


def test_import_that_never_ends(tmp_path, monkeypatch):
    """A file whose import does not end in time is refused, with the line at which it waits."""
    monkeypatch.setattr(plugins, "IMPORT_S", 1)
    (tmp_path / "mine.py").write_text("import threading\nthreading.Event().wait()", encoding="utf-8")

    with pytest.raises(BadInput, match=r"line 2: TimeoutError: the import did not end within 1 s"):
        find_stage(str(tmp_path / "mine.py"))

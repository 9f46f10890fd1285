"""The levels against a real Redis: what a page lets its player do is what happens."""

from __future__ import annotations

import random
import textwrap
from contextlib import closing

import pytest

from app.locks import stage
from lab.errors import ExitStatus
from lab.explore.decision import Explorer
from lab.explore.play import page
from lab.explore.play.levels import LEVELS, LevelKind, own_levels
from lab.explore.questions import PAIR
from lab.explore.search.event import parse
from lab.explore.search.replay import walk_live
from lab.scenario.stages import find_stage
from tests.command import lab
from tests.pages import data_of

PLAYS = 200  # over all levels


def random_play(level, chance):
    """Return the events of a random play of a page, to its end, and what the page reports as broken."""
    state, events, broken = 0, [], []
    while flat := level["moves"][state]:
        event, state, _, found = chance.choice([flat[place : place + 4] for place in range(0, len(flat), 4)])
        events.append(level["events"][event])
        broken.append({claim for claim, _ in level["findings"][found]})
    return events, broken


@pytest.mark.parametrize("level", LEVELS, ids=[level.name for level in LEVELS])
def test_plays_of_a_page_happen(level, real, levels):
    """Random plays of each page are possible on an empty server, and break there what the page reports."""
    kept = data_of(levels / f"{level.name}.html")
    question, chance = level.question, random.Random(level.name)

    with closing(Explorer(stage(level.stage), real)) as explorer:
        world = explorer.world(question.task, PAIR)
        for _ in range(PLAYS // len(LEVELS) + 1):
            events, broken = random_play(kept, chance)
            moves = walk_live(world, parse("".join(events)), question.horizon_ms).moves
            found = [{finding.claim.name for finding in move.found} for move in moves]
            assert found[:-1] == broken[:-1]
            assert found[-1] <= broken[-1]  # with the last event, the page reports what the end of a schedule breaks as well


def test_level_that_takes_too_long(real, tmp_path, monkeypatch):
    """A level whose search is not over in time is left out, with the level of the same moves; the others have their pages."""
    levels, make = {level.name: level for level in LEVELS}, page.make

    def too_slow(level, *others, **options):
        if level.name != "incr":
            raise page.Unfinished("it is too slow")
        return make(level, *others, **options)

    monkeypatch.setattr(page, "make", too_slow)
    index, left_out = page.write([levels[name] for name in ("uuid-pause", "lua-same-pause", "incr")], real, tmp_path)

    assert left_out == ["uuid-pause", "lua-same-pause"]
    assert index == tmp_path / "index.html"
    assert {path.name for path in tmp_path.glob("*.html")} == {"incr.html", "incr.zh.html", "index.html", "index.zh.html"}
    monkeypatch.setattr(page, "make", make)
    monkeypatch.setattr(page, "SEARCH_S", 0.0)
    with pytest.raises(page.Unfinished):
        page.write([levels["watchdog-pause"]], real, tmp_path)


NOTICES = """
    'Deletes its key without a look, if the store does not know its script.'
    import time
    import redis
    from app.lock import Grant, Stage, claims
    class Lock:
        def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
            self.store, self.key = store, key
        def run(self, work):
            while not self.store.set(self.key, "locked", nx=True, px=3000):
                time.sleep(0.03)
            result = work(Grant(self.key))
            try:
                self.store.evalsha("f" * 40, 1, self.key)
            except redis.exceptions.NoScriptError:
                self.store.delete(self.key)
            return result
    STAGE = Stage(lock=Lock, store="redis", claims=claims("exclusive"), ttl_ms=3000)
"""


def test_a_lock_that_notices_its_scripts(real, tmp_path):
    """A lock that does something else if its script is not loaded has levels: its search begins again when that is noticed."""
    (tmp_path / "notices.py").write_text(textwrap.dedent(NOTICES), encoding="utf-8")
    level, *_ = own_levels(find_stage(str(tmp_path / "notices.py")))

    assert [one.level.kind for one in page.make(level, real)] == [LevelKind.DECIDE]


@pytest.mark.trial  # a minute of both cores
def test_own_file(tmp_path):
    """A file of one's own gets levels: for each claim that a fault breaks, and for faults that break nothing."""
    (tmp_path / "my_lock.py").write_text(stage("setnx").path.read_text(encoding="utf-8"), encoding="utf-8")

    done = lab("play", "./my_lock.py", cwd=tmp_path)

    assert done.status == ExitStatus.GOOD
    assert done.out.strip() == "reports/play/index.html"
    names = {path.stem for path in (tmp_path / "reports" / "play").iterdir()}
    assert {"index", "my_lock-freed_after_crash", "my_lock-pauses"} <= names
    assert "my_lock-releases_atomically" not in names

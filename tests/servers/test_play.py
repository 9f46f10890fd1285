"""Levels whose search takes too long, and the level of a lock that notices its scripts."""

from __future__ import annotations

import textwrap

import pytest

from lab.explore.play import page
from lab.explore.play.levels import LEVELS, LevelKind, own_levels
from lab.scenario.stages import find_stage


def test_level_that_takes_too_long(real, tmp_path, monkeypatch):
    """A level whose search takes too long is left out, with the level that repeats its moves; other levels get their pages."""
    levels, prepare = {level.name: level for level in LEVELS}, page.prepare

    def too_slow(level, *others, **options):
        if level.name != "incr":
            raise page.Unfinished("it is too slow")
        return prepare(level, *others, **options)

    monkeypatch.setattr(page, "prepare", too_slow)
    index, left_out = page.write([levels[name] for name in ("uuid-pause", "lua-same-pause", "incr")], real, tmp_path)

    assert left_out == ["uuid-pause", "lua-same-pause"]
    assert index == tmp_path / "index.html"
    assert {path.name for path in tmp_path.glob("*.html")} == {"incr.html", "incr.zh.html", "index.html", "index.zh.html"}
    monkeypatch.setattr(page, "prepare", prepare)
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
    """A lock that acts differently if its script is not loaded has a level: its search begins again when that is noticed."""
    (tmp_path / "notices.py").write_text(textwrap.dedent(NOTICES), encoding="utf-8")
    level, *_ = own_levels(find_stage(str(tmp_path / "notices.py")))

    assert [one.level.kind for one in page.prepare(level, real)] == [LevelKind.DECIDE]

"""The kept levels against a real Redis: what a page lets its player do is what happens."""

from __future__ import annotations

import json
import random
import re

import pytest

from app.locks import stage
from lab.commands.explore import redis_server
from lab.errors import ExitStatus
from lab.explore.decision import horizon_ms
from lab.explore.event import parse
from lab.explore.program import Program
from lab.explore.replay import walk_live
from lab.paths import REFERENCE
from lab.play.level import CLIENTS
from lab.play.levels import LEVELS
from tests.command import lab

PLAYS = 200  # over all levels


@pytest.fixture(scope="module")
def real():
    """A Redis server for the explorer alone."""
    with redis_server() as server:
        yield server


def random_play(level, chance):
    """Return the events of a random play of a page, to its end, and what the page reports as broken."""
    state, events, broken = 0, [], []
    while flat := level["moves"][state]:
        event, state, _, found = chance.choice([flat[place : place + 4] for place in range(0, len(flat), 4)])
        events.append(level["events"][event])
        broken.append({claim for claim, mechanism in level["findings"][found] if mechanism != "a request waits for ever"})
    return events, broken


@pytest.mark.parametrize("level", LEVELS, ids=[level.name for level in LEVELS])
def test_plays_of_a_page_happen(level, real):
    """Random plays of each page are possible on an empty server, and break there what the page reports."""
    text = (REFERENCE / "play" / f"{level.name}.html").read_text(encoding="utf-8")
    kept = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
    program = Program(stage(level.stage), level.ttl_ms, level.work_ms, real)
    chance = random.Random(level.name)

    for _ in range(PLAYS // len(LEVELS) + 1):
        events, broken = random_play(kept, chance)
        until_ms = horizon_ms(CLIENTS, level.ttl_ms, level.work_ms)
        moves = walk_live(program, CLIENTS, parse("".join(events)), until_ms, real)
        assert [{finding.claim.name for finding in move.found} for move in moves] == broken


def test_own_file(tmp_path):
    """A file of one's own gets levels: for each claim that a fault breaks, and for faults that break nothing."""
    (tmp_path / "my_lock.py").write_text(stage("setnx").path.read_text(encoding="utf-8"), encoding="utf-8")

    done = lab("play", "./my_lock.py", cwd=tmp_path)

    assert done.status == ExitStatus.GOOD
    assert done.out.strip() == "reports/play/index.html"
    names = {path.stem for path in (tmp_path / "reports" / "play").iterdir()}
    assert {"index", "my_lock-freed_after_crash", "my_lock-1_pause"} <= names
    assert "my_lock-releases_atomically" not in names

"""The kept levels: what a page holds agrees with itself, and with the shelf of levels."""

import base64
import hashlib
import json
import re
from collections import deque
from functools import cache

from markupsafe import escape

from app.locks import stage
from lab.explore.search.event import parse, short
from lab.paths import HOME, REFERENCE
from lab.play.board import stage_code
from lab.play.encoding import merged
from lab.play.levels import LEVELS, LevelKind
from lab.play.page import MOST_BYTES, write_list
from lab.report.run_page import LEVELS as LEVELS_OF_RUNS
from tests.every import every
from tests.pages import assert_self_contained

PLAY = REFERENCE / "play"
NAMES = [level.name for level in LEVELS]
ROW = 8  # two panes, the lock, the counter, the clock, the faults that are left, the increments written, the distance


@cache
def data(name):
    text = (PLAY / f"{name}.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def moves(level, state):
    flat = level["moves"][state]
    return [flat[place : place + 4] for place in range(0, len(flat), 4)]


def reaches(level, move):
    return any(claim in level["goal"] for claim, _ in level["findings"][move[3]])


def test_every_level_is_kept():
    """The folder holds the pages of the levels, the index, the list for the pages of runs, and nothing else."""
    assert {path.name for path in PLAY.iterdir()} == {"index.html", LEVELS_OF_RUNS, *(f"{name}.html" for name in NAMES)}


def test_runs_find_their_level(tmp_path):
    """The kept list names the levels that are to be broken, with what wins them."""
    write_list(LEVELS, tmp_path)

    assert (PLAY / LEVELS_OF_RUNS).read_bytes() == (tmp_path / LEVELS_OF_RUNS).read_bytes()


@every("name", ["index", *NAMES])
def test_the_policy_allows_what_is_in_the_page(name):
    """A page is one file of at most 160 KB. Its policy names each style and script by its hash, and allows nothing else."""
    text = (PLAY / f"{name}.html").read_text(encoding="utf-8")
    assert (PLAY / f"{name}.html").stat().st_size <= MOST_BYTES
    assert_self_contained(PLAY / f"{name}.html")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    inside = re.findall(r"<(style|script)>(.*?)</\1>", text, re.DOTALL)

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    hashes = {base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() for _, content in inside}
    assert hashes == set(re.findall(r"'sha256-([^']*)'", policy))


@every("name", NAMES)
def test_the_tables_hold_all_that_is_named(name):
    """Each state and each move names places that its tables have, and each event can be read."""
    level = data(name)
    tables = ["panes", "panes", "locks", "counters", None, "left", None, None]

    for row in level["states"]:
        assert len(row) == ROW
        assert all(place < len(level[table]) for place, table in zip(row, tables, strict=True) if table)
    assert len(level["moves"]) == len(level["states"])
    for state in range(len(level["states"])):
        for event, after, report, found in moves(level, state):
            assert after < len(level["states"])
            assert event < len(level["events"])
            assert report < len(level["reports"])
            assert found < len(level["findings"])
            assert all(place < len(level["sentences"]) for place in level["reports"][report][0])
    assert all(short(parse(event)) == event for event in level["events"])
    assert level["findings"][0] == []


@every("name", NAMES)
def test_the_distances_are_right(name):
    """The distance of a state is the number of events of a shortest way to the goal, searched forwards; -1 without a way."""
    level = data(name)

    for state in range(0, len(level["states"]), 7):
        assert level["states"][state][-1] == shortest_way(level, state)
    assert level["states"][0][-1] == (level["par"] or -1)


def shortest_way(level, start):
    far = {start: 0}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if any(reaches(level, move) for move in moves(level, state)):
            return far[state] + 1
        for _, after, _, _ in moves(level, state):
            if after not in far:
                far[after] = far[state] + 1
                queue.append(after)
    return -1


@every("name", NAMES)
def test_the_shortest_schedule_is_in_the_graph(name):
    """The shortest schedule can be played, has as many events as the page states, and only its last event reaches the goal."""
    level = data(name)
    state, reached = 0, []
    for event in map(str, parse(level["shortest"])):
        move = next(move for move in moves(level, state) if level["events"][move[0]] == event)
        reached.append(reaches(level, move))
        state = move[1]

    assert len(reached) == level["par"]
    assert reached == [False] * (level["par"] - 1) + [True] * bool(level["par"])


@every("level", LEVELS)
def test_a_level_asks_what_its_page_answers(level):
    """A claim to break can be broken; moves are given where they are to be played again; the counts fit."""
    kept = data(level.name)

    assert kept["kind"] == level.kind.name
    assert kept["goal"] == [claim.name for claim in level.claims]
    assert 0 <= kept["breaking"] <= kept["schedules"]
    assert bool(kept["breaking"]) == bool(kept["par"])
    assert kept["par"] or level.kind is not LevelKind.BREAK
    assert kept["given"] == (data(level.moves_of)["shortest"] if level.moves_of else "")


@every("name", NAMES)
def test_the_next_line_is_in_the_page(name):
    """Each command that a client sends next belongs to a line that the page shows."""
    text = (PLAY / f"{name}.html").read_text(encoding="utf-8")
    for _, _, threads, _, _ in data(name)["panes"]:
        for _, kind, command, line, work_line, _ in threads:
            if kind == "command":
                assert line or work_line, command
                assert not line or f'<li class="matters" data-line="{line}"' in text
                assert not work_line or f'<li class="matters" data-work="{work_line}"' in text


def test_the_first_levels_fold_their_code():
    """The first page shows each command with the name of its function, and nothing else, until the reader asks for all."""
    short = [name for name in NAMES if '<main class="play" data-code="short">' in (PLAY / f"{name}.html").read_text("utf-8")]
    lines = re.findall(r'<li class="matters"[^>]*>(.*?)</li>', (PLAY / "none.html").read_text(encoding="utf-8"))
    own, of_work = ([one for one in lines[: len(lines) // 2] if ("brief" in one) == brief] for brief in (False, True))  # client A

    assert short == NAMES[:4]
    assert [line.strip().partition("(")[0] for line in own] == ["def run", "return work"]
    assert re.findall("<code[^>]*>(.*?)</code>", "".join(of_work)) == ["GET n", "SET n … GET"]


def test_some_levels_cannot_be_broken():
    """Of the levels that ask whether they can be broken, some can and some cannot: the kind gives nothing away."""
    asked = [bool(data(level.name)["par"]) for level in LEVELS if level.kind is LevelKind.DECIDE]

    assert set(asked) == {True, False}


@every("level", LEVELS)
def test_page_and_stage_are_of_today(level):
    """A page shows the stage as it is, and leads to its chapters. ``lab play --out reports/reference/play`` writes them again."""
    text = (PLAY / f"{level.name}.html").read_text(encoding="utf-8")
    found = [(PLAY / one).resolve() for one in re.findall(r'<a class="(?:en|zh) chapter" href="([^"]*)"', text)]
    code = stage_code(stage(level.stage).path)

    assert found == [HOME / "docs" / place / f"{level.stage}.md" for place in ("ladder", "zh/ladder")]
    assert [line for line in code if line.text and f'data-line="{line.number}">{escape(line.text)}</li>' not in text] == []


def test_states_that_differ_later_stay_apart():
    """Two states that look the same are one where the same can follow, and two where it cannot."""
    states = [[0], [1], [1], [1], [2], [3]]
    moves = [[0, 1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0], [0, 4, 0, 0], [0, 4, 0, 0], [0, 5, 0, 0], [], []]

    kept, after = merged(states, moves)

    assert kept == [[0], [1], [1], [2], [3]]
    assert after == [[0, 1, 0, 0, 1, 1, 0, 0, 2, 2, 0, 0], [0, 3, 0, 0], [0, 4, 0, 0], [], []]

"""The pages of the levels: each page agrees with itself, with the list of levels, and with a real Redis."""

import random
import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

from app.locks import stage
from lab.explore.decision import Explorer
from lab.explore.play.levels import LEVELS, Level, LevelKind
from lab.explore.play.page import TEMPLATES
from lab.explore.questions import PAIR
from lab.explore.search.event import parse
from lab.explore.search.replay import walk_live
from lab.explore.store.real_redis import RealRedis, redis_server
from lab.paths import HOME
from tests.every import every
from tests.pages import assert_self_contained, data_of

MOST_BYTES = 140_000  # of a page
PLAYS = 12  # random plays of each page
KEPT = HOME / "docs" / "play"  # the levels that git keeps
NAMED = {level.name: level for level in LEVELS}
ENGLISH = re.compile(r"[A-Za-z’]+ [a-z’]+")  # two words in a row
COMMAND = re.compile(r"发送 .*。$")  # a command stays as it is


def text_of(levels: Path, name: str) -> str:
    return (levels / f"{name}.html").read_text(encoding="utf-8")


def data(levels: Path, name: str, which: str = "data") -> dict:
    return data_of(levels / f"{name}.html", which)


def moves(level, state):
    flat = level["moves"][state]
    return [flat[place : place + 4] for place in range(0, len(flat), 4)]


def reaches(level, move):
    return any(claim in level["goal"] for claim, _ in level["findings"][move[3]])


def made(levels: Path) -> list[Level]:
    """Return the levels whose pages were made."""
    return [level for level in LEVELS if (levels / f"{level.name}.html").exists()]


def each_page(*others: str) -> Callable[[Callable[..., None]], Callable[[Path], None]]:
    """Run a test for each page that was made, by its name, and for other pages. All names that fail are reported."""
    return lambda test: lambda levels: every("name", [*others, *(one.name for one in made(levels))])(test)(levels=levels)


@each_page("index")
def test_a_page_is_one_small_file(levels, name):
    """A page is one file of at most 140 KB, and loads nothing."""
    for page in (levels / f"{name}.html", levels / f"{name}.zh.html"):
        assert page.stat().st_size <= MOST_BYTES
        assert_self_contained(page)


@every("name", sorted(page.name.removesuffix(".html") for page in KEPT.glob("*.html") if not page.name.startswith("index")))
def test_the_levels_in_the_documents_are_up_to_date(levels, name):
    """A page in docs/play has the data and script that ``lab play`` writes now; ``lab play none --out docs/play`` renews it."""
    varies = dict.fromkeys(("after", "next", "findings", "moves"))  # links, and claims in no fixed order
    both = [data(folder, name) | varies | data(folder, name, "texts") for folder in (KEPT, levels)]
    assert both[0] == both[1]
    assert (TEMPLATES / "play.js").read_text(encoding="utf-8").strip() in text_of(KEPT, name)


@each_page()
def test_the_distances_are_right(levels, name):
    """The distance of a state (each seventh is checked) is the number of events on a shortest way to the goal; -1: no way."""
    level = data(levels, name)

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


@each_page()
def test_a_level_asks_what_its_page_answers(levels, name):
    """A page has its level's kind and claims, a schedule that breaks a claim if there is one, and the moves to play again."""
    level, kept = NAMED[name], data(levels, name)

    assert kept["kind"] == level.kind.name
    assert kept["goal"] == [claim.name for claim in level.claims]
    assert 0 <= kept["breaking"] <= kept["schedules"]
    assert bool(kept["breaking"]) == bool(kept["par"])
    assert kept["par"] or level.kind is not LevelKind.BREAK
    assert kept["given"] == (data(levels, level.moves_of)["shortest"] if level.moves_of else "")


@each_page()
def test_the_next_line_is_in_the_page(levels, name):
    """Each command that a client sends next belongs to a line that the page shows."""
    text = text_of(levels, name)
    for _, _, threads, _, _ in data(levels, name)["panes"]:
        for _, kind, command, line, work_line, _ in threads:
            if kind == "command":
                assert line or work_line, command
                assert not line or f'<li class="matters" data-line="{line}"' in text
                assert not work_line or f'<li class="matters" data-work="{work_line}"' in text


class Texts(HTMLParser):
    """The texts of a page that its reader sees, without code."""

    SILENT = ("script", "style", "code", "kbd", "noscript", "title")

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[tuple[str, bool]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in ("meta", "link", "input", "br"):
            is_silent = "code" in (attributes.get("class") or "").split() or attributes.get("id") == "language"
            self.inside.append((tag, tag in self.SILENT or is_silent))
        self.texts.append(attributes.get("aria-label") or "")

    def handle_endtag(self, tag):
        if tag not in ("meta", "link", "input", "br"):
            self.inside.pop()

    def handle_data(self, data):
        if not any(silent for _, silent in self.inside):
            self.texts.append(data)


@each_page("index")
def test_chinese_page(levels, name):
    """A Chinese page has no English sentence in its texts and labels; code and commands stay."""
    page = Texts()
    page.feed(text_of(levels, f"{name}.zh"))

    assert [one for one in page.texts if ENGLISH.search(one) or one.strip() == "."] == []


@each_page()
def test_chinese_of_a_page(levels, name):
    """Each sentence that the scripts of a Chinese page can write is Chinese."""
    level, texts = data(levels, f"{name}.zh"), data(levels, f"{name}.zh", "texts")
    mechanisms = [mechanism for finding in level["findings"] for _, mechanism in finding]
    truths = [level["words"][truth] for *_, truth in level["panes"]]
    promises = [promise for promise, _ in level["promises"].values()]
    chinese = [*texts.values(), *level["sentences"], *mechanisms, *truths, *promises, level["lesson"]]

    assert [one for one in chinese if ENGLISH.search(COMMAND.sub("", re.sub(r"`[^`]*`", "", one)))] == []


def random_play(level, chance):
    """Play random moves on the data of a page until none is left. Return the events, and by event the claims that it reports."""
    state, events, broken = 0, [], []
    while flat := level["moves"][state]:
        event, state, _, found = chance.choice([flat[place : place + 4] for place in range(0, len(flat), 4)])
        events.append(level["events"][event])
        broken.append({claim for claim, _ in level["findings"][found]})
    return events, broken


def play_each(levels: Path) -> None:
    """Play random moves of each page on an empty server, and compare the claims that break with those that the page reports."""
    with redis_server() as real:
        for level in made(levels):
            play(levels, real, level)


def play(levels: Path, real: RealRedis, level: Level) -> None:
    kept = data_of(levels / f"{level.name}.html")
    question, chance = level.question, random.Random(level.name)

    with closing(Explorer(stage(level.stage), real)) as explorer:
        world = explorer.world(question.task, PAIR)
        for _ in range(PLAYS):
            events, broken = random_play(kept, chance)
            moves = walk_live(world, parse("".join(events)), question.horizon_ms).moves
            found = [{finding.claim.name for finding in move.findings} for move in moves]
            assert found[:-1] == broken[:-1]
            assert found[-1] <= broken[-1]  # at the last event, the page adds the claims that break at the end


def test_plays_of_a_page_happen(levels):
    """Random plays of each page are possible on an empty server, and break the claims there that the page reports."""
    # in a process of its own: the explorer replaces functions that the client of the browser needs
    code = "import pathlib, sys; from tests.browser.test_levels import play_each; play_each(pathlib.Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(levels)], cwd=HOME, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr

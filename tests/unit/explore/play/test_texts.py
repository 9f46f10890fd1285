"""The pages of the scheduler in Chinese: each text that a page can show has its Chinese, and the catalogue has no more."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from app.lock import Claim
from lab.explore.code.program import Task
from lab.explore.commands.play import left_out
from lab.explore.play import own_levels
from lab.explore.play.levels import LEVELS, LevelKind
from lab.explore.play.page import TITLE, index_page
from lab.explore.play.texts import TEMPLATES, Said, both, chinese, faults, label, said, said_by, table
from lab.explore.questions import TTL_MS, Question
from lab.explore.search.event import Budget
from lab.language import exactly, phrases

SCRIPTS = ("play_language.js", "play.js", "play_index.js")
WRITTEN = re.compile(r'\b(?:both|label)\("([^"]+)"')  # a text that a template writes
OF_TEMPLATES = [
    text for name in ("play.html", "play_index.html") for text in WRITTEN.findall((TEMPLATES / name).read_text("utf-8"))
]
LESSONS = [level.lesson for level in LEVELS]
WHOLE = sorted({*OF_TEMPLATES, *said_by(*SCRIPTS), *LESSONS, *(kind.value for kind in LevelKind), TITLE})
ENGLISH = re.compile(r"[A-Za-z’]+ [a-z’]+")  # two words in a row


def places(text):
    return set(re.findall(r"\{\w+\}", text))


def test_whole_texts():
    """Each text of a template and of a script, each lesson and each label has its Chinese, with the same places."""
    found = exactly("scheduler", WHOLE)

    assert [text for text in WHOLE if text not in found] == []
    assert [text for text, made in found.items() if places(text) != places(made)] == []


def test_goals_and_claims():
    """Each goal and each claim has its Chinese."""
    texts = [*(level.goal for level in LEVELS), *(claim.value for claim in Claim)]

    assert [text for text in texts if ENGLISH.search(chinese(text))] == []


def test_catalogue_has_no_more():
    """Each whole text of the catalogue is one that a page can show, as it is now."""
    kept = {phrase.english for phrase in phrases() if phrase.parts == {"scheduler"}}

    assert sorted(kept - set(WHOLE)) == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_write_all_texts_by_say(name):
    """A script writes no English of its own: each text is an argument of ``say``, which takes the Chinese from the page."""
    code = re.sub(r"//.*|/\*.*?\*/", "", (TEMPLATES / name).read_text(encoding="utf-8"))
    code = re.sub(r'\bsay\("(?:[^"\\]|\\.)*"', "", code)
    quoted = re.findall(r'"[^"\n]*"|`[^`\n]*`', code)
    prose = [
        one
        for one in quoted
        if re.search(r"\b[A-Za-z]+[a-z’]* [a-z]{2,}\b|[A-Z][a-z]+ [A-Za-z]", re.sub(r"\$\{[^}]*\}", "", one))
    ]

    assert [one for one in prose if one != '"use strict"' and not one[1:].startswith(("lab replay ", "chip ", "#levels "))] == []


def test_goals_of_own_levels():
    """The goals of levels for a file of one's own are Chinese, with the claim or the faults in Chinese."""
    question = Question(Task(TTL_MS), Budget(crashes=1))

    assert own_levels.to_break(Claim.exclusive) == Said(
        f"Break this promise: “{Claim.exclusive.value}”", f"破坏这条承诺：“{chinese(Claim.exclusive.value)}”"
    )
    assert own_levels.to_decide(question) == Said(
        "Can this lock be broken with 1 crash?", "条件是“1 次宕机”时，这把锁能被破坏吗？"
    )
    long_work = replace(question, task=Task(TTL_MS, 5000))
    assert own_levels.to_decide(long_work).chinese == "条件是“业务执行的时间超过 TTL”时，这把锁能被破坏吗？"


@pytest.mark.parametrize(("language", "expected"), [("zh_CN.UTF-8", "略去：my_lock，条件是“1 次宕机”：搜索太久\n"), ("C", None)])
def test_language_of_the_environment(language, expected, monkeypatch, capsys):
    """The command reports in the language of its environment what has no page."""
    monkeypatch.setenv("LC_ALL", language)
    left_out(SimpleNamespace(name="my_lock"), Budget(crashes=1))

    assert capsys.readouterr().err == (expected or "left out: my_lock with 1 crash: its search takes too long\n")


@pytest.mark.parametrize("language", ["zh", ""])
def test_first_language(language):
    """Pages begin in the language that they are written for, and without one in that of the browser."""
    assert f'getElementById("language"), "{language}", ' in index_page([], language)


def test_both():
    """A text of a template is in both languages; marks become tags; what stands in a place is escaped, and Chinese as well."""
    assert both("Stage `{name}`", name="<b>") == (
        '<span class="en">Stage <code>&lt;b&gt;</code></span><span class="zh">阶段 <code>&lt;b&gt;</code></span>'
    )
    assert both("Faults: {faults}.", faults=faults(Budget(pauses=1))).endswith(">故障：1 次停顿。</span>")
    assert both("3 < 4") == "3 &lt; 4"
    assert label("Client {who}", who="A") == 'aria-label="Client A" data-en="Client A" data-zh="客户端 A"'


def test_table():
    """A table has the texts that have Chinese; it ends no script."""
    assert json.loads(table(["Time", "</script>", "A reads 0."], {"A reads 0.": "A 读到 0。", "x": "y"})) == {
        "A reads 0.": "A 读到 0。",
        "Time": "时间",
    }
    assert "<" not in table(["x"], {"x": "<"})


def test_said():
    """The goal of a kept level has its Chinese in the catalogue; that of a level that is made for a lock brings its own."""
    assert said(LEVELS[0].goal) == Said(str(LEVELS[0].goal), chinese(str(LEVELS[0].goal)))
    assert said(Said("Try", "试")) == Said("Try", "试")

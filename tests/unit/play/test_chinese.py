"""The pages of the scheduler in Chinese: each text that a page can show has its Chinese, and the catalogue has no more."""

from __future__ import annotations

import ast
import inspect
import json
import re
from html.parser import HTMLParser

import pytest

from app.lock import Claim
from lab.commands.play import left_out
from lab.explore.questions import single_faults
from lab.explore.search.budget import NONE, Budget
from lab.explore.search.harm import Finding, Harm, Why
from lab.explore.story import deed, words
from lab.explore.story.narrative import capital
from lab.language.phrases import exactly, phrases
from lab.paths import REFERENCE
from lab.play import board, own_levels, sentence
from lab.play.chinese import SCRIPTS, TEMPLATES, both, chinese, label, said_by, table
from lab.play.level import Kind
from lab.play.levels import LEVELS
from lab.play.page import TITLE, index_page

PAGES = sorted((REFERENCE / "play").glob("*.html"))
WRITTEN = re.compile(r'\b(?:both|label)\("([^"]+)"')  # a text that a template writes
OF_TEMPLATES = [
    text for name in ("play.html", "play_index.html") for text in WRITTEN.findall((TEMPLATES / name).read_text("utf-8"))
]
WHY = [why.value for why in Why if why]
CHIPS = [*sentence.SHORT.values(), "message", "lost"]
LESSONS = [level.lesson for level in LEVELS]
WHOLE = sorted({*OF_TEMPLATES, *said_by(*SCRIPTS), *WHY, *CHIPS, *LESSONS, *(kind.value for kind in Kind), TITLE})
ENGLISH = re.compile(r"[A-Za-z’]+ [a-z’]+")  # two words in a row
COMMAND = re.compile(r"发送 .*。$")  # a command stays as it is


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


class Texts(HTMLParser):
    """The texts of a page that a Chinese reader sees."""

    SILENT = ("script", "style", "code", "kbd", "noscript", "title")

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[tuple[str, bool]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        names = (dict(attrs).get("class") or "").split()
        if tag not in ("meta", "link", "input", "br"):
            self.inside.append((tag, tag in self.SILENT or "en" in names or "code" in names))

    def handle_endtag(self, tag):
        if tag not in ("meta", "link", "input", "br"):
            self.inside.pop()

    def handle_data(self, data):
        if not any(silent for _, silent in self.inside):
            self.texts.append(data)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_kept_page(path):
    """A kept page shows no English sentence to a Chinese reader, its labels included; code and commands stay."""
    text = path.read_text(encoding="utf-8")
    page = Texts()
    page.feed(text)

    assert [one for one in page.texts if ENGLISH.search(one) or one.strip() == "."] == []
    assert len(re.findall(r"aria-label=", text)) == len(
        re.findall(r'aria-label="[^"]*" data-en="[^"]*" data-zh="[^"A-Z]*[AB]?[^"A-Z]*"', text)
    )


@pytest.mark.parametrize("path", [path for path in PAGES if path.stem != "index"], ids=lambda path: path.stem)
def test_table_of_a_kept_page(path):
    """A kept page has the Chinese of each sentence that its scripts can write."""
    tables = {
        name: json.loads(data)
        for name, data in re.findall(
            r'<script type="application/json" id="(\w+)">(.*?)</script>', path.read_text("utf-8"), re.DOTALL
        )
    }
    level, zh = tables["data"], tables["zh"]
    mechanisms = [mechanism for finding in level["findings"] for _, mechanism in finding]
    truths = [truth for *_, truth in level["panes"] if truth]
    promises = [promise for promise, _ in level["promises"].values()]
    texts = {*level["sentences"], *mechanisms, *truths, *promises, level["lesson"], *said_by("play_language.js", "play.js")}

    assert sorted(texts - zh.keys()) == []
    assert [one for one in zh.values() if ENGLISH.search(COMMAND.sub("", re.sub(r"`[^`]*`", "", one)))] == []


FIELD, FIELDS = re.compile(r"\{(\w+)\}"), {"wait": "waits", "fence": "2"}  # of a template; others stand for a client


def written_by(module):
    """Yield the texts with several words that a module writes, each with its places filled by a client, and by a number."""
    tree = ast.parse(inspect.getsource(module))
    done = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            done |= {id(one) for one in node.values}
            parts = [one.value if isinstance(one, ast.Constant) else "" for one in node.values]
            yield tuple("".join(one or filled for one in parts) for filled in ("A", "1"))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in done:
            text = FIELD.sub(lambda field: FIELDS.get(field[1], "A"), node.value)
            yield (text, capital(text))


PIECES = (  # of a text that is tested as a whole below, or that the explorer replaces before a page shows it
    "its own",
    "its lock",
    "A’s lock",
    "A’s other thread",
    " with fence A",
    "with an error",
    "sees that the lock is A",
    "A, sends the command again because the reply is lost, and is refused by its own key",
    "server A restarts without its data",  # a lock on several servers has no page
)


def test_words_of_moves():
    """All words that the explorer has for a move of one server, and for what a move breaks, have their Chinese."""
    written = [several for module in (deed, sentence, board, own_levels) for several in written_by(module)]
    left = {one[0] for one in written if all(ENGLISH.search(COMMAND.sub("", chinese(text))) for text in one)}

    assert sorted(left - set(PIECES)) == []
    assert sorted(set(PIECES) - left) == []


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        ("A gets the lock with fence 2.", "A 加锁成功，编号 2。"),
        ("B sees that the lock is A’s.", "B 看到锁是 A 的。"),
        ("B renews its lock.", "B 为自己的锁续期。"),
        ("A’s lock and B’s lock expires.", "A 和 B 的锁过期。"),
        ("A’s other thread sends RENEW(L, A’s token, 3000).", "A 的另一个线程发送 RENEW(L, A的随机值, 3000)。"),
        ("Redis answers [1, 0].", "Redis 回答 [1, 0]。"),
        ("Redis answers with an error.", "Redis 报错。"),
        ("A did its work twice", "A 的业务执行了两次"),
        ("B gets no higher fence than 3", "B 没有拿到比 3 更大的编号"),
        ("A and B wait for ever", "A 和 B 都永远等下去"),
        ("A waits for ever", "A 永远等下去"),
        ("A waits, although the lock is free", "锁空闲，A 却还在等"),
        ("A and B wait, although the lock is free", "锁空闲，A 和 B 却都还在等"),
        ("A fails in its work, and its request fails (ValueError).", "A 的业务失败，它的请求失败（ValueError）。"),
        ("2 increments are lost: A worked without any lock", "丢失 2 次加一：A 没有加锁就执行了业务"),
        (
            "A sets the key of the lock, sends the command again because the reply is lost, and is refused by its own key.",
            "A 设置了锁的 key，因为响应丢失而重发命令，结果被自己的 key 拒绝。",
        ),
    ],
)
def test_sentence(english, expected):
    """A sentence of a move is Chinese as a whole, and its command stays."""
    assert chinese(english) == expected


def test_how_a_claim_breaks():
    """What breaks a claim is Chinese, also where no letter of a client is known."""
    ways = [words.of_finding(Finding(Claim.exclusive, harm, about="ValueError")) for harm in Harm]
    found = [*ways, *(words.lost_because(why) for why in Why), *(f"A worked {why}" for why in WHY)]

    assert [one for one in map(capital, found) if ENGLISH.search(chinese(one))] == []


def test_goals_of_own_levels():
    """The goals of levels for a file of one's own are Chinese."""
    budgets = [str(one) for one in (NONE, *single_faults())]
    goals = [f"Break this promise: “{claim.value}”" for claim in Claim] + [
        f"Can this lock be broken with {one}?" for one in budgets
    ]

    assert [text for text in [*budgets, *goals] if ENGLISH.search(chinese(text))] == []


@pytest.mark.parametrize(("language", "expected"), [("zh_CN.UTF-8", "略去：my_lock，条件是“1 次宕机”：搜索太久\n"), ("C", None)])
def test_language_of_the_environment(language, expected, monkeypatch, capsys):
    """The command reports in the language of its environment what has no page."""
    monkeypatch.setenv("LC_ALL", language)
    left_out(what := "my_lock with 1 crash: its search takes too long")

    assert capsys.readouterr().err == (expected or f"left out: {what}\n")


@pytest.mark.parametrize("language", ["zh", ""])
def test_first_language(language):
    """Pages begin in the language that they are written for, and without one in that of the browser."""
    assert f'getElementById("language"), "{language}", ' in index_page([], language)


def test_both():
    """A text of a template is in both languages; marks become tags; what stands in a place is escaped, and Chinese as well."""
    assert both("Stage `{name}`", name="<b>") == (
        '<span class="en">Stage <code>&lt;b&gt;</code></span><span class="zh">阶段 <code>&lt;b&gt;</code></span>'
    )
    assert both("Faults: {faults}.", faults=Budget(pauses=1)).endswith(">故障：1 次停顿。</span>")
    assert both("3 < 4") == "3 &lt; 4"
    assert label("Client {who}", who="A") == 'aria-label="Client A" data-en="Client A" data-zh="客户端 A"'


def test_table():
    """A table has the texts that have Chinese; it ends no script."""
    assert json.loads(table(["Time", "</script>", "A reads 0."], {"x": "<"})) == {
        "A reads 0.": "A 读到 0。",
        "Time": "时间",
        "x": "<",
    }
    assert "<" not in table([], {"x": "<"})

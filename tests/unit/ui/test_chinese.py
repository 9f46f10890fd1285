"""The page of the class in Chinese: each text that it can show has its phrase, and each phrase is of a text as it is now."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Iterator

import pytest

from app.locks import stages
from lab.docgen.translations import CHAPTERS
from lab.judge.judgement import Judgement
from lab.language import phrases
from lab.language.phrases import exactly, in_chinese, sentences
from lab.paths import REFERENCE
from lab.scenario import reader as scenarios
from lab.scenario.scenario import Scenario
from lab.story.verdict import reason
from lab.ui import chinese, live_page, question_families, questions
from lab.ui.chinese import TEXTS
from lab.ui.joining import Invitation
from lab.ui.ladder_panel import rungs
from lab.ui.run_form import scenario_names
from tests.every import every

KEPT = [path.parent for path in sorted(REFERENCE.glob("chapters/*/timeline.json"))]
MOST = 0.9
PLACE = re.compile(r"\{\w+\}")


def loaded() -> list[Scenario]:
    return [scenarios.load(name) for name in scenario_names()]


def offered() -> dict[str, set[str]]:
    """Return the texts of the page, by the part of the catalogue that has them."""
    asked = [questions.of(one.tests.name) for one in loaded()]
    return {
        "page": set(TEXTS.values()),
        "stage": {stage.story.title for stage in stages().values()},
        "idea": {stage.story.idea for stage in stages().values()},
        "title": {one.title for one in loaded()},
        "question": {text for one in asked for text in (one.text, *one.choices)},
    }


@every("part", offered)
def test_each_text_has_a_phrase(part):
    """A fixed text, a stage, a scenario, a question or a fault without Chinese needs its line in lab/language/zh.

    A stage that has no place of its own on the ladder is new: its Chinese may come later, and `lab docs` reminds of it.
    """
    new = [stage.story for name, stage in stages().items() if name not in CHAPTERS]
    texts = offered()[part] - {text for story in new for text in (story.title, story.idea)}

    assert sorted(texts - set(exactly(part, texts))) == []


@pytest.mark.parametrize("part", ["page", "stage", "question"])
def test_no_phrase_of_the_page_is_out_of_date(part):
    assert sorted({one.english for one in phrases.phrases() if part in one.parts} - offered()[part]) == []


def test_places_of_texts_are_kept():
    """A Chinese text has the same places for values as the English one."""
    places = {name: (set(PLACE.findall(TEXTS[name])), set(PLACE.findall(text))) for name, text in chinese.texts().items()}

    assert {name: pair for name, pair in places.items() if pair[0] != pair[1]} == {}


def test_page_has_both_languages():
    """The page has all texts twice, and the Chinese of what it offers: a projector and a phone may differ."""
    text = live_page.text(("none", "rush"), Invitation(), 8089, {})

    assert '"Start"' in text
    assert '"开始"' in text
    assert chinese.offered()["All users increment at once"] == "所有用户同时 +1"
    assert all("`" not in english for english in chinese.offered() if english.startswith("A lock inside"))


def test_language_without_a_choice(monkeypatch):
    """The page opens in the language of the command's environment, until the visitor chooses another."""
    assert '"language":"zh"' in live_page.text(("none", "rush"), Invitation(), 8089, {}, live_page.Language.CHINESE)
    assert '"language":"en"' in live_page.text(("none", "rush"), Invitation(), 8089, {})


def share(texts: Collection[str], known: Collection[str]) -> float:
    """Return the share of texts that have Chinese: the reference is measured again at times, and may have a new sentence."""
    return sum(text in known for text in texts) / len(texts)


def test_results_on_the_ladder():
    """All results on the ladder have their Chinese."""
    rows = [row for one in loaded() for row in rungs(one.name, lambda name: True)]
    results = {row["cell"]["said"] for row in rows} - {"–"}

    assert sorted(results - set(chinese.of_rungs(rows))) == []


def words_of_answers() -> Iterator[str]:
    """Yield all that a big figure can count, with 7 for each number."""
    for node in ast.walk(ast.parse(inspect.getsource(question_families))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
            docstring = ast.get_docstring(node, clean=False)
            inner = {id(part) for one in ast.walk(node) if isinstance(one, ast.JoinedStr) for part in one.values}
            for one in ast.walk(node):
                text = "".join(map(_sample, one.values)) if isinstance(one, ast.JoinedStr) else ""
                if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in inner:
                    text = one.value
                if text != docstring and re.search(r"[a-z]+ [a-z]+ [a-z]+|requests", text) and "(" not in text:
                    yield text


def _sample(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    noun = [one.value for one in ast.walk(part) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return f"7 {noun[-1]}s" if "counted" in ast.dump(part) else "7"


def test_words_of_big_figures():
    words = set(words_of_answers())

    assert len(words) > 15
    assert sorted(words - set(sentences("answer", words))) == []
    assert (
        in_chinese("answer", "of 7 requests refused; 1 increment lost otherwise")
        == "个请求被拒绝，共 7 个；因别的原因丢了 1 次 +1"
    )


def test_verdicts_of_kept_runs():
    """The reason and the big figure of a reference run come with their Chinese, and so does the verdict in a few words."""
    judgements = [Judgement.load(path.parent) for path in sorted(REFERENCE.glob("runs/*/verdict.json"))]
    counted = [questions.shown(one).words for one in judgements]

    assert len(judgements) > 20
    known: dict[str, str] = {}
    for one, words in zip(judgements, counted, strict=True):
        known |= chinese.of_result(one, words)
    assert all(reason(one) in known for one in judgements)
    assert share(counted, known) > MOST


def test_what_has_no_phrase_stays_english():
    """A sentence of which English words would be left is not shown in two languages at once."""
    assert sentences("badge", ["kept, 3 lost of a cause that nobody has translated"]) == {}
    assert sentences("badge", ["kept, 3 lost otherwise"]) == {"kept, 3 lost otherwise": "守住，因别的原因丢了 3 次"}

"""Test the lesson: its steps are data, and its questions belong to the claims that its runs test."""

import re

from lab.cli import lab
from lab.language import Language
from lab.scenario.options import form_options
from lab.ui import lesson
from lab.ui.lesson import EXPLORE, OPEN, RUN, notes, steps
from lab.ui.question import of_claim
from tests.every import every

FORM = {"user_count", *(option.name for option in form_options())}
WIDEST = 58  # letters of a line of code, so that it fits into half of a projector's screen


@every("place", steps)
def test_commands_of_the_lesson_exist(place):
    """Each command of a step is a command of the lab, with options that it has."""
    for action in place.step.actions:
        if action.kind != OPEN:
            assert lab.get_command(None, action.kind).make_context(action.kind, list(action.words)).params


@every("place", steps)
def test_each_step_can_be_shown(place):
    """A step has at most five lines of code, which fit the screen, and notes for the teacher in both languages."""
    lines = place.step.code.strip("\n").split("\n")

    assert len(lines) <= 5
    assert [line for line in lines if len(line) > WIDEST or line[:2] not in ("+ ", "  ")] == []
    assert [name for name, _ in notes(place.number, Language.ENGLISH)] == ["Ask.", "They say.", "Show."]
    assert [name for name, _ in notes(place.number, Language.CHINESE)] == ["问。", "学生会说。", "讲。"]
    assert not {*"".join(text for language in Language for _, text in notes(place.number, language))} & {*"<>*`"}


def test_options_of_runs_are_those_of_the_form():
    """Start posts the options of a step's command with Locust's form."""
    assert lesson.run_of(1, 0).form == {"requests": "2000"}
    assert {name for place in steps() for run in place.step.runs for name in run.form} <= FORM


@every("place", steps)
def test_each_run_has_its_question(place):
    """A step has only known actions, and each run has a question with as many choices as the claim of its scenario."""
    assert {action.kind for action in place.step.actions} <= {OPEN, RUN, EXPLORE}
    for run in place.step.runs:
        choices = of_claim(run.scenario.tests.name, Language.ENGLISH)["choices"]
        assert len(choices) == len(run.ask.choices) == len(run.ask.choices_zh), run.ask.text


@every("place", steps)
@every("language", Language)
def test_page_of_the_teacher_has_each_step(place, language):
    """The teacher's page has the title, the minutes, the commands and the questions of each step in the list."""
    page, of = lesson.PAGES[language].read_text(encoding="utf-8"), place.step
    english = language is Language.ENGLISH
    section = re.split(rf"^## {place.number}\. ", page, flags=re.MULTILINE)[1].partition("\n## ")[0]

    assert section.startswith(of.title if english else of.title_zh)
    assert {str(place.begins), str(place.ends)} <= set(re.findall(r"\d+", section.partition("\n")[0]))
    assert [one.command for one in of.actions if one.kind != OPEN] == re.findall(r"^\.venv/bin/lab (.+)$", section, re.MULTILINE)
    for run in of.runs:
        assert (run.ask.text if english else run.ask.text_zh).format(**run.values) in section

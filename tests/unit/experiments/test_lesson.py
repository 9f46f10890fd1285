"""The lesson: its steps are data, and ``lab class`` gives them in order."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from lab.cli import lab
from lab.commands import give_class
from lab.commands.give_class import wait_for_enter
from lab.errors import BadInput, ExitStatus
from lab.experiments import lesson
from lab.experiments.lesson import OPEN, steps
from lab.interrupts import Interrupted
from lab.report import reference
from tests.every import every


@pytest.fixture
def log() -> list[str]:
    """What happened, in order: runs, and sentences that waited for Enter."""
    return []


@pytest.fixture
def give(monkeypatch, log):
    """Give steps of the lesson without servers. Returns what was printed."""

    def run_one(scenario, stage, given, *, as_json, command, then):
        log.append(f"{command} {given['requests']}")
        then(reference.of_stage(stage).judgement)
        return ExitStatus.GOOD

    def given(first, last):
        out = Console(file=io.StringIO(), width=200)
        assert give_class._give(steps()[first - 1 : last], out, log.append, lab) == ExitStatus.GOOD
        return out.file.getvalue()

    monkeypatch.setattr(give_class, "run_one", run_one)
    return given


def test_the_lesson_takes_45_minutes():
    """The steps follow each other without a gap, and fill the lesson."""
    assert [one.begins for one in steps()] == [0, *(one.ends for one in steps()[:-1])]
    assert steps()[-1].ends == 45


@every("place", steps)
def test_commands_of_the_lesson_exist(place):
    """Each command of a step is one of the lab, with options that it has."""
    for action in place.step.actions:
        if action.kind != OPEN:
            assert lab.commands[action.kind].make_context(action.kind, list(action.words)).params


def test_question_comes_before_the_run(give, log):
    """A step shows the question of the claim, waits, makes the run, and prints which choice came true."""
    text = give(1, 1)

    assert log == [
        "Which will it be? Let the class decide. Press Enter to run it.",
        "lab run rush --stage none --requests 2000 2000",
        "",
    ]
    assert text.index("Will it lose increments?") < text.index("The answer: it loses some.")
    assert "b  it loses some" in text


def test_diff_does_not_give_the_answer_away(give):
    """The difference is shown without what is still wrong: that is the next question."""
    text = give(4, 4)

    assert '+        while not self.store.set(self.key, "locked", nx=True):' in text
    assert "Still wrong" not in text
    assert text.index("nx=True") < text.index("Who gets in after the holder has died?")


def test_interrupted_class_can_go_on(give, monkeypatch, capsys):
    """When the class is interrupted, the last line says how to go on."""
    out = Console(file=io.StringIO(), width=200)

    def interrupted(sentence):
        raise Interrupted("SIGINT")

    with pytest.raises(Interrupted):
        give_class._give(steps()[2:4], out, interrupted, lab)

    assert "`lab class --from 3` continues there" in out.file.getvalue()


def test_end_of_input_ends_the_class(monkeypatch):
    """Where the input ends, nobody presses Enter any more: the class ends like one that is interrupted."""
    monkeypatch.setattr("sys.stdin", io.StringIO())

    with pytest.raises(Interrupted, match="the input has ended"):
        wait_for_enter("Press Enter.")


def test_unknown_step_is_refused():
    with pytest.raises(BadInput, match="no step '12'"):
        give_class.give_class(12, lab)


@pytest.mark.parametrize(
    ("do", "why"), [("dance none", "no action 'dance'"), ("open reports/none.html", "no page reports/none.html")]
)
def test_wrong_step_is_refused(do, why):
    """A step with an unknown action, or with a page that is not there, is refused by its title."""
    with pytest.raises(BadInput, match=f"A step: there is {why}"):
        lesson._checked({"title": "A step", "title_zh": "一步", "minutes": 1, "do": [do]})

"""``lab class``: the lesson of docs/class.md, step by step in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click
from rich.console import Console
from rich.markup import escape

from lab.commands.run import run_one
from lab.errors import ExitStatus, worst
from lab.experiments.lesson import DIFF, OPEN, RUN, Action, Placed, step, steps
from lab.interrupts import Interrupted
from lab.judge.judgement import Judgement
from lab.paths import need_clone
from lab.report.terminal import terminal
from lab.scenario.options import OPTIONS
from lab.scenario.stage_diff import difference
from lab.scenario.stages import find_stage
from lab.ui import questions
from lab.ui.question import ClaimQuestion

Wait = Callable[[str], None]  # shows a sentence, and returns when the teacher wants to continue


def give_class(first: int, commands: click.Group) -> int:
    """Give the lesson from its step ``first`` on. Return the worst exit status of what was run.

    commands: the commands of the lab, which the steps name. Between the steps the lesson waits for Enter; in a pipe it continues.
    Raises BadInput for a step that there is not, and where the lab is installed.
    """
    need_clone()
    begin = step(first)
    out = terminal()
    wait = wait_for_enter if sys.stdin.isatty() and out.is_terminal else _go_on
    return _give(steps()[begin.number - 1 :], out, wait, commands)


def _give(chosen: Sequence[Placed], out: Console, wait: Wait, commands: click.Group) -> int:
    statuses: list[int] = []
    for place in chosen:
        try:
            _begin(out, place)
            statuses += [_do(out, wait, commands, action) for action in place.step.actions]
            wait("Press Enter for the next step." if place is not chosen[-1] else "")
        except KeyboardInterrupt:
            out.print(f"\nThe class ended in step {place.number}: `lab class --from {place.number}` continues there.")
            raise
    out.print("\nThat was the lesson. docs/exercises.md has what the class can do at home.")
    return worst(statuses)


def wait_for_enter(sentence: str) -> None:
    """Show a sentence, and wait for Enter. Raises Interrupted where the input ends."""
    if not sentence:
        return
    try:
        input(f"{sentence} ")
    except EOFError as ended:
        raise Interrupted("the input has ended") from ended


def _go_on(sentence: str) -> None:
    """Wait for nothing: nobody is there."""


def _begin(out: Console, place: Placed) -> None:
    out.print(f"\n[bold]Step {place.number} of {len(steps())}: {escape(place.step.title)}[/]")
    out.print(f"Minutes {place.begins} to {place.ends} of the lesson.", style="dim")


def _do(out: Console, wait: Wait, commands: click.Group, action: Action) -> int:
    """Do one thing of a step, and return its exit status."""
    if action.kind == OPEN:
        out.print(f"\nOpen {action.page.as_uri()}", soft_wrap=True)
        wait("Press Enter when the class is ready.")
        return ExitStatus.GOOD
    out.print(f"\n[bold]lab {escape(action.command)}[/]")
    if action.question is not None:
        _ask(out, action.question)
        wait("Which will it be? Let the class decide. Press Enter to run it.")
    if action.kind == DIFF:  # without what is still wrong: that is the question which follows
        out.print(*difference(*map(find_stage, action.words)), sep="\n", markup=False)
        return ExitStatus.GOOD
    command = commands.commands[action.kind]
    if action.kind != RUN:
        return command.main(list(action.words), standalone_mode=False) or ExitStatus.GOOD
    given = command.make_context(action.kind, list(action.words)).params
    options = {name: given[name] for name in OPTIONS}

    def answer(judgement: Judgement) -> None:
        _answer(out, judgement)

    return run_one(given["scenario"], given["stage"], options, as_json=False, command=f"lab {action.command}", then=answer)


def _ask(out: Console, question: ClaimQuestion) -> None:
    out.print(question.text)
    for letter, choice in zip("abcdef", question.choices, strict=False):
        out.print(f"  {letter}  {escape(choice)}")


def _answer(out: Console, judgement: Judgement) -> None:
    """Print in a sentence which of the choices came true."""
    shown = questions.shown(judgement)
    choices = questions.of(judgement.claim).choices
    said = choices[shown.choice] if shown.choice is not None else "this run proves nothing"
    out.print(f"[bold]The answer: {escape(said)}.[/] {shown.number} {escape(shown.words)}.")

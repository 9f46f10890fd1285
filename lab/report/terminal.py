"""Print a run on the terminal: the verdict in words, the outcome of all requests, the price, and the path of the page."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment

from app.lock import Stage
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement, Verdict
from lab.language import of_environment
from lab.paths import COMMAND, shown
from lab.report.run_data import load_in_words
from lab.report.run_words import RunWords, mender
from lab.scenario.scenario import Scenario
from lab.story import say
from lab.story.verdict import headline
from lab.text import printable, thousands

STYLES = {
    "KEPT": "bold green",
    "ADMITTED": "bold dark_orange",
    "BROKEN": "bold red",
    "UNSEEN": "bold yellow",
    "VOID": "bold yellow",
}


class PlainConsole(Console):
    """A console on which no text can control the terminal: names and reasons may come from foreign files."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        safe = [segment if segment.control else Segment(printable(segment.text), segment.style) for segment in buffer]
        return super()._render_buffer(safe)


def terminal(**options: Any) -> Console:
    """Return a console that wraps lines at words on a terminal, and does not wrap them in a pipe."""
    console = PlainConsole(highlight=False, **options)
    console.soft_wrap = not console.is_terminal
    return console


def introduce(console: Console, stage: Stage, scenario: Scenario) -> None:
    """Print the stage, the scenario and its notes, before the run."""
    language = of_environment(os.environ)
    mark, title = say.words(language)["mark"], say.translated(f"scenario.{scenario.name}", scenario.title, language)
    about = say.translated(f"stage.{stage.name}.title", stage.story.title, language)
    console.print(f"[bold]{escape(stage.name)}[/]{mark['colon']}{escape(about)}")
    console.print(f"{escape(title)}{mark['colon']}{load_in_words(vars(scenario), language=language)}{mark['end']}", style="dim")
    for note in scenario.notes:
        console.print(f"Note: {escape(note)}.", style="yellow")


@contextlib.contextmanager
def progress(scenario: Scenario, console: Console) -> Iterator[Callable[[int], None]]:
    """Show a bar that follows the requests, on a terminal only."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting the servers", total=scenario.requests or None)
        doing = {scenario.requests: "judging the run"}
        yield lambda done: bar.update(task, completed=done, description=doing.get(done, "driving requests"))


def summarise(console: Console, judgement: Judgement, findings: Findings) -> None:
    """Print the result of a run: the verdict first, then the outcome of all requests, the result of each claim, and the price."""
    language = of_environment(os.environ)
    run = RunWords(judgement, len(findings.waits_ns) if findings.has_lock else 0, language)
    style = STYLES[judgement.verdict]
    # the title of a VOID run already says that it proves nothing
    in_a_word = "" if judgement.verdict is Verdict.VOID else f"  {say.text('in_a_word', judgement.verdict, language)}"
    console.print(f"\n[{style}]{escape(headline(judgement, language))}[/]{escape(in_a_word)}")
    title, *below = run.statements
    console.print("\n".join([f"[bold]{escape(title)}[/]", *map(escape, below), ""]))
    for part in run.parts():
        if part.number > 0:
            console.print(f"  {escape(part.words)}")
    if judgement.oversold:
        console.print(f"  {escape(run.say('oversold', shown=thousands(judgement.oversold)))}")
    console.print()
    for sentence in filter(None, (run.reasons, *run.claims(), run.also)):
        console.print(escape(sentence))
    for sentence in run.price():
        console.print(escape(sentence), style="dim")
    if (stage := mender(judgement)) is not None:
        mends = say.text("page", "mended_by", language, stage=stage)
        console.print(f"{escape(mends)}  {COMMAND} run {judgement.scenario} --stage {stage}", style="dim", soft_wrap=True)
    console.print()


def where_to_look(console: Console, path: Path) -> None:
    """Print the path that the user should open."""
    console.print(escape(say.text("page", "look_at", of_environment(os.environ), path=shown(path))), soft_wrap=True)

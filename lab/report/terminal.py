"""What a run prints on the terminal: the number story, the price, the verdict in words, and where to look."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from app.lock import Stage
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement
from lab.paths import shown
from lab.scenario.scenario import Scenario
from lab.story import say
from lab.story.verdict import headline, in_words
from lab.text import counted

STYLES = {
    "KEPT": "bold green",
    "ADMITTED": "bold dark_orange",
    "BROKEN": "bold red",
    "UNSEEN": "bold yellow",
    "VOID": "bold yellow",
}


def terminal(**options: Any) -> Console:
    """Return a console that wraps lines at words on a terminal, and leaves them whole in a pipe."""
    console = Console(highlight=False, **options)
    console.soft_wrap = not console.is_terminal
    return console


def load_in_words(scenario: Scenario) -> str:
    """Return how many requests are sent, how, and to how many replicas."""
    how = f"at {scenario.rate:g} a second" if scenario.rate else f"from {counted(scenario.users, 'user')}"
    how += f" over {counted(scenario.connections, 'connection')}" if scenario.connections else ""
    return f"{counted(scenario.requests, 'request')} {how}, {counted(scenario.replicas, 'replica')}"


def introduce(console: Console, stage: Stage, scenario: Scenario) -> None:
    """Print what is about to happen."""
    console.print(f"[bold]{escape(stage.name)}[/]: {escape(stage.story.idea)}")
    console.print(f"{escape(scenario.title)}: {load_in_words(scenario)}.", style="dim")
    for note in scenario.notes:
        console.print(f"Note: {escape(note)}.", style="yellow")


@contextlib.contextmanager
def progress(scenario: Scenario, console: Console) -> Iterator[Callable[[int], None]]:
    """Show a bar that follows the requests, on a terminal only."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting the servers", total=scenario.requests)
        yield lambda done: bar.update(task, completed=done, description="driving requests")


def summarise(console: Console, judgement: Judgement, findings: Findings) -> None:
    """Print what a run showed: the number story, the price, the verdict in words."""
    console.print()
    for number, text in _story(judgement):
        console.print(f"[bold]{number:>6}[/]  {escape(text)}")
    console.print(f"\n{_price(judgement, findings.has_lock)}")
    console.print(f"\n[{STYLES[judgement.verdict]}]{escape(headline(judgement))}[/] {escape(in_words(judgement))}\n")


def where_to_look(console: Console, path: Path) -> None:
    """Print the one path at which a reader goes on."""
    console.print(f"Look at {escape(str(shown(path)))}", soft_wrap=True)


def _story(judgement: Judgement) -> Iterator[tuple[str, str]]:
    """Yield the lines of the number story.

    Acknowledged, plus what was written without being acknowledged for the first time, minus the counter, is what is gone.
    """
    unanswered = judgement.writes - judgement.acknowledged - judgement.duplicated
    if judgement.stock is None:
        yield str(judgement.acknowledged), 'increments were acknowledged (the client got the answer "done")'
    else:
        yield str(judgement.stock), "items were there to sell"
        yield str(judgement.acknowledged), 'items were sold (the client got the answer "done")'
    if judgement.duplicated:
        yield f"+{judgement.duplicated}", "were written again for a request that had been written already"
    if unanswered > 0:
        yield f"+{unanswered}", "were written for requests that got no clear answer"
    elif unanswered < 0:
        yield str(unanswered), "were acknowledged although no write is on record"
    if judgement.final is None:
        yield "?", "The counter could not be read."
    else:
        yield str(judgement.final), "is what the counter holds"
    yield str(judgement.lost), f"{'is' if judgement.lost == 1 else 'are'} gone{', because of:' if judgement.lost_by else ''}"
    for mechanism, lost in judgement.lost_by.items():
        yield "", f"{lost:>6}  {say.mechanism(mechanism)}"
    if judgement.stock is not None:
        yield str(judgement.oversold), f"{_items(judgement.oversold)} oversold: the shop did not have them"
        yield (
            str(judgement.sold_out),
            f"{'request' if judgement.sold_out == 1 else 'requests'} got the answer that nothing is left",
        )
    if judgement.failed:
        yield str(judgement.failed), f"{_requests(judgement.failed)} refused: nothing was written for them"
    if judgement.unknown:
        yield str(judgement.unknown), f"{_requests(judgement.unknown)} left without a clear answer: written or not, nobody knows"


def _requests(number: int) -> str:
    return "request was" if number == 1 else "requests were"


def _items(number: int) -> str:
    return "item was" if number == 1 else "items were"


def _price(judgement: Judgement, has_lock: bool) -> str:
    """Return how fast the run was, how long requests waited for a lock if there is one, and how many commands it took."""
    text = f"{judgement.kept_per_s:.0f} increments kept a second."
    if has_lock:
        waits = judgement.wait_ms
        text += f" Waits for the lock: median {_ms(waits['p50'])}, 99 % {_ms(waits['p99'])}, max {_ms(waits['max'])}."
    if judgement.sent_per_increment:
        text += f"\nCommands for each increment: {judgement.sent_per_increment:.1f} sent to the lock's store"
        if judgement.commands_per_increment:
            text += f", {judgement.commands_per_increment:.1f} run there"
        text += "."
    return text


def _ms(value: float) -> str:
    """Return a time in the unit that needs few digits."""
    return f"{value / 1000:.1f} s" if value >= 10_000 else f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"

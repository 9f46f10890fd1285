"""What a run says on the terminal: for a student first, with the figures an engineer wants."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from app.lock import Claim, Stage
from lab.judge.verdict import Judgement
from lab.scenario.scenario import Scenario
from lab.text import counted

STYLES = {
    "KEPT": "bold green",
    "ADMITTED": "bold dark_orange",
    "BROKEN": "bold red",
    "UNSEEN": "bold yellow",
    "VOID": "bold yellow",
}


def terminal(**options: Any) -> Console:
    """A console that wraps lines for a reader, and leaves them whole for a pipe."""
    console = Console(highlight=False, **options)
    console.soft_wrap = not console.is_terminal
    return console


def introduce(console: Console, stage: Stage, scenario: Scenario) -> None:
    """Before the run: what is about to happen."""
    console.print(f"[bold]{escape(stage.name)}[/]: {escape(stage.story.idea)}")
    who = f"{scenario.rate:g} arrivals a second" if scenario.rate else counted(scenario.users, "user")
    console.print(
        f"{escape(scenario.title)}: {counted(scenario.requests, 'request')} by {who}, {counted(scenario.replicas, 'replica')}.",
        style="dim",
    )
    for note in scenario.notes:
        console.print(f"Note: {escape(note)}.", style="yellow")


@contextlib.contextmanager
def progress(scenario: Scenario, console: Console) -> Iterator[Callable[[int], None]]:
    """A bar that follows the requests, where somebody looks."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting the servers", total=scenario.requests)
        yield lambda done: bar.update(task, completed=done, description="driving requests")


def summarise(console: Console, judgement: Judgement, paths: list[Path]) -> None:
    """After the run: four figures, the price, the verdict, and where the evidence is."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column()
    final = "unknown" if judgement.final is None else str(judgement.final)
    rows = [
        (judgement.acknowledged, f"acknowledged, and the counter says {final}"),
        (judgement.lost, "lost: acknowledged, then overwritten by a write that had read an older value"),
        (judgement.duplicated, "duplicated: written more than once for one request"),
        (judgement.failed, "failed: refused, surely not written"),
        (judgement.unknown, "unknown: no clear answer; may or may not have been written"),
    ]
    for number, what in rows:
        table.add_row(str(number), what)
    console.print()
    console.print(table)
    console.print(f"\n{_price(judgement)}")
    console.print(
        f"\n[{STYLES[judgement.verdict]}]{judgement.verdict}[/] {escape(in_words(judgement))}\n",
    )
    for path in paths:
        console.print(escape(str(_short(path))), style="dim", soft_wrap=True)


def _price(judgement: Judgement) -> str:
    """How fast, after what waits, and with how many commands where there were any."""
    waits = judgement.wait_ms
    said = (
        f"{counted(round(judgement.throughput_per_s), 'increment')} a second; "
        f"wait for the lock: half under {waits['p50']:.1f} ms, 99 % under {waits['p99']:.1f} ms, longest {waits['max']:.1f} ms"
    )
    if judgement.sent_per_increment:
        said += f"; {judgement.sent_per_increment:.1f} commands sent to the lock's store an increment"
    if judgement.commands_per_increment:
        said += f", which carried out {judgement.commands_per_increment:.1f}, those inside scripts included"
    return f"{said}."


def in_words(judgement: Judgement) -> str:
    """The verdict as sentences: the promise, whether it was made, and what came of it."""
    promise = f"“{Claim[judgement.claim].value}”"
    made = f"{judgement.stage} {'promises' if judgement.claimed else 'does not promise'}: {promise}"
    said = {
        "KEPT": "The danger was real, and it kept the promise.",
        "ADMITTED": f"Here is what happens: {judgement.danger['why']}.",
        "BROKEN": f"It broke it: {judgement.danger['why']}.",
        "UNSEEN": "Nothing happened, so this scenario was too gentle to show anything.",
        "VOID": f"This run proves nothing: {judgement.danger['why']}.",
    }[judgement.verdict]
    return f"{made} {said} {beside(judgement)}".rstrip()


def beside(judgement: Judgement) -> str:
    """What else was seen than the claim under test, as a sentence; empty if that was nothing."""
    others = [one for one in judgement.violations if one.claim != judgement.claim]
    if not others or judgement.verdict not in ("KEPT", "ADMITTED", "UNSEEN"):
        return ""
    return "Beside that, " + "; ".join(f"{one.what} ({one.mechanism})" for one in others) + "."


def _short(path: Path) -> Path:
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path

"""``lab test``: a lock of your own, in every order of events and in runs, on one page."""

from __future__ import annotations

import json
import os
import runpy
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from app.foreign.library import Library
from app.lock import Claim, Stage
from lab.errors import ExitStatus, worst
from lab.evidence.decided import why_not
from lab.experiments.matrix import measured_now
from lab.explore.code.program import servers_of
from lab.explore.commands.explore import DECISION, Wanted, explore
from lab.explore.commands.explored_words import replay, why_open
from lab.explore.commands.shortest import Shortest
from lab.explore.decision import OPEN, Explorer
from lab.explore.questions import SearchOptions, decidable
from lab.explore.story.lanes import draw
from lab.interrupts import interruptible
from lab.language import Language, of_environment
from lab.own_lock.cells import (
    MISSING,
    UNDER,
    UNFIT,
    VOTERS,
    VOTERS_REQUESTS,
    OwnCell,
    conduct_rounds,
    measure_speed,
    plan,
    print_left_out,
    said_of_a_long_ttl,
)
from lab.own_lock.page import (
    BREAKS,
    TestedClaim,
    TestedLock,
    badge,
    headline,
    in_words,
    junit,
    listed,
    ordered,
    orders_in_words,
    speed_in_words,
    write_page,
)
from lab.paths import HOME, REPORTS, new_place
from lab.pipeline import publish_site
from lab.report.html import named
from lab.report.terminal import STYLES, terminal, where_to_look
from lab.run import environment
from lab.scenario.requirements import VOTED
from lab.story import say

NO_SEARCH = "no search looks at what the lock promises"
ABOUT = ("language", "used", "lock", "options")  # of a published library, in the record


class LockTest(NamedTuple):
    """What ``lab test`` was asked for."""

    # a file, the name of a stage, or the class or function of a module or a file, after a colon; and its stage
    lock: str
    stage: Stage
    # scenarios to run; all that test a claim of the lock where none are named
    scenarios: Sequence[str] = ()
    budget_s: float = 10.0
    jobs: int = 2
    # rounds of runs, and whether to measure the speed
    repeat: int = 1
    is_speed_wanted: bool = False
    # at most so many requests in each run; None for as many as a cell of the matrix sends
    requests: int | None = None
    no_draw: bool = False
    out: Path | None = None
    junit: Path | None = None
    badge: Path | None = None


def test_lock(asked: LockTest) -> int:
    """Test a lock, write the page, and return the exit status. Raises BadInput, NotReady."""
    console = terminal()
    folder = asked.out or new_place("test")
    stage = asked.stage
    tested = _begun(stage, asked)
    tasks = plan(stage, asked.scenarios)
    if said := said_of_a_long_ttl(stage, tasks, asked.jobs):
        console.print(said, style="yellow", soft_wrap=True)
    try:
        _explored(stage, asked, tested, folder)
        _run(stage, asked, tested, tasks, console)
    finally:  # an interrupt must not lose what was found
        _collected(tested, tasks)
        _written(tested, asked, folder, console)
    if any(task.kind == MISSING for task in tasks) and tested.status is ExitStatus.NOTHING_SHOWN:
        return worst([ExitStatus.CANNOT_RUN])
    return tested.status


def _begun(stage: Stage, asked: LockTest) -> TestedLock:
    """Return the record before the test."""
    record = runpy.run_path(stage.lookup).get("LIBRARY") if stage.lookup != stage.name else None
    library = record if isinstance(record, Library) else None
    promises = library.promises if library else {}
    return TestedLock(
        lock=_named(stage) if stage.lookup != stage.name and ":" not in asked.lock else asked.lock,
        stage=stage.name,
        library=stage.library,
        about={name: getattr(library, name) for name in ABOUT} if library else {},
        worker=shlex.join(stage.worker),
        lock_files=environment.lock_files_of(stage),
        claims=[
            TestedClaim(claim=claim.name, **(promises[claim.name]._asdict() if claim.name in promises else {}))
            for claim in Claim
            if claim in stage.claims
        ],
        rounds=asked.repeat,
        command=shlex.join(["lab", *sys.argv[1:]]),
        origin=measured_now(),
        machine=environment.machine(),
    )


def _named(stage: Stage) -> str:
    """Return the path of a stage's file as commands give it: from the project's folder, where it is in that."""
    path = Path(stage.lookup)
    return path.relative_to(HOME).as_posix() if path.is_relative_to(HOME) else stage.lookup


def _explored(stage: Stage, asked: LockTest, tested: TestedLock, folder: Path) -> None:
    """Decide every order of events, and note it claim by claim."""
    if why := why_not(stage) or ("" if stage.claims & set(decidable(servers_of(stage))) else NO_SEARCH):
        tested.unexplored = why
        return
    orders = folder / "orders"

    def keep(shortest: Sequence[Shortest], _: Explorer) -> Iterator[str]:
        for one in shortest:
            if row := next((row for row in tested.claims if row.claim == one.claim.name), None):
                row.schedule = f"orders/{row.claim}.svg"
                row.again = replay(_named(stage), one.question, one.broken) or f"lab explore {_named(stage)} --out FOLDER"
                orders.mkdir(parents=True, exist_ok=True)
                for language in Language:
                    named(folder / row.schedule, language).write_text(draw(one.story, language), encoding="utf-8")
        yield from ()

    explore(stage, SearchOptions(), asked.budget_s, Wanted(about=stage.claims, out=orders, confirm=False, then=keep))
    decision = json.loads((orders / DECISION).read_text(encoding="utf-8"))
    for row in tested.claims:
        row.orders = decision["promises"].get(row.claim, "")
        if row.orders != BREAKS:
            row.schedule = row.again = ""
    if any(row.orders == OPEN for row in tested.claims):
        tested.unexplored = why_open(decision["searches"])


def _run(stage: Stage, asked: LockTest, tested: TestedLock, tasks: Sequence[OwnCell], console: Console) -> None:
    """Make the runs, and say which are left out."""
    console.print()
    left_out = [task for task in tasks if task.kind in (UNFIT, MISSING)]
    print_left_out(console, left_out)
    tested.notes += [f"Not run: {task.scenario.name}: {task.reason}" for task in left_out]
    number = sum(not task.kind for task in tasks)
    language = of_environment(os.environ)
    rounds = say.text("tested", "rounds", language, asked.repeat) if asked.repeat > 1 else ""
    console.print(say.text("tested", "runs", language, number, rounds=rounds, jobs=asked.jobs), style="dim")
    with interruptible():
        are_voters = stage.library and stage.store == VOTED
        for task in tasks:
            task.most = max(asked.requests, VOTERS_REQUESTS) if asked.requests and are_voters else asked.requests or 0
            task.users = VOTERS if are_voters else 0
        for task in tasks if asked.is_speed_wanted else ():
            if task.scenario.name == UNDER and not task.kind:
                tested.speed = measure_speed(task, asked.repeat, _named(stage), REPORTS)
        if asked.is_speed_wanted and tested.speed is None:
            tested.notes.append(f"No speed: it is measured under {UNDER}, in runs that break nothing.")
        conduct_rounds(tasks, asked.repeat, asked.jobs, console, REPORTS, draw=asked.repeat == 1 and not asked.no_draw)
    publish_site()


def _collected(tested: TestedLock, tasks: Sequence[OwnCell]) -> None:
    """Note what the runs have shown, claim by claim."""
    rows = {row.claim: row for row in tested.claims}
    for task in tasks:
        for cell in task.outcomes(shlex.join(["lab", "run", *task.words_for(_named(task.stage))])):
            row = rows.setdefault(cell.claim, TestedClaim(claim=cell.claim, promised=False))
            row.cells.append(cell)
    tested.claims = ordered(list(rows.values()))


def _written(tested: TestedLock, asked: LockTest, folder: Path, console: Console) -> None:
    """Print the result, and write what was asked for."""
    language = of_environment(os.environ)
    said, mark = partial(say.text, "test_page", language=language), say.words(language)["mark"]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("promise", "verdict", "orders", "runs"):
        table.add_column(said(name), overflow="fold", no_wrap=name in ("promise", "verdict"))
    for one in tested.claims:
        runs = "\n".join(f"{cell.scenario} {listed(cell.tally, language)}" for cell in one.cells)
        verdict = f"[{STYLES.get(one.verdict, 'dim')}]{in_words(one, language)}[/]"
        table.add_row(one.claim, verdict, orders_in_words(one, language), runs or "–")
    console.print()
    console.print(table)
    console.print(f"\n{tested.stage}{mark['colon']}{headline(tested, language)}", style="bold", soft_wrap=True)
    if tested.speed is not None:
        console.print(said("speed", what=speed_in_words(tested.speed, language)), soft_wrap=True)
    page = write_page(tested, folder, REPORTS / "runs")
    if asked.junit is not None:
        asked.junit.write_text(junit(tested), encoding="utf-8")
    if asked.badge is not None:
        asked.badge.write_text(badge(tested), encoding="utf-8")
    where_to_look(console, named(page, language).resolve())

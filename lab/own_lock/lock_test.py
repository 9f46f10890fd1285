"""``lab test``: a lock of your own, in every order of events and in runs, on one page."""

from __future__ import annotations

import contextlib
import os
import runpy
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from app.foreign.library import Library
from app.lock import Claim, Stage
from lab.errors import ExitStatus, LabError, worst
from lab.evidence.decided import why_not
from lab.experiments.matrix import measured_now
from lab.explore.code.program import servers_of
from lab.explore.commands.explored_words import mended_by, reasons
from lab.explore.commands.play import play
from lab.explore.commands.shortest import Shortest, found_shortest
from lab.explore.decision import Decision, Explorer
from lab.explore.questions import SearchOptions
from lab.explore.schedule import replay
from lab.explore.store.real_redis import RealRedis
from lab.explore.story.lanes import draw
from lab.explore.story.rows import rows
from lab.explore.workers import MOST_WORKERS, decide
from lab.interrupts import interruptible
from lab.language import Language, of_environment
from lab.own_lock import cells, page
from lab.paths import HOME, REPORTS, new_place, shown
from lab.pipeline import publish_site
from lab.report.html import path_in
from lab.report.terminal import STYLES, terminal, where_to_look
from lab.run import environment
from lab.scenario.requirements import VOTED
from lab.servers.own_redis import own_servers
from lab.story import say

QUICK_S = 5.0  # the time of all searches, below which the pages for lab play are written: they search again
ABOUT = ("language", "used", "lock", "options")  # the facts of a published library in the record


class LockTest(NamedTuple):
    """The order to ``lab test``, as its command line gives it."""

    # a file, the name of a stage, or the class or function of a module or a file, after a colon; and its stage
    lock: str
    stage: Stage
    # scenarios to run; if none are named, all that test a claim of the lock
    scenarios: Sequence[str] = ()
    budget_s: float = 10.0
    jobs: int = 2
    # rounds of runs, and whether to measure the speed
    repeat: int = 1
    is_speed_wanted: bool = False
    # the most requests in each run; None for the number that a cell of the matrix sends
    requests: int | None = None
    no_draw: bool = False
    out: Path | None = None
    junit: Path | None = None


def test_lock(options: LockTest) -> int:
    """Test a lock, write the page, and return the exit status. Raises BadInput, NotReady."""
    console = terminal()
    folder = options.out or new_place("test")
    stage = options.stage
    tested = _new_record(stage, options)
    tasks = cells.plan(stage, options.scenarios)
    if warning := cells.warning_of_long_ttl(stage, tasks, options.jobs):
        console.print(warning, style="yellow", soft_wrap=True)
    answer = Answer(tested, console, options.budget_s + cells.RUN_S * options.repeat * sum(not task.kind for task in tasks))
    try:
        with interruptible(), answer.progress:
            _explore(stage, options, answer, folder)
            _run(stage, options, answer, tasks)
    finally:  # an interrupt must not lose a result
        _collect(tested, tasks)
        _write_result(answer, options, folder)
    if any(task.kind == cells.MISSING for task in tasks) and tested.status is ExitStatus.NOTHING_SHOWN:
        return worst([ExitStatus.CANNOT_RUN])
    return tested.status


class Answer:
    """Print progress on the terminal: how much is left, and each broken promise once, the first as soon as it is known."""

    def __init__(self, tested: page.TestedLock, console: Console, whole_s: float) -> None:
        self.tested, self.console, self.language = tested, console, of_environment(os.environ)
        self.broken: set[str] = set()  # the promises that were printed as broken
        self.decision: Decision | None = None
        columns = TextColumn(tested.stage), BarColumn(), TimeRemainingColumn()
        self.progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.advance = partial(self.progress.advance, self.progress.add_task("", total=whole_s))

    def say(self, row: page.TestedClaim, shortest: Shortest | None = None) -> None:
        """Print a promise that breaks: in words, its schedule or run, the two lines of the lock, and the stage that mends it."""
        if row.claim in self.broken:
            return
        phrase, console, language = partial(say.text, "tested", language=self.language), self.console, self.language
        console.print(f"\n[bold red]{page.BROKEN}[/] [bold]{escape(say.claim(row.claim, 'breaks', language))}[/] ({row.claim})")
        for line in rows(shortest.story, console.width, language) if shortest and not self.broken else ():
            console.print(line, soft_wrap=True)
        self.broken.add(row.claim)
        if row.breaking and not row.again:
            console.print(f"{row.breaking.scenario}: {row.breaking.why_of(row.claim, language)}", markup=False)
        for words in (phrase("between", n=len(row.between)), *(f"  {line}" for line in row.between)) if row.between else ():
            console.print(words, markup=False, soft_wrap=True)
        if row.mended_by:
            console.print(page.mending(row, language), markup=False)
        again = row.again or (row.breaking.command if row.breaking else "")
        console.print(f"{say.text('test_page', 'see_again', language)} {again}", style="dim", markup=False, soft_wrap=True)


def _new_record(stage: Stage, options: LockTest) -> page.TestedLock:
    """Return the record before the test."""
    record = runpy.run_path(stage.lookup).get("LIBRARY") if stage.lookup != stage.name else None
    library = record if isinstance(record, Library) else None
    promises = library.promises if library else {}
    return page.TestedLock(
        lock=_path_in_commands(stage) if stage.lookup != stage.name and ":" not in options.lock else options.lock,
        stage=stage.name,
        library=stage.library,
        about={name: getattr(library, name) for name in ABOUT} if library else {},
        worker=shlex.join(stage.worker),
        claims=[
            page.TestedClaim(claim=claim.name, **(promises[claim.name]._asdict() if claim.name in promises else {}))
            for claim in Claim
            if claim in stage.claims
        ],
        rounds=options.repeat,
        command=shlex.join(["lab", *sys.argv[1:]]),
        origin=measured_now(),
        machine=environment.machine(),
    )


def _path_in_commands(stage: Stage) -> str:
    """Return the path of a stage's file as commands give it: from the project's folder if it is inside that folder."""
    path = Path(stage.lookup)
    return path.relative_to(HOME).as_posix() if path.is_relative_to(HOME) else stage.lookup


def _explore(stage: Stage, options: LockTest, answer: Answer, folder: Path) -> None:
    """Decide every order of events that can break a promise, and note it claim by claim."""
    tested, servers = answer.tested, servers_of(stage)
    questions = [one for one in SearchOptions().questions(stage) if stage.claims.intersection(one.tests(servers))]
    if why_not(stage) or not questions:
        why = "own_program" if stage.worker else "other_store" if why_not(stage) else "no_search"
        tested.unexplored = _in_each_language(why, store=str(stage.store))
        return
    of_claims, known = {row.claim: row for row in tested.claims}, set[Claim]()
    answer.decision = decision = Decision(stage, SearchOptions().ttl_of(stage), questions)
    workers = min(MOST_WORKERS, os.cpu_count() or 1)
    with own_servers(workers + 1) as (own, *running), contextlib.closing(RealRedis(own.host, own.port)) as real:
        explorer = Explorer(stage, real)

        def note(before: set[Claim]) -> None:
            for claim in stage.claims & decision.broken().keys() - before:
                for one in found_shortest(decision, explorer, claim):
                    row = of_claims[claim.name]
                    row.schedule, row.between = f"orders/{row.claim}.svg", one.between
                    row.mended_by = mended_by(stage, claim, one.code)
                    row.again = replay(_path_in_commands(stage), one.question, one.broken.events)
                    (folder / row.schedule).parent.mkdir(parents=True, exist_ok=True)
                    for language in Language:
                        path_in(folder / row.schedule, language).write_text(draw(one.story, language), encoding="utf-8")
                    answer.say(row, one)
                    known.add(claim)

        def on_answer(*_: object) -> None:
            answer.advance(options.budget_s / len(questions))
            note(known)

        with contextlib.closing(explorer):
            decide(decision, running, options.budget_s, on_answer)
            note(set())  # now the claims under the cheapest faults are decided
    for claim, status in decision.promises().items():
        of_claims[claim.name].orders = status
    tested.unexplored = {one: why for one in Language if (why := reasons(decision, one))}


def _run(stage: Stage, options: LockTest, answer: Answer, tasks: Sequence[cells.OwnCell]) -> None:
    """Make the runs, and print each promise as soon as a run breaks it. First come promises that no order has decided."""
    tested = answer.tested
    open_ = {row.claim for row in tested.claims if row.orders not in (page.HOLDS, page.BREAKS)}
    tasks = sorted(tasks, key=lambda task: (task.scenario.tests.name not in open_, task.scenario.tests not in stage.claims))
    left_out = [task for task in tasks if task.kind in (cells.UNFIT, cells.MISSING)]
    tested.notes += [_in_each_language("not_run", scenario=task.scenario.name, why=task.reason) for task in left_out]
    for why in dict.fromkeys(task.reason for task in tasks if task.kind == cells.MISSING):
        answer.console.print(why, style="bold red", markup=False, soft_wrap=True)
    are_voters = stage.library and stage.store == VOTED
    for task in tasks:
        task.most = max(options.requests, cells.VOTERS_REQUESTS) if options.requests and are_voters else options.requests or 0
        task.users = cells.VOTERS if are_voters else 0
    for task in tasks if options.is_speed_wanted else ():
        if task.scenario.name == cells.UNDER and not task.kind:
            tested.speed = cells.measure_speed(task, options.repeat, REPORTS)
    if options.is_speed_wanted and tested.speed is None:
        tested.notes.append(_in_each_language("no_speed", scenario=cells.UNDER))

    def on_done(task: cells.OwnCell) -> None:
        answer.advance(cells.RUN_S)
        for cell in task.outcomes(_path_in_commands(stage)) if options.repeat == 1 else ():
            if cell.verdict == page.BROKEN:
                answer.say(_mended(page.TestedClaim(claim=cell.claim, cells=[cell]), stage))

    cells.conduct_rounds(tasks, options.repeat, options.jobs, on_done, REPORTS, draw=options.repeat == 1 and not options.no_draw)
    publish_site()


def _in_each_language(name: str, **places: str) -> dict[Language, str]:
    return {one: say.text("tested", name, one, 1, **places) for one in Language}


def _mended(row: page.TestedClaim, stage: Stage) -> page.TestedClaim:
    """Note the stage that mends a promise which a run has broken, if no order has named one."""
    cell = row.breaking
    for one in cell.grounds.violations if cell is not None and cell.grounds is not None and not row.schedule else ():
        if one.claim == row.claim:
            row.mended_by = mended_by(stage, Claim[row.claim], one.mechanism)
    return row


def _collect(tested: page.TestedLock, tasks: Sequence[cells.OwnCell]) -> None:
    """Note the results of the runs by claim."""
    of_claims = {row.claim: row for row in tested.claims}
    for task in tasks:
        for cell in task.outcomes(_path_in_commands(task.stage)):
            row = of_claims.setdefault(cell.claim, page.TestedClaim(claim=cell.claim, promised=False))
            row.cells.append(cell)
            _mended(row, task.stage)
    tested.claims = page.ordered(list(of_claims.values()))


def _write_result(answer: Answer, options: LockTest, folder: Path) -> None:
    """Print the result, and write the files that the order names."""
    tested, console, language = answer.tested, answer.console, answer.language
    phrase, mark = partial(say.text, "test_page", language=language), say.words(language)["mark"]
    for one in tested.promised:
        if one.verdict == page.BROKEN:
            answer.say(one)
    if tested.names(page.BROKEN) and answer.decision is not None and answer.decision.seconds < QUICK_S:
        with contextlib.suppress(LabError):
            play((answer.decision.stage.lookup,), folder / "play", open_it=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("promise", "verdict", "orders", "runs"):
        table.add_column(phrase(name), no_wrap=name == "promise")
    for one in tested.claims:
        verdict = f"[{STYLES.get(one.verdict, 'dim')}]{page.in_words(one, language) if tested.rounds > 1 else one.verdict}[/]"
        runs = "\n".join(f"{cell.scenario} {page.listed(cell.tally, language)}" for cell in one.cells)
        table.add_row(one.claim, verdict, page.orders_in_words(one, language), runs or "–")
    console.print(f"\n{tested.stage}{mark['colon']}{page.headline(tested, language)}\n", style="bold", soft_wrap=True)
    console.print(table)
    for line in ("", *page.not_shown(tested, language)):
        console.print(line, markup=False)
    if tested.speed is not None:
        console.print(phrase("speed", what=page.speed_in_words(tested.speed, language)), soft_wrap=True)
    written = page.write_page(tested, folder, REPORTS / "runs")
    if rest := len(tested.notes) + bool(tested.unexplored):
        console.print(phrase("rest", n=rest, path=shown(folder / "test.json")), style="dim", soft_wrap=True)
    if options.junit is not None:
        options.junit.write_text(page.junit(tested), encoding="utf-8")
    where_to_look(console, path_in(written, language).resolve())

"""Choose and run the scenarios that test the promises of a user's lock, name the scenarios left out, and measure its speed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from app.lock import Claim, Stage
from lab import prerequisites
from lab.errors import BadInput
from lab.experiments.matrix import in_order, lacking
from lab.experiments.matrix_round import count, judged
from lab.experiments.runs import in_parallel
from lab.judge.judgement import Judgement, Verdict
from lab.language import of_environment
from lab.own_lock.page import Speed, TestedCell
from lab.report.matrix import Cell, cell_requests
from lab.scenario import reader as scenarios
from lab.scenario.options import flags
from lab.scenario.reader import ENDING
from lab.scenario.scenario import Scenario, override
from lab.servers import stores
from lab.story import say

NEXT_TO, UNDER = "lua", "rush"  # the stage with which the speed is compared, and the scenario of both
LONG_TTL_MS = 10_000  # the scenarios have 3 s
# for a published lock in several stores, the most users, because many split the votes and one wins again and again; and so the
# least number of requests
VOTERS, VOTERS_REQUESTS = 6, 1000
# verdicts of runs that show a speed: a lock that lets in two requests, or none, has no speed
SHOWN = (Verdict.KEPT, Verdict.UNSEEN, Verdict.ADMITTED)
# why a scenario is left out: it tests a claim that the stage does not make; it does not fit; a program is not installed
UNCLAIMED, UNFIT, MISSING = "unclaimed", "unfit", "missing"
RUN_S = 4  # about how long a run takes


@dataclass
class OwnCell:
    """One stage under one scenario, and its result."""

    stage: Stage
    scenario: Scenario
    # the scenario as a command names it: its name, or the path of its file
    named: str
    # the kind of reason why the scenario is not run, and the reason; both empty if it is run
    kind: str = ""
    reason: str = ""
    # the most requests; 0 for the number that a cell of the matrix sends
    most: int = 0
    # the largest number of users; 0 for the scenario's own number
    users: int = 0
    # whether the user named the scenario: then its claim is tested even if the lock does not make it
    is_wanted: bool = True
    # a cell for each round
    rounds: list[Cell] = field(default_factory=list)

    @property
    def given(self) -> dict[str, int]:
        """Return the scenario's options of the run."""
        # a run with fewer tries than its danger needs shows nothing
        most = max(self.most, self.scenario.danger.get("tries", 0)) if self.most else self.scenario.requests
        requests = min(cell_requests(self.scenario), most)
        given = {"requests": requests} if requests < self.scenario.requests else {}
        return given | ({"users": self.users} if 0 < self.users < self.scenario.users and not self.scenario.rate else {})

    def words_for(self, lookup: str) -> list[str]:
        """Return the arguments of ``lab run`` for this run with any stage. lookup: the stage's name, or the path of its file."""
        return [self.named, "--stage", lookup, *flags(self.given)]

    def args(self, lookup: str, draw: bool, reports: Path) -> tuple[Any, ...]:
        """Return the arguments with which ``judged`` makes one run of the cell."""
        return self.cell(), self.named, lookup, self.given, draw, reports

    def cell(self) -> Cell:
        """Return a cell that is still empty."""
        return Cell(
            stage=self.stage.name, scenario=self.scenario.name, claim=self.scenario.tests.name, reason=self.reason, expected=""
        )

    def outcomes(self, lookup: str) -> list[TestedCell]:
        """Return the results of the rounds by claim: of the claim under test, and of each other promise that they broke.

        lookup: the name of the lock in the command of a run.
        """
        if not self.rounds:
            return []
        command = shlex.join(["lab", "run", *self.words_for(lookup)])
        promises, tested = {claim.name for claim in self.stage.claims}, self.scenario.tests.name
        others = {name for cell in self.rounds for name in cell.broken if name in promises} - {tested}
        found = []
        for name in (*[tested] * (self.is_wanted or tested in promises), *sorted(others)):
            found.append(TestedCell(**asdict(self.cell()) | {"claim": name, "command": command}))
            for cell in self.rounds:
                count(found[-1], _verdict_on(cell, name, promises))
        return found


def _verdict_on(cell: Cell, claim: str, promises: Collection[str]) -> Cell:
    """Return a run's verdict on a claim: none if the run broke only other claims. Only a promise can be broken."""
    if cell.verdict != "BROKEN" and claim == cell.claim:
        return cell
    if cell.verdict == "BROKEN" and claim in cell.broken:
        return replace(cell, claim=claim, verdict="BROKEN" if claim in promises else "ADMITTED")
    return replace(cell, claim=claim, verdict="VOID")


def plan(stage: Stage, only_scenarios: Sequence[str]) -> list[OwnCell]:
    """Return the cells: each is to be run, or has the reason why it is left out. Raises BadInput for an unknown scenario."""
    tasks = []
    for named in in_order(only_scenarios or scenarios.names()):
        one = scenarios.load(named)
        task = OwnCell(stage, one, str(Path(named).resolve()) if named.endswith(ENDING) else named)
        task.is_wanted = bool(only_scenarios)
        task.kind, task.reason = _left_out(stage, one, task.is_wanted)
        tasks.append(task)
    return tasks


def _left_out(stage: Stage, scenario: Scenario, is_wanted: bool) -> tuple[str, str]:
    """Return the kind and the reason for which a scenario is left out; both are empty if it runs."""
    may_break = not scenario.misfit(stage) and any(Claim[name] in stage.claims for name in scenario.may_break)
    if scenario.tests not in stage.claims and not is_wanted and not may_break:
        return UNCLAIMED, f"{stage.name} does not claim {scenario.tests.name}"
    try:
        stores.refuse(stage, override(scenario, stage, {}))
    except BadInput as error:
        return UNFIT, str(error)
    if missing := lacking(scenario, stage):
        return MISSING, " ".join(f"{name} is not installed. {prerequisites.how_to_install(name)}" for name in missing)
    return "", ""


def warning_of_long_ttl(stage: Stage, tasks: Sequence[OwnCell], jobs: int) -> str:
    """Return how long the runs take if the lock has a long TTL in its code; empty if it has not."""
    waits = [task for task in tasks if not task.kind and task.scenario.faults]
    if not waits or not stage.has_fixed_ttl or (stage.ttl_ms or 0) < LONG_TTL_MS:
        return ""
    ttl_s = (stage.ttl_ms or 0) // 1000
    minutes = f"{round(-(-len(waits) // jobs) * ttl_s / 60, 1):g}"
    return say.text("tested", "long_ttl", of_environment(os.environ), len(waits), ttl_s=ttl_s, minutes=minutes)


def conduct_rounds(
    tasks: Sequence[OwnCell], rounds: int, jobs: int, on_done: Callable[[OwnCell], None], reports: Path, draw: bool
) -> None:
    """Make as many rounds of runs as each scenario lacks. A run that shows nothing is repeated once if others show something.

    on_done: is called after each run.
    """
    fitting = [task for task in tasks if not task.kind]

    def conduct(some: Sequence[OwnCell]) -> None:
        for task, (cell, _) in in_parallel(judged, [(task, task.args(task.stage.lookup, draw, reports)) for task in some], jobs):
            task.rounds.append(cell)
            on_done(task)

    # all rounds together: no process waits for the slowest run of each round
    conduct([task for number in range(rounds) for task in fitting if number >= len(task.rounds)])
    again: list[OwnCell] = []
    for task in fitting:
        shown = [cell for cell in task.rounds if cell.verdict != "VOID"]
        if shown:
            again += [task] * (len(task.rounds) - len(shown))
            task.rounds = shown
    conduct(again)


def measure_speed(task: OwnCell, pairs: int, reports: Path) -> Speed | None:
    """Make pairs of runs; each run of the lock is a round of the task. Return None if no pair shows a speed.

    task: the lock under ``rush``.
    """
    both = (task.stage.lookup, NEXT_TO)
    # in turn, so that neither always runs on a warm machine
    order = [lookup for number in range(pairs) for lookup in (reversed(both) if number % 2 else both)]
    found: dict[str, list[Judgement | None]] = {lookup: [] for lookup in both}
    for lookup, (cell, judgement) in in_parallel(judged, [(one, task.args(one, False, reports)) for one in order], jobs=1):
        found[lookup].append(judgement)
        task.rounds += [cell] if lookup != NEXT_TO else []
    in_pairs = zip(*found.values(), strict=True)
    shown = [(one, other) for one, other in in_pairs if one and other and one.verdict in SHOWN and other.verdict in SHOWN]
    if not shown or any(cell.verdict == Verdict.BROKEN for cell in task.rounds):
        return None
    mine, theirs = zip(*shown, strict=True)

    def mean(judgements: tuple[Judgement, ...], figure: Callable[[Judgement], float]) -> float:
        return round(sum(map(figure, judgements)) / len(judgements), 1)

    return Speed(
        next_to=NEXT_TO,
        per_s=[one.kept_per_s for one in mine],
        next_to_per_s=[one.kept_per_s for one in theirs],
        commands=mean(mine, lambda one: one.commands_per_increment),
        next_to_commands=mean(theirs, lambda one: one.commands_per_increment),
    )

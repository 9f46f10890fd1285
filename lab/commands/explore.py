"""``lab explore``: decide every order of events."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console

from app.lock import Claim, Stage
from lab.errors import BadInput, ExitStatus, LabError
from lab.explore import schedule as schedule_files
from lab.explore.budget import Budget
from lab.explore.connection import NotExplored
from lab.explore.decision import TTL_MS, Decision, Question, decide, questions, within_s
from lab.explore.event import short
from lab.explore.lanes import rows
from lab.explore.program import Program
from lab.explore.replay import Differs, Stalled
from lab.explore.replica import NeverWaits
from lab.explore.result import as_data, claims, sentence
from lab.explore.scene import Story, staged
from lab.explore.search import Broken
from lab.explore.server_table import RealRedis
from lab.explore.state import Move
from lab.explore.unexplored import INSTEAD, why_not
from lab.explore.votes import restarted, servers_of
from lab.interrupts import Interrupted
from lab.report.terminal import terminal
from lab.scenario.stages import find_stage
from lab.servers import process
from lab.servers.programs.redis import Redis
from lab.servers.supervisor import Supervisor

DECISION = "decision.json"


class Unexplored(LabError):  # noqa: N818 - states what is so
    """The stage does something that the explorer has no model of. Nothing is decided."""

    exit_status = ExitStatus.NOTHING_SHOWN


@contextlib.contextmanager
def redis_server() -> Iterator[RealRedis]:
    """Start a Redis server for the explorer alone, and end it."""
    with tempfile.TemporaryDirectory(prefix="lab-explore-") as folder, contextlib.closing(Supervisor()) as supervisor:
        running = process.start(Redis("explored-redis"), supervisor, Path(folder)).wait()
        real = RealRedis(running.host, running.port)
        try:
            yield real
        finally:
            real.close()


def check_servers(stage: Stage, servers: int | None) -> None:
    """Raise BadInput where a number of servers is given for a lock on one store."""
    if servers is not None and servers_of(stage) == 1:
        raise BadInput(f"--servers {servers}: the lock of {stage.name} is in one store; the option is for locks like redlock's")


def explored(name: str) -> Stage:
    """Return a stage that can be explored. Raises BadInput, and Unexplored."""
    stage = find_stage(name)
    if why := why_not(stage):
        raise Unexplored(f"{stage.name} is not explored: {why}. {INSTEAD.format(stage.name)}")
    return stage


def explore(
    name: str,
    clients: int,
    ttl_ms: int | None,
    work_ms: int | None,
    budget: Budget | None,
    budget_s: float | None,
    only: str | None,
    as_json: bool,
    out: Path | None = None,
    nested: bool = False,
    servers: int | None = None,
    then: Callable[[Sequence[Shortest], RealRedis], Iterable[str]] | None = None,
) -> int:
    """Decide a stage, print what was decided, and return the exit status: 1 if a claim of the stage breaks.

    out: the folder for the decision and for the schedules. nested: each request takes the lock twice. servers: how many the
    lock asks, if not as many as the lab runs. then: does something with the schedules, and reports it line by line.
    """
    stage = explored(name)
    check_servers(stage, servers)
    ttl_ms = ttl_ms or TTL_MS
    budget = budget or (Budget() if nested else None)
    asked = questions(clients, ttl_ms, work_ms, None if budget is None else [budget])
    for one in asked:
        one.nested = nested
    console = terminal() if not as_json else Console(file=sys.stderr)
    decision = Decision(stage, clients, ttl_ms, "", asked, of_servers=servers)
    printed = Printed(console, decision, Claim[only] if only else None)
    status = ExitStatus.GOOD
    with redis_server() as real:
        try:
            decision = decide(
                stage,
                clients,
                ttl_ms,
                asked,
                real,
                within_s(stage, budget_s),
                lambda one: None if as_json else printed.question(one),
                servers,
            )
        except (NotExplored, NeverWaits) as error:
            raise Unexplored(f"{stage.name} is not explored: {error}.") from None
        except (Differs, Stalled) as error:
            sys.stderr.write(f"error: nothing is decided: {error}\n")
            return ExitStatus.NOTHING_SHOWN
        except Interrupted:
            status = ExitStatus.INTERRUPTED
        decision.redis = decision.redis or real.version
        shortest = list(found_shortest(decision, printed.only, real)) if out or then or not as_json else []
        if out is not None:
            keep(decision, shortest, out)
        if as_json:
            sys.stdout.write(_as_json(decision).decode())
        else:
            printed.schedules(shortest, out)
            console.print(f"\n{sentence(decision)}", style="dim")
        console.print(
            *(then(shortest, real) if then else ()), sep="\n", end="\n" if then else "", highlight=False, soft_wrap=True
        )
    if status is not ExitStatus.GOOD:
        return status
    if [claim for claim in decision.broken_promises if only in (None, claim.name)]:
        return ExitStatus.BROKEN
    return ExitStatus.GOOD if any(one.found and one.found.complete for one in decision.questions) else ExitStatus.NOTHING_SHOWN


class Printed:
    """A decision on the terminal."""

    def __init__(self, console: Console, decision: Decision, only: Claim | None) -> None:
        self.console = console
        self.decision = decision
        self.only = only
        self.broken: set[str] = set()

    def question(self, question: Question) -> None:
        """Print what one search has decided; of a pair of faults only what no single fault has shown."""
        found = question.found
        work = f"work of {question.work_ms} ms, " if question.work_ms else ""
        work += "the lock taken twice, " if question.nested else ""
        self.console.print(f"\n[bold]{work}{question.budget.in_words(restarted(self.decision.servers))}[/bold]", end="  ")
        if found is None or not found.complete:
            self.console.print(f"not decided: {question.undecided}", style="yellow")
        else:
            self.console.print(f"{found.schedules:,} schedules, {found.states:,} states, {found.seconds:.1f} s", style="dim")
        decided = claims(question, found, self.decision) if found else {}
        decided = {name: one for name, one in decided.items() if self.only is None or self.only.name == name}
        for name, one in decided.items():
            if "breaks" in one and not (sum(question.budget) > 1 and name in self.broken):
                self.breaks(name, one)
        self.broken |= {name for name, one in decided.items() if "breaks" in one}
        asked = self.decision.stage.claims if self.only is None else {self.only}
        if holds := [name for name, one in decided.items() if one.get("holds") and Claim[name] in asked]:
            self.console.print(f"  [green]holds in all schedules[/green]  {', '.join(holds)}")

    def breaks(self, name: str, decided: dict[str, object]) -> None:
        """Print that a claim breaks."""
        promised = Claim[name] in self.decision.stage.claims
        colour, word = ("red", "breaks") if promised else ("yellow", "breaks, and was not promised")
        share = f" in {decided['schedules']:,} of {decided['of']:,} schedules" if "of" in decided else ""
        self.console.print(f"  [{colour}]{word}[/{colour}]  {name}{share}; shortest: {decided['breaks']} events", highlight=False)

    def schedules(self, shortest: Sequence[Shortest], out: Path | None) -> None:
        """Print the shortest schedule of each claim that breaks, and how it is run again."""
        for one in shortest:
            work = f" --work-ms {one.program.work_ms}" if one.program.work_ms else ""
            work += " --nested" if one.program.nested else ""
            work += f" --servers {one.program.other_servers}" if one.program.other_servers else ""
            again = (
                str(out / f"{one.broken.claim.name}.json")
                if out
                else f"{one.program.stage.lookup}:{short(one.broken.events)}{work}"
            )
            self.console.print(f"\n[bold]{one.broken.claim.name}[/bold]", highlight=False)
            print_story(self.console, one.story)
            self.console.print(f"  again: lab replay {again}", style="dim", soft_wrap=True)


class Shortest(NamedTuple):
    """A shortest schedule that breaks a claim, run again from an empty server."""

    broken: Broken
    program: Program
    horizon_ms: int
    moves: list[Move]
    story: Story


def found_shortest(decision: Decision, only: Claim | None, real: RealRedis) -> Iterator[Shortest]:
    """Run the shortest schedule of each claim that breaks again, the cheapest faults first."""
    shown: set[Claim] = set()
    for question in decision.questions:
        for broken in question.found.broken.values() if question.found else ():
            if broken.claim not in shown and only in (None, broken.claim):
                shown.add(broken.claim)
                program = Program(decision.stage, decision.ttl_ms, question.work_ms, real, question.nested, decision.of_servers)
                about = program, decision.clients, broken.events, question.horizon_ms, real
                story, moves = staged(*about, broken.claim.name)
                yield Shortest(broken, program, question.horizon_ms, moves, story)


def keep(decision: Decision, shortest: Sequence[Shortest], out: Path) -> None:
    """Write the decision and the file of each schedule."""
    out.mkdir(parents=True, exist_ok=True)
    (out / DECISION).write_bytes(_as_json(decision))
    for one in shortest:
        claim = one.broken.claim.name
        about = decision.clients, one.horizon_ms, decision.redis, claim, one.broken.mechanism
        schedule_files.write(schedule_files.of_moves(one.program, one.moves, *about), out / f"{claim}.json")


def _as_json(decision: Decision) -> bytes:
    return msgspec.json.format(msgspec.json.encode(as_data(decision)), indent=1) + b"\n"


def print_story(console: Console, story: Story) -> None:
    """Print a schedule: its lanes, an event a row, and what happens in sentences."""
    for line in rows(story, console.width):
        console.print(line, soft_wrap=True, highlight=False)

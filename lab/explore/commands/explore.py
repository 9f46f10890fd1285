"""Run ``lab explore``: decide every order of events."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console

from app.lock import Claim, Stage
from lab.errors import BadInput, ExitStatus, choose_from
from lab.evidence.decided import why_not
from lab.explore import kept
from lab.explore.code.program import servers_of
from lab.explore.commands.explored_words import ExploredWords, instead
from lab.explore.commands.on_cluster import confirmed_on_cluster
from lab.explore.commands.shortest import Shortest, found_shortest
from lab.explore.decision import BREAKS, Decision, Explorer
from lab.explore.enact.enact import Agreement
from lab.explore.model import TimeLimit
from lab.explore.questions import SearchOptions, decidable
from lab.explore.store.real_redis import RealRedis
from lab.explore.story.rows import rows
from lab.explore.workers import MOST_WORKERS, decide
from lab.interrupts import Interrupted, pending
from lab.language import of_environment
from lab.paths import COMMAND
from lab.report.terminal import terminal
from lab.scenario.stages import find_stage
from lab.servers.own_redis import own_servers
from lab.story import say
from lab.story.happening import Story

DECISION = "decision.json"
# if no other time is given: a lock on several servers has more orders
WITHIN_S, WITHIN_OF_SEVERAL_S = 30.0, 240.0


class OutputOptions(NamedTuple):
    """The options for the claim, the output and the confirmation."""

    only: Claim | None = None
    as_json: bool = False
    # the folder for the decision
    out: Path | None = None
    # whether schedules that break a promise run again on real replicas
    confirm: bool = True
    # whether the decision is kept for the documents
    keep: bool = False


def check_servers(stage: Stage, servers: int | None) -> None:
    """Raise BadInput if a number of servers is given for a lock on one store."""
    if servers is not None and servers_of(stage) == 1:
        raise BadInput(f"--servers {servers}: the lock of {stage.name} is in one store; the option is for locks like redlock's")


def explored(name: str) -> Stage:
    """Return a stage whose orders can be searched. Raises BadInput, which names a command for another stage."""
    stage = find_stage(name)
    if why := why_not(stage):
        raise BadInput(f"{stage.name} is not explored: {why}. {COMMAND} test {stage.lookup} runs its scenarios")
    return stage


def claim_of(name: str | None, stage: Stage) -> Claim | None:
    """Return the claim of ``--claim``; None without a name. Raises BadInput if it does not exist, or no search tests it."""
    if name is None:
        return None
    choose_from("claim", name, [claim.name for claim in Claim])
    if Claim[name] not in decidable(servers_of(stage)):
        raise BadInput(f"no search tests the claim {name}: {instead(Claim[name], stage)}")
    return Claim[name]


def explore(
    stage: Stage, search: SearchOptions, budget_s: float | None, output: OutputOptions, servers: int | None = None
) -> int:
    """Decide a stage, print the decision, and return the exit status.

    It is 1 if a promise breaks, 0 if every promise that the searches can decide was decided and holds, and 3 otherwise.
    """
    check_servers(stage, servers)
    servers, ttl_ms = servers or servers_of(stage), search.ttl_of(stage)
    questions = [question for question in search.questions(stage) if not output.only or output.only in question.tests(servers)]
    if not questions:
        raise BadInput(f"the searches of these options do not test the claim {output.only and output.only.name}")
    console = terminal(stderr=output.as_json)
    limit = TimeLimit(budget_s or (WITHIN_S if servers == 1 else WITHIN_OF_SEVERAL_S))
    with own_servers(min(MOST_WORKERS, os.cpu_count() or 1)) as running:
        real = RealRedis(running[0].host, running[0].port)
        with contextlib.closing(real), contextlib.closing(Explorer(stage, real, servers)) as explorer:
            decision = Decision(stage, ttl_ms, questions, servers=servers, only=output.only)
            with contextlib.suppress(Interrupted), _progress(console, decision, limit.budget_s) as on_answer:
                decide(decision, running, limit.budget_s, on_answer)
            decision.redis = decision.redis or real.version
            is_needed = output.keep or decision.broken().keys() & (decision.claims | stage.claims)
            shortest = list(found_shortest(decision, explorer, output.only)) if is_needed else []
            report(console, decision, shortest, output)
            if output.out is not None:
                output.out.mkdir(parents=True, exist_ok=True)
                (output.out / DECISION).write_bytes(_as_json(decision))
            if output.keep and not pending():
                kept.keep(decision, {schedule.claim.name: schedule.story for schedule in shortest}, limit.budget_s)
            promised = [schedule for schedule in shortest if schedule.claim in stage.claims]
            confirms = promised and output.confirm and not pending()
            seen = confirmed_on_cluster(promised, stage, console, limit) if confirms else None
            words = ExploredWords(decision, of_environment(os.environ))
            for line in () if output.as_json else words.next_commands(promised):
                console.print(line, soft_wrap=True)
    return ExitStatus.INTERRUPTED if pending() else status_of(decision, seen)


def status_of(decision: Decision, seen: Agreement | None = None) -> int:
    """Return the exit status. seen: whether real replicas agree that a promise breaks; None if they were not asked."""
    if decision.claims & decision.stage.claims & decision.broken().keys():
        return ExitStatus.NOTHING_SHOWN if seen is Agreement.DIFFERS else ExitStatus.BROKEN
    return ExitStatus.GOOD if decision.is_whole else ExitStatus.NOTHING_SHOWN


@contextlib.contextmanager
def _progress(console: Console, decision: Decision, limit_s: float) -> Iterator[Callable[..., None]]:
    """Print the stage, each promise as soon as it breaks, and the progress. Yield the function to call with each answer."""
    language, number = of_environment(os.environ), len(decision.answers)
    text, words = partial(say.text, "explored", language=language), ExploredWords(decision, language)
    console.print(text("begins", n=number, stage=decision.stage.name, s=f"{limit_s:g}"), style="dim", soft_wrap=True)
    done, broken = set[int](), set[Claim]()
    with console.status(text("at", number=1, of=number)) as status:

        def on_answer(place: int, _: object) -> None:
            done.add(place)
            status.update(text("at", number=min(len(done) + 1, number), of=number))
            for claim in decision.claims & decision.broken().keys() - broken:
                broken.add(claim)
                console.print(words.promise(claim, BREAKS)[0], style="red", soft_wrap=True)

        yield on_answer


def report(console: Console, decision: Decision, shortest: Sequence[Shortest], output: OutputOptions) -> None:
    """Print the searches, the story of a broken promise, and last the verdict, with a line for each claim."""
    if output.as_json:
        sys.stdout.write(_as_json(decision).decode())
        return
    language = of_environment(os.environ)
    words = ExploredWords(decision, language)
    for line in words.searched():
        console.print(line, style="dim", soft_wrap=True)
    promised = [schedule for schedule in shortest if schedule.claim in decision.stage.claims]
    for schedule in [schedule for schedule in shortest if output.only is schedule.claim] or promised[:1]:
        console.print(f"\n[bold]{schedule.claim.name}[/bold]")
        print_story(console, schedule.story)
        console.print(f"  {words.again(schedule.question, schedule.broken)}", style="dim", soft_wrap=True)
    for line, style in words.verdict():
        console.print(line, style=style, soft_wrap=True)


def _as_json(decision: Decision) -> bytes:
    return msgspec.json.format(msgspec.json.encode(kept.as_data(decision)), indent=1) + b"\n"


def print_story(console: Console, story: Story) -> None:
    """Print a schedule: a row for each event, and the story in sentences."""
    for line in rows(story, console.width, of_environment(os.environ)):
        console.print(line, soft_wrap=True)

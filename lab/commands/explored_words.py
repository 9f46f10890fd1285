"""What ``lab explore`` prints: what was searched; the verdict, a line a promise, and what can happen though it was not promised;
what to type next. The story of a broken promise stands before the verdict: the screen ends with the verdict and the next command.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from app.lock import Claim, Stage
from app.locks import stages
from lab.commands.shortest import Shortest
from lab.explore import kept
from lab.explore.code.program import FOR_EVER_MS
from lab.explore.decision import BREAKS, HOLDS, NOT_ASKED, OPEN, Decision, SearchOutcome, Undecided
from lab.explore.questions import PAIR, Question, decidable
from lab.explore.search.event import short
from lab.explore.search.search import Broken
from lab.explore.store.others import is_other
from lab.paths import COMMAND
from lab.scenario import reader
from lab.scenario.scenario import Scenario
from lab.story import say
from lab.story.deeds import of_finding
from lab.story.searches import conditions, in_words
from lab.text import WIDTH, counted, thousands

Styled = tuple[str, str]
ORDER = BREAKS, OPEN, HOLDS, NOT_ASKED
OF_THE_BUDGET = Undecided.TIME, Undecided.INTERRUPTED, Undecided.MEMORY
COLUMN = 9  # where a claim begins
WHY = {
    Undecided.TIME: "the time was over",
    Undecided.INTERRUPTED: "it was interrupted",
    Undecided.MEMORY: "the memory was over",
    Undecided.NOBODY_SERVED: "a request that is alone, without a fault, is not served",
    Undecided.FAILS: "a request fails although nothing was injected",
    Undecided.REFUSED: "the explorer does not follow this lock",
    Undecided.DIFFERS: "a schedule that was run again behaved otherwise",
    Undecided.STALLED: "this machine stalled",
    Undecided.STUCK: "the code did not come back",
    Undecided.CRASHED: "the search itself failed",
}


def verdict(decision: Decision) -> Iterator[Styled]:
    """Yield the verdict, a line for each promise, and what can happen and was not promised."""
    broken, status = decision.broken(), decision.promises()
    yield "", ""
    yield _headline(decision, status)
    if broken or any(one.is_decided for one in decision.answers):
        left_out = [claim for claim in status if status[claim] == NOT_ASKED and claim in decidable(decision.servers)]
        for claim in sorted(status, key=lambda claim: ORDER.index(status[claim])):
            if claim not in left_out:
                yield _promise(decision, claim, status[claim])
        if left_out:
            yield f"  {counted(len(left_out), 'promise')} not looked at: leave the options out that choose a search", "dim"
    others = {claim: one for claim, one in broken.items() if claim not in decision.claims and decision.only is None}
    if others:
        yield "", ""
        yield "Can happen, and is not promised:", "bold"
        for claim, about in others.items():
            yield _line("breaks", claim, "breaks", _breaks(*about, decision.ttl_ms)), ""
    for line in _open(decision):
        yield line, "yellow"


def _promise(decision: Decision, claim: Claim, status: str) -> Styled:
    match status:
        case "breaks":
            return _line("breaks", claim, "breaks", _breaks(*decision.broken()[claim], decision.ttl_ms)), "red"
        case "holds":
            return _line("holds", claim), "green"
        case "not_decided":
            return _line("open", claim, "holds", f"not decided: {_why_not(decision.missing(claim), decision.ttl_ms)}"), "yellow"
        case _:
            return _line("–", claim, "holds", f"not looked at: {instead(claim, decision.stage)}"), "dim"


def _headline(decision: Decision, status: dict[Claim, str]) -> Styled:
    name = decision.stage.name
    numbers = {what: sum(one == what for one in status.values()) for what in ORDER}
    if numbers[BREAKS] and decision.only is not None and decision.only not in decision.stage.claims:
        return f"{name} breaks {decision.only.name}, which it does not promise", "bold"
    if numbers[BREAKS]:
        return f"{name} breaks {counted(numbers[BREAKS], 'promise')}", "bold red"
    if numbers[OPEN] or not numbers[HOLDS]:
        if not any(one.is_decided for one in decision.answers):
            first = next((one for one in decision.answers if one.undecided not in OF_THE_BUDGET), decision.answers[0])
            return f"Nothing is decided of {name}: {_reason(first)}", "bold yellow"
        return f"{name}: {counted(numbers[OPEN], 'promise')} not decided", "bold yellow"
    others = (
        f"; {numbers[NOT_ASKED]} more {'is' if numbers[NOT_ASKED] == 1 else 'are'} not looked at" if numbers[NOT_ASKED] else ""
    )
    return f"{name} keeps {counted(numbers[HOLDS], 'promise')} in every order{others}", "bold green"


def _reason(answer: SearchOutcome) -> str:
    why = WHY[answer.undecided] if answer.undecided is not None else ""
    return f"{why}: {answer.about}" if answer.about else why


def why_open(searches: Sequence[dict[str, Any]]) -> str:
    """Return the first reason for which searches of a kept decision decided nothing; another reason goes before a budget."""
    found = [(Undecided(one["undecided"]), one["about"]) for one in searches if one.get("undecided")]
    why, about = next((one for one in found if one[0] not in OF_THE_BUDGET), found[0])
    return f"{WHY[why]}: {about}" if about else WHY[why]


def _line(sign: str, claim: Claim, form: str = "holds", about: str = "") -> str:
    """Return a claim in words, with its name for ``--show``, and what was seen of it."""
    made = f"{say.claim(claim.name, form)} ({claim.name}){f': {about}' if about else ''}"
    return "\n".join(
        textwrap.wrap(
            made,
            WIDTH,
            initial_indent=f"  {sign:<{COLUMN - 2}}",
            subsequent_indent=" " * COLUMN,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _breaks(answer: SearchOutcome, broken: Broken, ttl_ms: int) -> str:
    what = say.cause(of_finding(broken.finding))
    return f"{counted(len(broken.events), 'event')}, {conditions(answer.question, ttl_ms)}: {what}"


def _why_not(missing: Sequence[SearchOutcome], ttl_ms: int) -> str:
    """Return why searches do not decide a claim: which they are, or that they broke mutual exclusion before."""
    if any(one.is_decided for one in missing):
        return "where two hold the lock at once, nobody can say whose lock a release frees"
    return _open_with(missing, ttl_ms)


def _open_with(missing: Sequence[SearchOutcome], ttl_ms: int) -> str:
    """Return which searches are not decided."""
    found = list(dict.fromkeys(conditions(one.question, ttl_ms) for one in missing))
    more = f" and {counted(len(found) - 1, 'other search', 'other searches')}" if len(found) > 1 else ""
    return found[0] + more


def instead(claim: Claim, stage: Stage) -> str:
    """Return what decides a claim that no search looks at."""
    fits = (one.name for one in _scenarios() if one.tests is claim and one.misfit(stage) is None)
    return next((f"lab run {name}" for name in fits), "no search and no scenario has it")


@cache
def _scenarios() -> list[Scenario]:
    return [reader.load(name) for name in reader.names()]


def _open(decision: Decision) -> Iterator[str]:
    """Yield why searches are not decided, each reason once; but not where there was no time for what no promise needs."""
    by_reason: dict[str, list[SearchOutcome]] = {}
    for answer in decision.answers:
        if answer.undecided is not None and (answer.question.needed or answer.undecided not in OF_THE_BUDGET):
            by_reason.setdefault(_reason(answer), []).append(answer)
    nothing = not any(one.is_decided for one in decision.answers)
    for reason, answers in by_reason.items() if not nothing or len(by_reason) > 1 else ():
        yield "\n" + "\n".join(textwrap.wrap(f"Not decided with {_open_with(answers, decision.ttl_ms)}: {reason}.", WIDTH))


def again(stage: Stage, question: Question, broken: Broken, out: Path | None) -> str:
    """Return the command that runs a schedule again."""
    if out is not None:
        return f"again: {COMMAND} replay {out / broken.finding.claim.name}.json"
    command = replay(stage.lookup, question, broken)
    return f"again: {COMMAND} {command.removeprefix('lab ') or 'explore --out FOLDER keeps it as a file for lab replay'}"


def replay(named: str, question: Question, broken: Broken) -> str:
    """Return the command that runs a schedule again; empty where it needs a file. named: the stage, as a command names it."""
    task = question.task
    if not (task.at_once == task.in_turn == 1 and not task.ends and task.wait_ms == FOR_EVER_MS):
        return ""
    options = f" --work-ms {task.work_ms}" if task.work_ms else ""
    options += f" --nap-ms {task.nap_ms}" if task.nap_ms != 100 else ""
    options += " --nested" if task.nested else ""
    options += f" --clients {question.replicas}" if question.replicas > PAIR else ""
    options += f" --ttl-ms {task.ttl_ms}" if task.ttl_ms != 3000 else ""
    return f"lab replay {named}:{short(broken.events)}{options}"


def searched(decision: Decision) -> Iterator[str]:
    """Yield what was looked at and what was not."""
    yield from textwrap.wrap(_decided(decision), WIDTH)
    yield from textwrap.wrap(_not_looked_at(decision), WIDTH)


def next_commands(decision: Decision, promised: Sequence[Shortest]) -> Iterator[str]:
    """Yield what to type next, after an empty line; nothing where no claim breaks."""
    stage, found = decision.stage, []
    for one in promised[:1]:
        mends = mended_by(stage, one.claim)
        if mends:
            found.append(f"What mends it: {mends} keeps this promise in every order. {COMMAND} diff {stage.lookup} {mends}")
        found.append(f"Play it: {COMMAND} play {stage.lookup}")
    others = [claim for claim in decision.broken() if claim not in {one.claim for one in promised}]
    if others and decision.only is None:
        found.append(f"A schedule as a story: the same command with --show {others[0].name}")
    yield from ["", *found] if found else ()


def _decided(decision: Decision) -> str:
    done = [one for one in decision.answers if one.is_decided and one.found is not None]
    found = sum(one.found.schedules for one in done if one.found is not None)
    cut = sum(one.found.cut for one in done if one.found is not None)
    schedules = f", {thousands(found)} schedules" if decision.servers == 1 and found else ""
    ends = f"; {thousands(cut)} of them end at the horizon, with somebody still waiting" if cut and decision.servers == 1 else ""
    searches = counted(len(decision.answers) + decision.moot, "search", "searches")
    moot = f"; {counted(decision.moot, 'search', 'searches')} had nothing to ask" if decision.moot else ""
    server = "The counter is in Redis" if is_other(decision.stage.store) else "Redis"
    return f"Decided: {len(done)} of {searches}{schedules}{ends}{moot}. {server} {decision.redis}."


def _not_looked_at(decision: Decision) -> str:
    asked = {one.question.replicas for one in decision.answers}
    parts = [f"more than {in_words(max(asked))} clients (--clients)"]
    is_any = any(one.is_decided for one in decision.answers)
    left = [one for one in decision.answers if not one.is_decided and not one.question.needed]
    if left and is_any:
        parts.append(f"{counted(len(left), 'search', 'searches')} for which there was no time (--budget)")
    parts += ["three faults (--pauses and its kin)"]
    if any("token" not in what for what in decision.drawn.values()):
        drawn = "; ".join(f"{where} {what}" for where, what in decision.drawn.items() if what != "token")
        parts.append(f"other random numbers than these: {drawn}")
    return f"Not looked at: {'; '.join(parts)}. What is assumed: docs/explore.md."


def mended_by(stage: Stage, claim: Claim) -> str:
    """Return the next stage on the ladder that keeps a promise in every order; empty where none is known."""
    names = list(stages())
    after = names[names.index(stage.name) + 1 :] if stage.name in names and stage.lookup == stage.name else names
    for name in after:
        one = stages()[name]
        found = kept.current(one) if one.store == stage.store else None
        if found is not None and found.promises.get(claim.name) == HOLDS:
            return name
    return ""

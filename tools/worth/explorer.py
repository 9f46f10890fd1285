"""What the explorer's searches, reductions and confirmation are worth: ``python -m tools.worth explorer [PART ...] [WORD ...]``.

PART is ``search``, ``reduction`` or ``confirm``; without one, all three. Words choose the locks whose names contain them.

*search*: a default search is needed if a kept decision says otherwise of a claim without it, or if it alone finds what a wrong
lock of the corpus breaks. *reduction*: each search of a stage is searched again while a reduction is switched off; what is found
must be the same, and the row has how many states it saves, and how much time. *confirm*: what each wrong lock is said to break is
run on real replicas; a case changes if they contradict it, for it is true.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

from rich.console import Console

from app.locks import stages
from lab.evidence.decided import FILE, KeptDecision, read, why_not
from lab.evidence.record_lines import read_lines
from lab.explore.code.program import servers_of
from lab.explore.commands.on_cluster import confirmed_on_cluster
from lab.explore.commands.shortest import found_shortest
from lab.explore.decision import Decision, Explorer
from lab.explore.enact.enact import Agreement
from lab.explore.questions import TTL_MS, Question, by_default
from lab.explore.store.real_redis import RealRedis, redis_server
from lab.explore.workers import decide
from lab.scenario.stages import find_stage
from lab.servers.own_redis import own_servers
from lab.story.searches import conditions
from tests.corpus import CORPUS, EXPECTED
from tests.servers.explored import OF_ONE_SERVER, exploring, facts, searched
from tools.worth.table import Row

PARTS = ("search", "reduction", "confirm")
AT_ONCE, WITHIN_S = 6, 20.0  # searches of a wrong lock, and their time
MOST_STATES = 1500  # of a search that is compared without a reduction


def main(words: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each search, reduction, and for the confirmation."""
    parts = [one for one in PARTS if one in words] or PARTS
    chosen = [one for one in words if one not in PARTS]
    if "search" in parts:
        yield from searches(chosen)
    if "reduction" in parts:
        yield from reductions(chosen)
    if "confirm" in parts:
        yield confirmation(chosen)


def wrong_locks(words: Sequence[str]) -> list[str]:
    """Return the locks of the corpus of which a schedule breaks a promise, as the corpus says."""
    named = [one for one, about in EXPECTED.items() if about.get("explorer") == "breaks"]
    return [one for one in named if not words or any(word in one for word in words)]


def searches(words: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each default search."""
    at_work: dict[str, int] = defaultdict(int)
    changes: dict[str, list[str]] = defaultdict(list)
    for key in read_lines(FILE):
        if (kept := read(key)) is None:
            continue
        for search in kept.searches:
            name = conditions(search, kept.ttl_ms)
            at_work[name] += search["decided"]
            changes[name] += [f"{key} {claim}" for claim in _changed(kept, search)]
    with own_servers(os.cpu_count() or 1) as running:
        for lock in wrong_locks(words):
            found = _finding(lock, running)
            for name in found:
                at_work[name] += 1
            if len(found) == 1:
                changes[found[0]].append(lock)
    for name, number in at_work.items():
        yield Row("search", name, number, changes[name])


def _changed(kept: KeptDecision, left_out: dict[str, Any]) -> Iterator[str]:
    """Yield the claims of which a kept decision says otherwise without one of its searches."""
    others = [one for one in kept.searches if one is not left_out]
    for claim in {*left_out.get("breaks", ()), *left_out.get("holds", ())}:
        if _status(claim, kept.searches) != _status(claim, others):
            yield claim


def _status(claim: str, found: Iterable[dict[str, Any]]) -> str:
    known = list(found)
    return next((what for what in ("breaks", "holds") if any(claim in one.get(what, ()) for one in known)), "not_asked")


def _finding(lock: str, running: Sequence[Any]) -> list[str]:
    """Return the first searches that find what a wrong lock breaks: two of them, or all that there are."""
    stage, found = find_stage(str(CORPUS / f"{lock}.py")), list[str]()
    expected = set(EXPECTED[lock]["breaks"])
    asked = by_default(stage, TTL_MS)
    for place in range(0, len(asked), AT_ONCE):
        decision = Decision(stage, TTL_MS, asked[place : place + AT_ONCE])
        decide(decision, running, WITHIN_S)
        for answer in decision.answers:
            if answer.found is not None and expected & {claim.name for claim in answer.found.broken}:
                found.append(conditions(answer.question.as_fields(TTL_MS), TTL_MS))
        if len(found) > 1:
            break
    return found[:2]


def reductions(words: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each reduction of a lock on one server."""
    names = [name for name, one in stages().items() if not why_not(one) and servers_of(one) == 1]
    chosen = [name for name in names if not words or name in words]
    took_s: dict[str, float] = defaultdict(float)
    states: dict[str, int] = defaultdict(int)
    changes: dict[str, list[str]] = defaultdict(list)
    number = 0
    with redis_server() as real:
        for name in chosen:
            with exploring(real, name) as explorer:
                for asked in by_default(explorer.stage, TTL_MS):
                    number += _compared(explorer, asked, took_s, states, changes)
    for what in OF_ONE_SERVER:
        saved = f"{what} ({states[what] / states['']:.1f} times the states, {took_s[what] / took_s['']:.1f} times the time)"
        yield Row("reduction", saved, number, changes[what])


def _compared(
    explorer: Explorer, asked: Question, took_s: dict[str, float], states: dict[str, int], changes: dict[str, list[str]]
) -> bool:
    """Search with and without each reduction, and add what that took. Return whether the search is small enough for it."""
    whole = searched(explorer, asked, (None, True, {"MOST_STATES": MOST_STATES}))
    if not whole.complete:
        return False
    for what, switch in {"": (None, True, {}), **OF_ONE_SERVER}.items():
        began_s = time.process_time()
        found = searched(explorer, asked, switch)
        took_s[what] += time.process_time() - began_s
        states[what] += found.states
        if facts(found) != facts(whole):
            changes[what].append(f"{explorer.stage.name} {conditions(asked.as_fields(TTL_MS), TTL_MS)}")
    return True


def confirmation(words: Sequence[str]) -> Row:
    """Return the row of the confirmation on real replicas: how many wrong locks it would acquit."""
    number, contradicted = 0, []
    with own_servers(os.cpu_count() or 1) as running, closing(RealRedis(running[0].host, running[0].port)) as real:
        for lock in wrong_locks(words):
            stage = find_stage(str(CORPUS / f"{lock}.py"))
            decision = Decision(stage, TTL_MS, by_default(stage, TTL_MS)[: 2 * AT_ONCE])
            decide(decision, running, WITHIN_S)
            with closing(Explorer(stage, real)) as explorer, contextlib.redirect_stdout(io.StringIO()):
                promised = [one for one in found_shortest(decision, explorer) if one.claim in stage.claims]
                seen = confirmed_on_cluster(promised, explorer, Console(file=io.StringIO())) if promised else None
            number += seen in (Agreement.AGREES, Agreement.DIFFERS)
            contradicted += [lock] if seen is Agreement.DIFFERS else []
    return Row("confirm", "a schedule on real replicas", number, contradicted)

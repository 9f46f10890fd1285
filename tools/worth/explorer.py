"""What the explorer's searches and reductions are worth: ``python -m tools.worth explorer [PART ...] [WORD ...]``.

PART is ``search`` or ``reduction``; without one, both. Words choose the locks whose names contain them.

*search*: a default search is needed if a kept decision says otherwise of a claim without it, or if it alone finds what a wrong
lock of the corpus breaks. *reduction*: each search of a stage is searched again while a reduction is switched off; what is found
must be the same, and the row has how many states it saves.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from app.locks import stages
from lab.evidence.decided import FILE, KeptDecision, read, why_not
from lab.evidence.record_lines import read_lines
from lab.explore.code.program import servers_of
from lab.explore.decision import Decision
from lab.explore.questions import TTL_MS, by_default
from lab.explore.store.real_redis import redis_server
from lab.explore.workers import decide
from lab.scenario.stages import find_stage
from lab.servers.own_redis import own_servers
from lab.story.searches import conditions
from tests.corpus import CORPUS, EXPECTED
from tests.servers.explored import OF_ONE_SERVER, exploring, facts, searched
from tools.worth.table import Row

AT_ONCE, WITHIN_S = 6, 20.0  # searches of a wrong lock, and their time
MOST_STATES = 1500  # of a search that is compared without a reduction


def main(words: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each search and each reduction."""
    parts = {"search": searches, "reduction": reductions}
    for part in [one for one in parts if one in words] or parts:
        yield from parts[part]([one for one in words if one not in parts])


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
    for claim in {*left_out.get("breaks", ()), *left_out.get("holds", ())}:
        others = [one for one in kept.searches if one is not left_out]
        if _status(claim, kept.searches) != _status(claim, others):
            yield claim


def _status(claim: str, found: Sequence[dict[str, Any]]) -> str:
    return next((what for what in ("breaks", "holds") if any(claim in one.get(what, ()) for one in found)), "not_asked")


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
    """Yield a row for each reduction of a lock on one server. Searches that are too large without one are left out."""
    number, states, changes = 0, defaultdict[str, int](int), defaultdict[str, list[str]](list)
    names = [name for name, one in stages().items() if not why_not(one) and servers_of(one) == 1]
    with redis_server() as real:
        for name in names if not words else [one for one in names if one in words]:
            with exploring(real, name) as explorer:
                for asked in by_default(explorer.stage, TTL_MS):
                    whole = searched(explorer, asked, (None, True, {"MOST_STATES": MOST_STATES}))
                    for what, switch in {"": (None, True, {}), **OF_ONE_SERVER}.items() if whole.complete else ():
                        found = searched(explorer, asked, switch)
                        states[what] += found.states
                        if facts(found) != facts(whole):
                            changes[what].append(f"{name} {conditions(asked.as_fields(TTL_MS), TTL_MS)}")
                    number += whole.complete
    for what in OF_ONE_SERVER:
        yield Row("reduction", f"{what} ({states[what] / max(1, states['']):.1f} times the states)", number, changes[what])

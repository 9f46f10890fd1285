"""What the explorer's default searches are worth: ``python -m tools.worth explorer [WORD ...]``.

A search is needed if a kept decision says otherwise of a claim without it, or if it alone finds what a wrong lock of the corpus
breaks. Words choose the wrong locks whose names contain them.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from lab.evidence.decided import FILE, KeptDecision, read
from lab.evidence.record_lines import read_lines
from lab.explore.decision import Decision
from lab.explore.questions import TTL_MS, by_default
from lab.explore.workers import decide
from lab.scenario.stages import find_stage
from lab.servers.own_redis import own_servers
from lab.story.searches import conditions
from tests.corpus import CORPUS, EXPECTED
from tools.worth.table import Row

AT_ONCE, WITHIN_S = 6, 20.0  # searches of a wrong lock, and their time


def wrong_locks(words: Sequence[str]) -> list[str]:
    """Return the locks of the corpus of which a schedule breaks a promise, as the corpus says."""
    named = [one for one, about in EXPECTED.items() if about.get("explorer") == "breaks"]
    return [one for one in named if not words or any(word in one for word in words)]


def main(words: Sequence[str]) -> Iterator[Row]:
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

"""The generated parts of docs/conditions.md: for each claim, the stages that keep it, promise it, or fail in it.

A row has every stage of the ladder once. The promises are from the records of the stages, the outcomes from the reference
matrix. The page names the claims of each condition in its markers, so no second list has to agree with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from app.lock import Claim
from app.locks import stages
from lab.docgen.cells import Outcome, worst
from lab.errors import choose_from
from lab.paths import DOCS
from lab.text import table

PAGE = DOCS / "conditions.md"
NAMED = re.compile(r"<!-- generated: keeping (?P<claims>[^\n]+?) -->")
PROMISED = "promised, not tried"
KEPT, LOST_OTHERWISE, FAILED, UNTRIED = "kept in a run", Outcome.LOST_OTHERWISE.value, "failed in a run", "not tried"
FEW = 6  # stages that are missing from a list: so few are given in its place
# the conditions of the documents, each with the claims that its words name: the columns of the table of ticks
CONDITIONS = {
    "visible to every process": ("exclusive_in_process", "exclusive"),
    "exclusive while all goes well": ("exclusive", "serves_most_requests"),
    "exclusive when a holder is slow or stopped": (
        "held_to_the_end", "survives_a_slow_acquire", "survives_a_freeze", "survives_a_late_freeze"
    ),
    "freed after a crash": ("freed_after_crash", "acquires_atomically"),
    "freed after every end of a holder": ("freed_after_crash", "acquires_atomically", "freed_after_failure", "freed_after_hang"),
    "freed by its holder only": ("releases_only_its_own", "releases_atomically"),
    "available with a server down": ("available_with_a_node_down",),
    "reentrant": ("reentrant",),
    "blocking and not": ("answers_a_try_at_once", "prompt_handover", "waiters_may_leave"),
}  # fmt: skip
COLUMNS = (KEPT, PROMISED, LOST_OTHERWISE, FAILED, UNTRIED)


def _keeping(*names: str) -> str:
    """Return a table with a row for each claim, and below it the stages that keep all of them."""
    below = f"\nIn all rows: {_in_all_rows(*names)}.\n" if len(names) > 1 else ""
    return _table(_claims(names)) + below


def _table(claims: Sequence[Claim]) -> str:
    """Return a row for each claim. A column in which no stage stands is left out."""
    found = {claim: columns(claim) for claim in claims}
    heads = [head for head in COLUMNS if head == KEPT or any(of[head] for of in found.values())]
    rows = []
    for claim, of in found.items():
        cells = [f"{len(of[head])} of {len(stages())} stages" if head == UNTRIED else _listed(of[head]) for head in heads]
        rows.append([f"`{claim.name}`: {claim.value}", *cells])
    return table(["the claim", *heads], rows)


def _claims(names: Sequence[str]) -> list[Claim]:
    known = [claim.name for claim in Claim]
    return [Claim[choose_from("claim", name, known, "docs/conditions.md")] for name in names]


def columns(claim: Claim) -> dict[str, list[str]]:
    """Return the stages by what is known of them and a claim. Each stage stands in exactly one list."""
    seen = worst().get(claim.name, {})
    heads = {Outcome.KEPT: KEPT, Outcome.LOST_OTHERWISE: LOST_OTHERWISE, Outcome.FAILED: FAILED}
    found: dict[str, list[str]] = {head: [] for head in COLUMNS}
    for name, stage in stages().items():
        untried = PROMISED if claim in stage.claims else UNTRIED
        found[heads.get(seen.get(name, Outcome.NOT_TRIED), untried)].append(name)
    return found


def _listed(names: Sequence[str]) -> str:
    """Return names for a cell or a sentence. Where they are most of the ladder, the others are fewer to read."""
    others = [name for name in stages() if name not in names]
    if 0 < len(others) <= FEW:
        return f"all but {', '.join(f'`{name}`' for name in others)}"
    return ", ".join(f"`{name}`" for name in names) or "no stage"


def _places(names: Sequence[str]) -> dict[str, set[str]]:
    """Return the columns in which each stage stands for some claims."""
    found = [columns(claim) for claim in _claims(names)]
    return {name: {head for of in found for head in COLUMNS if name in of[head]} for name in stages()}


def _in_all_rows(*names: str) -> str:
    """Return the stages that kept every one of the claims in runs, as words."""
    kept = [name for name, of in _places(names).items() if of == {KEPT}]
    return f"{_listed(kept)} ({len(kept)} of {len(stages())} stages)" if kept else f"no stage of {len(stages())}"


def _ticks() -> str:
    """Return a row for each stage and a column for each condition: whether the stage kept the claims of the condition in runs."""
    places = {head: _places(names) for head, names in CONDITIONS.items()}
    kept = [f"{sum(of == {KEPT} for of in found.values())} of {len(stages())}" for found in places.values()]
    rows = [[f"`{name}`", *(_tick(found[name]) for found in places.values())] for name in stages()]
    return table(["the stage", *CONDITIONS], [*rows, ["✓", *kept]])


def _tick(of: set[str]) -> str:
    """Return the sign for the columns in which a stage stands for the claims of a condition. The page explains the signs."""
    if FAILED in of:
        return "✗"
    if not of & {KEPT, LOST_OTHERWISE}:
        return "–"
    if of & {PROMISED, UNTRIED}:
        return "(✓)"
    return "~" if LOST_OTHERWISE in of else "✓"


def _rest() -> str:
    """Return the table of the claims that the page names nowhere else."""
    return _table([claim for claim in Claim if claim.name not in named()])


def named() -> set[str]:
    """Return the claims that the page asks for under one of its conditions."""
    return {name for marker in NAMED.finditer(PAGE.read_text(encoding="utf-8")) for name in marker["claims"].split()}


def _fail(name: str) -> str:
    """Return the stages that failed in a claim, as words."""
    (claim,) = _claims([name])
    return _listed(columns(claim)[FAILED])


PARTS: dict[str, Callable[..., str]] = {"keeping": _keeping, "ticks": _ticks, "fail": _fail, "other_claims": _rest}

"""The generated parts of docs/conditions.md: for each claim, the stages that keep it, promise it, or fail in it.

A row has every stage of the ladder once. The promises are from the records of the stages, the outcomes from the reference
matrix. The page names the claims of each condition in its markers, so no second list has to agree with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from app.lock import Claim
from app.locks import stages
from lab.errors import choose_from
from lab.language import Language, quoted
from lab.paths import DOCS
from lab.report.reference import Outcome, worst
from lab.story.say import ENGLISH, text, words
from lab.text import table

PAGE = DOCS / "conditions.md"
NAMED = re.compile(r"<!-- generated: keeping (?P<claims>[^\n]+?) -->")
# what is known of a stage and a claim, by the ids of their words
KEPT, LOST_OTHERWISE, FAILED, UNTRIED = Outcome
PROMISED = "promised"  # and not tried
FEW = 6  # stages that are missing from a list: so few are given in its place
# the conditions of the documents by the ids of their words, each with the claims that it names: the columns of the table of ticks
CONDITIONS = {
    "visible": ("exclusive_in_process", "exclusive"),
    "exclusive": ("exclusive", "serves_most_requests"),
    "exclusive_when_stopped": (
        "held_to_the_end", "survives_a_slow_acquire", "survives_a_freeze", "survives_a_late_freeze"
    ),
    "freed_after_crash": ("freed_after_crash", "acquires_atomically"),
    "freed_after_all": ("freed_after_crash", "acquires_atomically", "freed_after_failure", "freed_after_hang"),
    "freed_by_holder": ("releases_only_its_own", "releases_atomically"),
    "available": ("available_with_a_node_down",),
    "reentrant": ("reentrant",),
    "blocking": ("answers_a_try_at_once", "prompt_handover", "waiters_may_leave"),
}  # fmt: skip
COLUMNS = (KEPT, PROMISED, LOST_OTHERWISE, FAILED, UNTRIED)


def _keeping(*names: str, language: Language = ENGLISH) -> str:
    """Return a table with a row for each claim, and below it the stages that keep all of them."""
    below = text("keeping", "in_all_rows", language, stages=_in_all_rows(*names, language=language)) if len(names) > 1 else ""
    return _table(_claims(names), language) + (f"\n{below}\n" if below else "")


def _table(claims: Sequence[Claim], language: Language) -> str:
    """Return a row for each claim. A column in which no stage stands is left out."""
    found = {claim: columns(claim) for claim in claims}
    heads = [head for head in COLUMNS if head == KEPT or any(of[head] for of in found.values())]
    rows = []
    for claim, of in found.items():
        promise = quoted("claim", claim.value, language)
        cells = [_number(of[head], language) if head == UNTRIED else _listed(of[head], language) for head in heads]
        rows.append([text("keeping", "row", language, claim=claim.name, promise=promise), *cells])
    return table([text("keeping", head, language) for head in ("claim", *heads)], rows)


def _number(names: Sequence[str], language: Language) -> str:
    return text("keeping", "of_all", language, len(names), all=len(stages()))


def _claims(names: Sequence[str]) -> list[Claim]:
    known = [claim.name for claim in Claim]
    return [Claim[choose_from("claim", name, known, "docs/conditions.md")] for name in names]


def columns(claim: Claim) -> dict[str, list[str]]:
    """Return the stages by what is known of them and a claim. Each stage stands in exactly one list."""
    seen = worst(claim.name).get(claim.name, {})
    found: dict[str, list[str]] = {head: [] for head in COLUMNS}
    for name, stage in stages().items():
        found[seen.get(name, PROMISED if claim in stage.claims else UNTRIED)].append(name)
    return found


def _listed(names: Sequence[str], language: Language = ENGLISH) -> str:
    """Return names for a cell or a sentence. Where they are most of the ladder, the others are fewer to read."""
    comma = str(words(language)["mark"]["names_comma"])
    others = [name for name in stages() if name not in names]
    if 0 < len(others) <= FEW:
        return text("keeping", "all_but", language, others=comma.join(f"`{name}`" for name in others))
    return comma.join(f"`{name}`" for name in names) or text("keeping", "no_stage", language)


def _places(names: Sequence[str]) -> dict[str, set[str]]:
    """Return the columns in which each stage stands for some claims."""
    found = [columns(claim) for claim in _claims(names)]
    return {name: {head for of in found for head in COLUMNS if name in of[head]} for name in stages()}


def _in_all_rows(*names: str, language: Language) -> str:
    """Return the stages that kept every one of the claims in runs, as words."""
    kept = [name for name, of in _places(names).items() if of == {KEPT}]
    places = {"stages": _listed(kept, language), "all": len(stages())}
    return text("keeping", "counted" if kept else "nowhere", language, len(kept), **places)


def _ticks(*, language: Language = ENGLISH) -> str:
    """Return a row for each stage and a column for each condition: whether the stage kept the claims of the condition in runs."""
    places = {head: _places(names) for head, names in CONDITIONS.items()}
    numbers = [sum(of == {KEPT} for of in found.values()) for found in places.values()]
    kept = [text("keeping", "total", language, number, all=len(stages())) for number in numbers]
    rows = [[f"`{name}`", *(_tick(found[name]) for found in places.values())] for name in stages()]
    heads = [text("condition", head, language) for head in CONDITIONS]
    return table([text("keeping", "stage", language), *heads], [*rows, ["✓", *kept]])


def _tick(of: set[str]) -> str:
    """Return the sign for the columns in which a stage stands for the claims of a condition. The page explains the signs."""
    if FAILED in of:
        return "✗"
    if not of & {KEPT, LOST_OTHERWISE}:
        return "–"
    if of & {PROMISED, UNTRIED}:
        return "(✓)"
    return "~" if LOST_OTHERWISE in of else "✓"


def _rest(*, language: Language = ENGLISH) -> str:
    """Return the table of the claims that the page names nowhere else."""
    return _table([claim for claim in Claim if claim.name not in named()], language)


def named() -> set[str]:
    """Return the claims that the page asks for under one of its conditions."""
    return {name for marker in NAMED.finditer(PAGE.read_text(encoding="utf-8")) for name in marker["claims"].split()}


def _fail(name: str, *, language: Language = ENGLISH) -> str:
    """Return the stages that failed in a claim, as words."""
    (claim,) = _claims([name])
    return _listed(columns(claim)[FAILED], language)


PARTS: dict[str, Callable[..., str]] = {"keeping": _keeping, "ticks": _ticks, "fail": _fail, "other_claims": _rest}

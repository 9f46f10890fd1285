"""Compare two stages: the code, the promises, and the rest of the record.

The code is the file below its docstring, without the ``STAGE`` record. Definitions that the new stage imports from the old one
are left out: they are the lesson of the old stage only.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import re
import tokenize
from collections.abc import Iterable, Sequence

from app.lock import Claim, Stage

SETTINGS = ("store", "resource", "ttl_ms", "ttl_step_ms")  # fields of the record whose change a reader should see


@dataclasses.dataclass(frozen=True)
class Changes:
    """How the records of two stages differ."""

    # promises that only the new stage makes, in the order of Claim
    gained: tuple[Claim, ...]
    # promises that only the old stage makes
    lost: tuple[Claim, ...]
    # other fields that changed: the name, the old value, the new value
    settings: tuple[tuple[str, object, object], ...]


def difference(old: Stage, new: Stage) -> list[str]:
    """Return the lines of a unified diff of the code of two stages; no lines if both have the same lock."""
    if old.lock is new.lock:
        return []
    before, after = code(old, without=_taken(new, old)), code(new)
    return [line.rstrip("\n") for line in difflib.unified_diff(before, after, old.name, new.name, n=2)]


def changes(old: Stage, new: Stage) -> Changes:
    """Compare the records of two stages."""
    return Changes(
        gained=_in_order(new.claims - old.claims),
        lost=_in_order(old.claims - new.claims),
        settings=tuple(
            (name, getattr(old, name), getattr(new, name)) for name in SETTINGS if getattr(old, name) != getattr(new, name)
        ),
    )


def code(stage: Stage, without: Iterable[str] = ()) -> list[str]:
    """Return the lines of a stage's file, without its docstring, its ``STAGE``, and the definitions of these names."""
    text = _text(stage)
    lines = text.splitlines(keepends=True)
    body = ast.parse(text).body
    gone = {"STAGE", *without}
    left_out: set[int] = set()
    for number, node in enumerate(body):
        if (number == 0 and ast.get_docstring(ast.Module([node], []))) or gone & _defined(node):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    kept = "".join(line for number, line in enumerate(lines, 1) if number not in left_out)
    return (re.sub(r"\n{4,}", "\n\n\n", kept).strip("\n") + "\n").splitlines(keepends=True)


def _text(stage: Stage) -> str:
    if stage.path is None:
        raise ValueError(f"stage {stage.name!r} was not read from a file")
    with tokenize.open(stage.path) as file:  # open it in the encoding that it declares
        return file.read()


def _in_order(claims: frozenset[Claim]) -> tuple[Claim, ...]:
    return tuple(claim for claim in Claim if claim in claims)


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a file defines, without imports."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {node.target.id} if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else set()


def _taken(new: Stage, old: Stage) -> set[str]:
    """Return the definitions in the old stage's file that the new stage imports, and definitions that only these use."""
    imported = {
        name.name
        for node in ast.parse(_text(new)).body
        if isinstance(node, ast.ImportFrom) and node.module == f"app.locks.{old.name}"
        for name in node.names
    }
    body = ast.parse(_text(old)).body
    defined = set().union(*map(_defined, body))
    taken = imported & defined
    while True:
        machinery = [node for node in body if _defined(node) & taken]
        rest = [node for node in body if not _defined(node) & taken]
        more = (_used(machinery) - _used(rest)) & defined - taken
        if not more:
            return taken
        taken |= more


def _used(nodes: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements use, without the names that each defines itself."""
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name) and one.id not in _defined(node)}

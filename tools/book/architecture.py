"""The generated parts of docs/architecture.md: the folders of ``lab`` and their uses of each other, read from the imports.

Imports that follow from others are left out (the transitive reduction of the graph: Aho, Garey, Ullman, "The Transitive Reduction
of a Directed Graph", SIAM Journal on Computing 1, 1972). The order is that of the layers of the contract in pyproject.toml.
"""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

from lab.paths import HOME
from lab.text import table

LAB = HOME / "lab"


@cache
def contract() -> dict[str, list[str]]:
    """Return the contract in pyproject.toml of which folder may import which."""
    contracts = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return next(one for one in contracts if one.get("containers") == ["lab"])


def layers() -> list[list[str]]:
    """Return the folders and modules of ``lab`` by layer, the highest first."""
    return [[name.strip() for name in layer.split("|")] for layer in contract()["layers"]]


@cache
def uses() -> dict[str, set[str]]:
    """Return what each folder or module of ``lab`` imports of the others. What the contract excuses is left out."""
    known = {name for layer in layers() for name in layer}
    excused = {tuple(one.strip().split(".")[1] for one in pair.split("->")) for pair in contract().get("ignore_imports", [])}
    found: dict[str, set[str]] = {name: set() for name in known}
    for path in LAB.rglob("*.py"):
        part = path.relative_to(LAB).parts[0].removesuffix(".py")
        if part in known:
            found[part] |= {imported for package, imported in _imports(path) if package == "lab" and imported in known} - {part}
            found[part] -= {used for user, used in excused if user == part}
    return found


def doors() -> list[str]:
    """Return the modules of ``app`` that ``lab`` and the load scripts import."""
    paths = [*LAB.rglob("*.py"), *(HOME / "locustfiles").glob("*.py")]
    return sorted({name for path in paths for package, name in _imports(path) if package == "app"})


@cache
def _imports(path: Path) -> frozenset[tuple[str, str]]:
    """Return what a file imports from packages, at its top or inside a function: each package, and the part of it."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = [(node.module.split("."), node.names) for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return frozenset((module[0], part) for module, names in found for part in module[1:2] or [one.name for one in names])


def reduced(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the arrows of a graph without cycles that do not follow from other arrows."""

    @cache
    def reach(name: str) -> frozenset[str]:
        return frozenset(graph[name]).union(*(reach(used) for used in graph[name]))

    return sorted(
        (name, used)
        for name, direct in graph.items()
        for used in direct
        if not any(used in reach(other) for other in direct - {used})
    )


def summary(name: str) -> str:
    """Return the first sentence of a folder's or module's docstring: what it is."""
    path = LAB / name / "__init__.py" if (LAB / name).is_dir() else LAB / f"{name}.py"
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n\n")[0].replace("\n", " ").partition(". ")[0].partition(" (")[0].removesuffix(".")


def _folders() -> str:
    """Return the folders and modules of ``lab`` by layer, the highest first: what each is, and what it imports directly."""
    direct = reduced(uses())
    rows = []
    for layer in layers():
        for name in layer:
            own = f"`{name}/`" if (LAB / name).is_dir() else f"`{name}.py`"
            rows.append([own, summary(name), ", ".join(f"`{used}`" for user, used in direct if user == name)])
    return table(["folder or module", "what it is", "imports"], rows)


def _doors() -> str:
    """Return the modules of ``app`` that the lab uses."""
    return ", ".join(f"`app.{name}`" for name in doors())


PARTS = {"folders": _folders, "doors": _doors}

"""The picture of docs/architecture.md: the folders of ``lab`` and their uses of each other, drawn from the imports.

An arrow means that one folder imports another. Arrows that follow from others are left out (the transitive reduction of the
graph: Aho, Garey, Ullman, "The Transitive Reduction of a Directed Graph", SIAM Journal on Computing 1, 1972). The rows are the
layers of the contract in pyproject.toml, so an arrow that points upwards cannot be.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path

from lab.paths import DOCS, HOME

DRAWN = DOCS / "architecture.svg"
LAB = HOME / "lab"
OUTSIDE = "bootstrap"  # not in the contract: it runs before anything else can be imported
WIDTH, BOX_WIDTH, BOX_HEIGHT, ROW_HEIGHT, TOP = 980, 236, 54, 86, 16
LETTERS = 38  # of a line of small text in a box


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
    known = {name for layer in layers() for name in layer} | {OUTSIDE}
    excused = {tuple(one.strip().split(".")[1] for one in pair.split("->")) for pair in contract().get("ignore_imports", [])}
    found: dict[str, set[str]] = {name: set() for name in known}
    for path in LAB.rglob("*.py"):
        part = path.relative_to(LAB).parts[0].removesuffix(".py")
        if part in known:
            found[part] |= {imported for imported in _imports(path) if imported in known} - {part}
            found[part] -= {used for user, used in excused if user == part}
    return found


def doors() -> list[str]:
    """Return the modules of ``app`` that ``lab`` and the load scripts import."""
    paths = [*LAB.rglob("*.py"), *(HOME / "locustfiles").glob("*.py")]
    return sorted({name for path in paths for name in _imports(path, "app")})


def _imports(path: Path, package: str = "lab") -> Iterator[str]:
    """Yield the parts of a package that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{package}."):
            yield node.module.split(".")[1]


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


def draw(folder: Path) -> Path:
    """Write the picture into a folder, as SVG. Returns its path."""
    rows = [layer for layer in layers() if any((LAB / name).is_dir() or name in ("cli", "pipeline") for name in layer)]
    places = {name: _place(row, column, len(names)) for row, names in enumerate(rows) for column, name in enumerate(names)}
    places[OUTSIDE] = (WIDTH - BOX_WIDTH - 12, TOP)
    height = TOP + ROW_HEIGHT * (len(rows) + 1)
    arrows = [_arrow(places[name], places[used]) for name, used in reduced(uses()) if used in places]
    boxes = [line for name, place in places.items() for line in _box(name, place)]
    boxes += _foundation([name for layer in layers() for name in layer if name not in places], height - ROW_HEIGHT)
    path = folder / DRAWN.name
    path.write_text("\n".join([*_head(height), *arrows, *boxes, "</svg>"]) + "\n", encoding="utf-8")
    return path


def _place(row: int, column: int, columns: int) -> tuple[float, float]:
    """Return the upper left corner of a box: the boxes of a row stand side by side in the middle."""
    gap = 22
    left = (WIDTH - columns * BOX_WIDTH - (columns - 1) * gap) / 2
    return left + column * (BOX_WIDTH + gap), TOP + row * ROW_HEIGHT


def _head(height: int) -> list[str]:
    label = "The folders of lab: each box uses only boxes below it"
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}"',
        ' font-family="DejaVu Sans, Arial, sans-serif">',
        f"<title>{label}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">',
        '<path d="M0 0L8 4L0 8z" fill="#777777"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]


def _arrow(user: tuple[float, float], used: tuple[float, float]) -> str:
    """Return a curve from the bottom of one box to the top of another."""
    x1, y1 = user[0] + BOX_WIDTH / 2, user[1] + BOX_HEIGHT
    x2, y2 = used[0] + BOX_WIDTH / 2, used[1] - 1
    if y2 - y1 > ROW_HEIGHT:  # around the boxes of the rows between, from side to side
        x1, y1, x2, y2 = user[0] + BOX_WIDTH, user[1] + BOX_HEIGHT / 2, used[0] + BOX_WIDTH + 1, used[1] + BOX_HEIGHT / 2
        bend = max(x1, x2) + 90
        curve = f"C{bend:.0f} {y1:.0f} {bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    else:
        middle = (y1 + y2) / 2
        curve = f"C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2:.0f}"
    return f'<path d="M{x1:.0f} {y1:.0f}{curve}" fill="none" stroke="#777777" stroke-width="1.4" marker-end="url(#tip)"/>'


def _box(name: str, place: tuple[float, float]) -> Iterator[str]:
    """Yield a box with the name of a folder or module, and what it is."""
    x, y = place
    folder = (LAB / name).is_dir()
    fill, stroke = ("#e8f1fa", "#0072B2") if folder else ("#f4f4f4", "#999999")
    yield f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" fill="{fill}" stroke="{stroke}"/>'
    middle = x + BOX_WIDTH / 2
    yield (
        f'<text x="{middle:.0f}" y="{y + 18:.0f}" text-anchor="middle" font-size="14" font-weight="bold" fill="#111111">'
        f"{name}{'/' if folder else ''}</text>"
    )
    for number, line in enumerate(textwrap.wrap(summary(name), LETTERS, max_lines=2, placeholder=" …")):
        yield (
            f'<text x="{middle:.0f}" y="{y + 33 + 13 * number:.0f}" text-anchor="middle" font-size="10.5" fill="#333333">'
            f"{escape(line)}</text>"
        )


def _foundation(names: list[str], y: float) -> Iterator[str]:
    """Yield one wide box for the modules that every folder may use: arrows to them would say nothing."""
    yield f'<rect x="130" y="{y:.0f}" width="{WIDTH - 260}" height="{BOX_HEIGHT}" rx="6" fill="#f4f4f4" stroke="#999999"/>'
    yield (
        f'<text x="{WIDTH / 2:.0f}" y="{y + 22:.0f}" text-anchor="middle" font-size="14" font-weight="bold" fill="#111111">'
        f"{', '.join(names)}</text>"
    )
    yield (
        f'<text x="{WIDTH / 2:.0f}" y="{y + 40:.0f}" text-anchor="middle" font-size="10.5" fill="#333333">'
        "modules that every folder may use; they use none of the folders</text>"
    )

"""Where tests are, and what they may import."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from lab.paths import HOME
from tests.every import every

TESTS = HOME / "tests"
FOLDERS = {"unit", "servers", "browser", "containers"}
FILES = sorted(TESTS.rglob("test_*.py"))
PACKAGES = {"app", "locustfiles", *(path.name for path in (HOME / "lab").iterdir() if path.is_dir())}


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports."""
    nodes = list(ast.walk(parsed(path)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return names


@every("path", lambda: sorted(TESTS.rglob("*.py")))
def test_no_import_of_a_test(path):
    """No file of the tests imports a module of tests: what two of them need is in a module of its own."""
    assert [name for name in imported(path) if ".test_" in f".{name}" and name.startswith("tests")] == []


def test_every_test_has_its_folder():
    """Each test is in a folder that marks it; a unit test is in the folder of the package that it tests."""
    places = [path.relative_to(TESTS).parts for path in FILES]

    assert {parts[0] for parts in places} == FOLDERS
    assert {parts[1] for parts in places if parts[0] == "unit" and len(parts) > 2} <= PACKAGES


def test_the_mark_is_the_folder(request):
    """The folder of a test is its mark."""
    assert {mark.name for mark in request.node.iter_markers()} & FOLDERS == {"unit"}


def test_names_are_short():
    """The name of a test has at most 50 characters; its docstring is the sentence that is true when it passes."""
    names = [node.name for path in FILES for node in parsed(path).body if isinstance(node, ast.FunctionDef)]

    assert [name for name in names if name.startswith("test_") and len(name) > 50] == []

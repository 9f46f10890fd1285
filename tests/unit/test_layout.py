"""Where tests are, and what they may import."""

from __future__ import annotations

import re

from lab.paths import HOME

TESTS = HOME / "tests"
FOLDERS = {"unit", "servers", "browser", "containers"}
FILES = sorted(TESTS.rglob("test_*.py"))
PACKAGES = {"app", "locustfiles", *(path.name for path in (HOME / "lab").iterdir() if path.is_dir())}
# ``from tests.unit.test_a import b``, ``import tests.unit.test_a`` and ``from tests.unit import test_a``, also over several lines
OF_A_TEST = re.compile(r"^ *(?:from|import) tests[\w.]*(?:\.test_| import (?:\([^)]*|[^\n]*)\btest_)", re.MULTILINE)


def test_no_import_of_a_test():
    """No file of the tests imports a module of tests: what two of them need is in a module of its own."""
    assert [path.name for path in TESTS.rglob("*.py") if OF_A_TEST.search(path.read_text(encoding="utf-8"))] == []
    assert OF_A_TEST.search("from tests.unit import (\n    one,\n    test_layout,\n)")


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
    names = [name for path in FILES for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)]

    assert len(names) > 1000
    assert [name for name in names if len(name) > 50] == []

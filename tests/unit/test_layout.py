"""Where tests are, what they may import, and which runs they make again."""

import re
from pathlib import Path
from types import SimpleNamespace

from lab.judge.fact import Code, Fact
from lab.judge.judgement import Verdict
from lab.paths import HOME
from tests.every import every
from tests.trial import Tried, condemned, is_evidence, until_settled

TESTS = HOME / "tests"
FOLDERS = {"unit", "servers", "browser", "containers"}
FILES = sorted(TESTS.rglob("test_*.py"))
PACKAGES = {"app", "locustfiles", *(path.name for name in ("lab", "tools") for path in (HOME / name).iterdir() if path.is_dir())}
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


UNREACHED = (Verdict.VOID, Code.DANGER_NOT_REACHED)
DOUBTFUL = (Verdict.VOID, Code.NO_WRITE_OF)
ACCUSED = (Verdict.BROKEN, Code.LOST)
KEPT = (Verdict.KEPT, None)
ADMITTED = (Verdict.ADMITTED, Code.LOST)


@every(
    "runs, is_settled, most, made",
    [
        ([UNREACHED, KEPT], is_evidence, 2, 2),
        ([UNREACHED, UNREACHED, KEPT], is_evidence, 2, 2),
        ([ACCUSED, KEPT], is_evidence, 2, 1),
        ([ADMITTED, KEPT], is_evidence, 2, 1),
        ([DOUBTFUL, KEPT], is_evidence, 2, 1),
        ([KEPT, UNREACHED, ACCUSED], condemned, 3, 3),
        ([KEPT, KEPT, KEPT, ACCUSED], condemned, 3, 3),
        ([ACCUSED, KEPT], condemned, 3, 1),
    ],
)
def test_until_settled(runs, is_settled, most, made):
    """A run without evidence is made once more; a lock that must be condemned has three runs."""
    judgements = [SimpleNamespace(verdict=verdict, why=[Fact(code)] if code else []) for verdict, code in runs]
    coming, repeated = iter(judgements), []

    tried = until_settled(lambda: Tried(next(coming), set(), Path()), is_settled, most, repeated.append)

    assert tried.judgement is judgements[made - 1]
    assert repeated == judgements[: made - 1]

"""Test the shelves of published locks and of known failures: each file names claims, pages and versions that can be checked."""

import json
import re
from urllib.parse import urlsplit

import pytest

from app.lock import Claim
from lab.errors import BadInput
from lab.evidence.loss import Mechanism
from lab.libraries import environments, known_failure
from lab.libraries import shelf as libraries
from lab.paths import HOME
from lab.scenario import reader
from lab.scenario.options import OPTIONS
from tests.every import every

# the sites on which projects have their documents and code; no registry, because its pages change with each version
HOMES = {"github.com", "opendev.org", "docs.celeryq.dev", "www.postgresql.org"}
REPORT = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")


def assert_quoted(promises):
    """Check that promises are claims, each with words and the address of a page."""
    for claim, quote in promises.items():
        assert claim in Claim.__members__
        assert quote.words.strip() == quote.words != ""
        assert urlsplit(quote.link).scheme == "https"


def installed(environment):
    """Return the packages of an environment, each with its version; without an environment, the packages of the lab."""
    lock = environments.LOCKED / f"{environment}.txt" if environment else HOME / "requirements" / "run.txt"
    found = set(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", lock.read_text(encoding="utf-8"), flags=re.MULTILINE))
    of_npm = environments.LOCKED / environment / "package.json"
    if environment and of_npm.is_file():
        for name, version in json.loads(of_npm.read_text(encoding="utf-8"))["dependencies"].items():
            package, _, exactly = version.removeprefix("npm:").rpartition("@")  # npm:redlock@4.2.0, or 1.0.0
            found.add((package or name, exactly))
    return found


@every("name", libraries.names)
def test_libraries_file(name):
    """A library's file loads even if the library is not installed, and names the version that its lock file installs."""
    _, _, library, stage = libraries.load(name)

    assert_quoted(library.promises)
    assert {urlsplit(quote.link).netloc for quote in library.promises.values()} <= HOMES
    if name.startswith("pypi_"):
        assert (library.package.lower().replace("_", "-"), library.version) in installed(stage.environment)


@every("name", known_failure.names)
def test_failures_file(name):
    """A failure's file loads even if its library is not installed, and its link leads to its report.

    A run has a scenario of the lab with existing options, a claim with its mechanism or a number of commands, and the
    version that its lock file installs.
    """
    known = known_failure.load(name)
    failure = known.failure

    assert_quoted(failure.promises)
    assert failure.link.startswith("https://")
    if failure.report:
        repository, number = REPORT.fullmatch(failure.report).groups()
        assert re.fullmatch(rf"https://github\.com/{repository}/(issues|pull)/{number}", failure.link)
    if failure.not_run:
        return
    assert failure.scenario in reader.names()
    assert set(failure.options) <= set(OPTIONS)
    if failure.commands:
        assert not failure.breaks
    else:
        assert failure.breaks in Claim.__members__
        assert failure.by in list(Mechanism)
    if failure.package != "celery":  # its recipe is in its documentation
        assert (failure.package, failure.version) in installed(known.stage.environment)


def test_unknown_failure():
    """An unknown name of a failure is refused with the nearest name."""
    with pytest.raises(BadInput, match="redis_py_621"):
        known_failure.load("redis_py_612")

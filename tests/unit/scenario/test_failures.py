"""The shelf of known failures: what each file says of its failure is there to be checked."""

from __future__ import annotations

import json
import re

import pytest

from app.lock import Claim
from lab.errors import BadInput
from lab.evidence.loss import Mechanism
from lab.paths import HOME
from lab.scenario import libraries, reader
from lab.scenario.failures import load, names
from lab.scenario.options import OPTIONS
from lab.servers import environments
from tests.every import every

REPORT = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")
RUN = [name for name in names() if not load(name).failure.not_run]


@every("name", names())
def test_failures_file(name):
    """A file loads where its library is not installed; the link of a report is the report's, and a promise has its words."""
    failure = load(name).failure

    assert failure.link.startswith("https://")
    if failure.report:
        repository, number = REPORT.fullmatch(failure.report).groups()
        assert re.fullmatch(rf"https://github\.com/{repository}/(issues|pull)/{number}", failure.link)
    for claim, quote in failure.promises.items():
        assert claim in Claim.__members__
        assert quote.words.strip() == quote.words != ""
        assert quote.link.startswith("https://")


@every("name", RUN)
def test_failures_run(name):
    """A run has a scenario of the lab with options that there are, and either a claim with its mechanism or a lock next to it."""
    failure = load(name).failure

    assert failure.scenario in reader.names()
    assert set(failure.options) <= set(OPTIONS)
    if failure.compared:
        assert failure.compared.library in libraries.names()
        assert not failure.breaks
    else:
        assert failure.breaks in Claim.__members__
        assert failure.by in list(Mechanism)


@every("name", [name for name in RUN if load(name).failure.package != "celery"])  # its recipe is in its documentation
def test_failures_version(name):
    """The version that a file names is the one that its lock file installs; without an environment, that of the lab's own."""
    known = load(name)

    assert (known.failure.package, known.failure.version) in installed(known.stage.environment)


def installed(environment):
    """Return the packages that an environment has, each with its version."""
    lock = environments.LOCKED / f"{environment}.txt" if environment else HOME / "requirements.txt"
    found = set(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", lock.read_text(encoding="utf-8"), flags=re.MULTILINE))
    of_npm = environments.LOCKED / environment / "package.json"
    if environment and of_npm.is_file():
        for name, version in json.loads(of_npm.read_text(encoding="utf-8"))["dependencies"].items():
            package, _, exactly = version.removeprefix("npm:").rpartition("@")  # npm:redlock@4.2.0, or 1.0.0
            found.add((package or name, exactly))
    return found


def test_unknown_failure():
    """A name that is not on the shelf gets the nearest one."""
    with pytest.raises(BadInput, match="redis_py_621"):
        load("redis_py_612")

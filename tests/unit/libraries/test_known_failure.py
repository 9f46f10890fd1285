"""Test the known failures: when a run shows one, and the error if its library is missing."""

from types import SimpleNamespace

import pytest

from lab.errors import ExitStatus, MissingPackage
from lab.evidence.loss import Mechanism
from lab.judge.fact import Code, Fact
from lab.judge.judgement import Verdict, Violation
from lab.libraries import environments
from lab.libraries.known_failure import load, names, replay_failures
from tests.every import every

CLAIM = load("redis_py_621")
COUNTED = load("node_redlock_168")
BROKEN = Violation("exclusive", Mechanism.ENTERED_ALTHOUGH_REFUSED, [Fact(Code.LOST, n=3)], [], claimed=True)


def judged(verdict=Verdict.BROKEN, violations=(), commands_per_increment=40.0):
    """Return a run with this verdict, these violations and this number of commands."""
    return SimpleNamespace(verdict=verdict, violations=violations, commands_per_increment=commands_per_increment, why=[])


@every(
    "known, about, is_shown",
    [
        (CLAIM, {"violations": [BROKEN]}, True),
        (CLAIM, {"violations": [BROKEN], "verdict": Verdict.ADMITTED}, True),
        (CLAIM, {"violations": [BROKEN], "verdict": Verdict.VOID}, False),
        (CLAIM, {}, False),
        (COUNTED, {"commands_per_increment": 580.0}, True),
        (COUNTED, {"commands_per_increment": 579.9}, False),
        (COUNTED, {"commands_per_increment": 580.0, "verdict": Verdict.VOID}, False),
    ],
)
def test_shows(known, about, is_shown):
    """A run shows a failure if it broke the claim by the mechanism, or needed as many commands; a VOID run shows nothing."""
    found = judged(**about)

    assert known.shows(found) is is_shown
    assert known.in_words(found).startswith("Shown: " if is_shown else "Not shown: ")


def test_missing_environment(monkeypatch):
    """Without its library, a failure is not replayed; the error has the command that installs it."""
    monkeypatch.setattr(environments, "is_made", lambda name: name != "redis_2")

    with pytest.raises(MissingPackage, match="lab libraries install redis_2") as error:
        replay_failures([CLAIM.name])
    assert error.value.exit_status is ExitStatus.CANNOT_RUN


def test_failure_without_a_run(capsys):
    """A failure that is never run prints its reason, and counts as not shown."""
    known = next(one for one in map(load, names()) if one.stage is None)

    assert replay_failures([known.name]) is ExitStatus.NOTHING_SHOWN
    assert known.failure.not_run in " ".join(capsys.readouterr().out.split())

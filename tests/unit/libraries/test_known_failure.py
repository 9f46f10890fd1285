"""Known failures: what counts as shown, what is kept, and the error where the library is missing."""

import msgspec
import pytest

from lab.errors import ExitStatus, MissingPackage
from lab.evidence.loss import Mechanism
from lab.judge.fact import Code, Fact
from lab.judge.judgement import Verdict, Violation
from lab.libraries import environments, known_failure
from lab.libraries.known_failure import Replayed, in_words, keep, kept, load, names, replay
from lab.libraries.replay_failures import replay_failures
from tests.every import every

CLAIM = load("redis_py_621")
COUNTED = load("node_redlock_168")
BROKEN = Violation("exclusive", Mechanism.ENTERED_ALTHOUGH_REFUSED, [Fact(Code.LOST, n=3)], [], claimed=True)


def replayed(**about):
    """What a run of 300 requests showed."""
    usual = {
        "verdict": Verdict.BROKEN,
        "why": [],
        "lost": 3,
        "commands_per_increment": 40.0,
        "fingerprint": CLAIM.fingerprint,
        "run": "run",
    }
    return Replayed(**usual | {"requests": 300, "acknowledged": 300} | about)


@every(
    "known, about, is_shown",
    [
        (CLAIM, {"violation": BROKEN}, True),
        (CLAIM, {"violation": BROKEN, "verdict": Verdict.ADMITTED}, True),
        (CLAIM, {"violation": BROKEN, "verdict": Verdict.VOID}, False),
        (CLAIM, {}, False),
        (COUNTED, {"commands_per_increment": 580.0}, True),
        (COUNTED, {"commands_per_increment": 579.9}, False),
        (COUNTED, {"commands_per_increment": 580.0, "verdict": Verdict.VOID}, False),
    ],
)
def test_shows(known, about, is_shown):
    """A run shows a failure if it broke the claim in that way, or needed so many commands; a void run shows nothing."""
    found = replayed(**about)

    assert found.shows(known) is is_shown
    assert in_words(known, found).startswith("Shown: " if is_shown else "Not shown: ")


def test_kept_of_another_file(monkeypatch, tmp_path):
    """What is kept belongs to the text of its file: when that changes, nothing is known."""
    monkeypatch.setattr(known_failure, "KEPT", tmp_path / "kept")
    found = replayed(violation=BROKEN)
    keep(CLAIM, found)

    assert kept(CLAIM) == found
    keep(CLAIM, msgspec.structs.replace(found, fingerprint="another"))
    assert kept(CLAIM) is None


def test_missing_environment(monkeypatch):
    """Without its library, a failure is not replayed; the error has the command that installs it."""
    monkeypatch.setattr(environments, "is_made", lambda name: name != "redis_2")

    with pytest.raises(MissingPackage, match="lab libraries --install redis_2") as error:
        replay(CLAIM)
    assert error.value.exit_status is ExitStatus.CANNOT_RUN


def test_failure_without_a_run(capsys):
    """A failure that is not run is answered with its reason, and counts as not shown."""
    known = next(one for one in map(load, names()) if one.stage is None)

    assert replay_failures([known.name], is_kept=False) is ExitStatus.NOTHING_SHOWN
    assert known.failure.not_run in " ".join(capsys.readouterr().out.split())

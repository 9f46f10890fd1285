"""What the explorer says of the locks on the shelves: each has an expected answer, and a sound lock is never accused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from lab.commands.explore import status_of
from lab.errors import ExitStatus
from lab.explore.decision import NOT_ASKED, Decision
from lab.explore.questions import TTL_MS, by_default
from lab.explore.server import servers
from lab.explore.store.others import why_not
from lab.explore.workers import decide
from lab.scenario.stages import find_stage
from tests.sampled import sampled

LOCKS = Path(__file__).with_name("locks")
BUDGET_S = 240.0  # three test workers share two cores
SHELVES = tomllib.loads((LOCKS / "explored.toml").read_text(encoding="utf-8"))
TRIAL = tomllib.loads((LOCKS / "trial" / "expected.toml").read_text(encoding="utf-8"))
# A lock for each of the rules: seconds each. The others, and those that are sound, are tried by `make trial`.
SAMPLE = {
    "broken/adds_in_one_command",
    "broken/fails_after_the_work",
}


def all_of(shelf: str, names: object) -> list[object]:
    """Return a parameter for each lock of a shelf."""
    return sampled((f"{shelf}/{name}" for name in names), SAMPLE)  # type: ignore[attr-defined] # a table


def explored(path: str) -> tuple[int, set[str], set[str]]:
    """Return the exit status of an exploration of a lock, the promises that break, and those that were not looked at."""
    stage = find_stage(str(LOCKS / f"{path}.py"))
    if why_not(stage):
        return ExitStatus.NOTHING_SHOWN, set(), set()
    decision = Decision(stage, TTL_MS, by_default(stage, TTL_MS))
    with servers(2, stage.store) as running:
        decide(decision, running, BUDGET_S)
    broken = {claim.name for claim in decision.broken() if claim in stage.claims}
    return status_of(decision), broken, {claim.name for claim in decision.of_status(NOT_ASKED)}


def test_every_lock_has_an_answer():
    """Every lock on the shelves has an expected answer, and every answer its lock."""
    for shelf in ("broken", "sound"):
        assert {path.stem for path in (LOCKS / shelf).glob("*.py")} == set(SHELVES[shelf])
    for shelf in ("wrong", "sound"):
        assert {path.stem for path in (LOCKS / "trial" / shelf).glob("*.py")} == set(TRIAL[shelf])


@pytest.mark.parametrize("path", all_of("broken", SHELVES["broken"]))
def test_a_broken_lock(path):
    """A broken lock is found to break what it is made to break, or it is said that nobody can know."""
    expected = SHELVES["broken"][path.removeprefix("broken/")]

    status, broken, not_asked = explored(path)

    if expected == "not_looked_at":
        assert status == ExitStatus.GOOD
        assert not_asked
    elif expected in ("refused", "not_decided", "open"):
        assert status in (ExitStatus.BROKEN, ExitStatus.NOTHING_SHOWN)
    else:
        assert status == ExitStatus.BROKEN
        assert expected in broken


@pytest.mark.parametrize("path", all_of("sound", SHELVES["sound"]) + all_of("trial/sound", TRIAL["sound"]))
def test_a_sound_lock(path):
    """A sound lock is never accused."""
    _, shelf, name = ("", *path.split("/"))[-3:]
    expected = TRIAL["sound"][name]["explorer"] if path.startswith("trial") else SHELVES[shelf][name]

    status, broken, _ = explored(path)

    assert broken == set()
    assert status == ExitStatus.GOOD or (status == ExitStatus.NOTHING_SHOWN and expected != "holds")


@pytest.mark.parametrize("path", all_of("trial/wrong", TRIAL["wrong"]))
def test_a_wrong_lock(path):
    """A wrong lock of the trial is found to break one of its promises, unless no order and no time can show it."""
    expected = TRIAL["wrong"][path.rpartition("/")[2]]

    status, broken, _ = explored(path)

    match expected["explorer"]:
        case "breaks":
            assert status == ExitStatus.BROKEN
            assert broken & set(expected["breaks"])
        case "not_looked_at":
            assert status in (ExitStatus.GOOD, ExitStatus.NOTHING_SHOWN)
        case _:
            assert status in (ExitStatus.BROKEN, ExitStatus.NOTHING_SHOWN)

"""The judge on the shelf of trial locks: wrong ones are condemned, sound ones are never accused, and no loss is ever KEPT.

``locks/trial/expected.toml`` has what is expected of each lock. The whole shelf takes long, and runs with ``-m trial``; an
ordinary run has a sample of it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from lab.judge.judgement import Verdict
from tests.trial import condemned

TRIAL = Path(__file__).with_name("locks") / "trial"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((TRIAL / "expected.toml").read_text(encoding="utf-8"))
# A lock that is wrong only by chance, or in one run of several, is tried this often.
MOST = 3
# What the judge cannot show, each with the reason: then the run must at least not be a pass over a loss.
NOT_SHOWN = {
    "only_raises": "a lock that raises for every request may just not fit this machine: no request was served, which is VOID",
    "fence_ends_with_the_lock": "the resource takes the next fence within the TTL and half a second, which is what is promised",
    "token_of_one_digit": "two of ten digits meet by chance",
    "database_by_the_pid": "the processes of a run may all have even numbers",
}
# Where the lab does not see a client of the lock, it never says KEPT.
NOT_SEEN = {"two_clients": "a client that the lab sees"}
# another view of the same harm: which one a run shows is chance
ALSO = {
    "counts_timeouts_as_votes": {"granted to two holders at once"},
    "two_permits_in_the_process": {"released before the end of the work"},
}
SAMPLE_WRONG = (
    "believes_its_cache",
    "calls_two_waiters",
    "counts_its_tries_first",
    "dawdles_past_its_lease",
    "four_stripes_of_one_number",
    "gives_the_work_up_and_lets_it_go_on",
    "releases_in_the_background",
    "renewal_dies_and_a_gauge_lives",
)
SAMPLE_SOUND = (
    ("frees_by_value", "work_fails"),
    ("lock_server_thread", "slow_holder"),
    ("released_in_a_thread", "slow_holder"),
    ("tries_and_then_is_handed_over", "frozen_holder"),
)

WRONG = {name: one for name, one in EXPECTED["wrong"].items() if one.get("run")}
SOUND = [(name, run) for name, one in EXPECTED["sound"].items() for run in one["run"]]


def split(run: str) -> tuple[str, dict[str, int | float]]:
    """Return the scenario and the options of ``rush --requests 60 --work-ms 3``."""
    scenario, *words = run.split()
    options = zip(words[::2], words[1::2], strict=True)
    return scenario, {name[2:].replace("-", "_"): float(value) if "." in value else int(value) for name, value in options}


def condemn(name, try_lock) -> None:
    """Try a wrong lock, and compare with what is expected."""
    expected = WRONG[name]
    scenario, options = split(expected["run"])
    judgement, *_ = try_lock(scenario, str(TRIAL / "wrong" / f"{name}.py"), options, most=MOST, is_settled=condemned)

    if name in NOT_SHOWN and judgement.verdict is not Verdict.BROKEN:
        assert judgement.verdict is Verdict.VOID or not judgement.lost or scenario != "rush", judgement.why
        return
    assert judgement.verdict is Verdict.BROKEN, judgement.why
    assert {one.claim for one in judgement.violations} & set(expected["breaks"]), judgement.why
    found = {one.mechanism for one in judgement.violations}
    assert found & {expected["mechanism"], *ALSO.get(name, ())}, judgement.why


def acquit(name, run, try_lock) -> None:
    """Try a sound lock."""
    scenario, options = split(run)
    judgement, claims, _ = try_lock(scenario, str(TRIAL / "sound" / f"{name}.py"), options)

    assert [one for one in judgement.violations if one.claim in claims] == [], judgement.why
    if name in NOT_SEEN:
        assert judgement.verdict is Verdict.VOID
        assert NOT_SEEN[name] in judgement.why
    else:
        assert judgement.verdict in (Verdict.KEPT, Verdict.ADMITTED), judgement.why


def test_every_lock_is_expected():
    """Each file on the shelf has an entry, and each entry its file."""
    for shelf in ("wrong", "sound"):
        assert {path.stem for path in (TRIAL / shelf).glob("*.py")} == set(EXPECTED[shelf])


@pytest.mark.parametrize("name", SAMPLE_WRONG)
def test_a_wrong_lock_of_the_sample(name, try_lock):
    """A wrong lock is condemned, by the right mechanism."""
    condemn(name, try_lock)


@pytest.mark.parametrize(("name", "scenario"), SAMPLE_SOUND)
def test_a_sound_lock_of_the_sample(name, scenario, try_lock):
    """A sound lock in an unusual shape is not accused."""
    acquit(name, next(run for run in EXPECTED["sound"][name]["run"] if run.split()[0] == scenario), try_lock)


@pytest.mark.trial
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_lock_is_condemned(name, try_lock):
    """Each wrong lock is condemned, by the right mechanism."""
    condemn(name, try_lock)


@pytest.mark.trial
@pytest.mark.parametrize(("name", "run"), SOUND)
def test_a_sound_lock_is_never_accused(name, run, try_lock):
    """No sound lock is accused, under any of its scenarios."""
    acquit(name, run, try_lock)

"""The explorer on the locks of the corpus: each has an expected answer, and a sound lock is never accused."""

from __future__ import annotations

import os
import signal
import weakref

import pytest

from lab import interrupts
from lab.errors import ExitStatus
from lab.evidence.decided import why_not
from lab.explore import workers
from lab.explore.commands.explore import status_of
from lab.explore.decision import NOT_ASKED, Decision, Undecided
from lab.explore.questions import TTL_MS, by_default
from lab.explore.workers import decide
from lab.interrupts import Interrupted, interruptible
from lab.scenario.stages import find_stage
from lab.servers.own_redis import own_servers
from tests.corpus import CORPUS, EXPECTED
from tests.sampled import sampled

BUDGET_S = 240.0  # three test workers share two cores
# One lock that breaks and one that is not decided, seconds each. `make trial` tries all others, also the sound locks.
SAMPLE = {
    "broken/adds_in_one_command",
    "broken/fails_after_the_work",
}


def all_of(*shelves: str) -> list[object]:
    """Return a parameter for each lock of the shelves."""
    return sampled((lock for lock in EXPECTED if lock.rpartition("/")[0] in shelves), SAMPLE)


def explored(path: str) -> tuple[int, set[str], set[str]]:
    """Explore a lock. Return the exit status, the promises that break, and the promises that were not asked about."""
    stage = find_stage(str(CORPUS / f"{path}.py"))
    if why_not(stage):
        return ExitStatus.NOTHING_SHOWN, set(), set()
    decision = Decision(stage, TTL_MS, by_default(stage, TTL_MS))
    with own_servers(2) as running:
        decide(decision, running, BUDGET_S)
    broken = {claim.name for claim in decision.broken() if claim in stage.claims}
    return status_of(decision), broken, {claim.name for claim in decision.of_status(NOT_ASKED)}


@pytest.mark.parametrize("path", all_of("sound", "trial/sound"))
def test_a_sound_lock(path):
    """A sound lock is never accused."""
    status, broken, _ = explored(path)

    assert broken == set()
    assert status == ExitStatus.GOOD or (status == ExitStatus.NOTHING_SHOWN and EXPECTED[path]["explorer"] != "holds")


@pytest.mark.parametrize("path", all_of("broken", "trial/wrong"))
def test_a_wrong_lock(path):
    """A wrong lock breaks one of its promises, unless its expected answer is that the explorer cannot decide it."""
    expected = EXPECTED[path]

    status, broken, not_asked = explored(path)

    match expected["explorer"]:
        case "breaks":
            assert status == ExitStatus.BROKEN
            assert broken & set(expected["breaks"])
        case "not_looked_at":
            assert status == ExitStatus.NOTHING_SHOWN or (status == ExitStatus.GOOD and not_asked)
        case _:
            assert status in (ExitStatus.BROKEN, ExitStatus.NOTHING_SHOWN)


def test_a_search_without_a_processor(monkeypatch):
    """A search whose process gets no processor time is called starved, and not stuck."""
    monkeypatch.setattr(workers, "_work", lambda *about: signal.pause())
    decision = Decision(find_stage("uuid"), TTL_MS, by_default(find_stage("uuid"), TTL_MS)[:1])
    with own_servers(1) as running:
        decide(decision, running, 1.0)

    assert [(one.undecided, one.detail.isdigit()) for one in decision.answers] == [(Undecided.STARVED, True)]


def test_a_signal_while_an_answer_is_taken(monkeypatch):
    """A signal in a callback of the interpreter, which drops exceptions, still ends the searches."""
    decision = Decision(find_stage("uuid"), TTL_MS, by_default(find_stage("uuid"), TTL_MS))
    monkeypatch.setattr(interrupts, "_pending", [])  # so that later runs of this process are not taken for interrupted

    def on_answer(number, answer):
        weakref.finalize(set(), os.kill, os.getpid(), signal.SIGINT)

    with interruptible(), own_servers(1) as running, pytest.raises(Interrupted):
        decide(decision, running, 60.0, on_answer)

    assert Undecided.INTERRUPTED in {one.undecided for one in decision.answers}

"""A history whose stamps come from several hosts is judged by its values alone, and the verdict says so."""

import dataclasses

import pytest

from lab.evidence.history import History
from lab.evidence.loss import Mechanism
from lab.evidence.run_folder import save
from lab.judge.analysis import analyse_without_clock
from lab.judge.run_facts import RunFacts
from lab.judge.verdict import judge
from lab.scenario import reader
from lab.story.verdict import why as reasons
from tests.builders import Made, record_of

HOUR = 3_600_000


@pytest.fixture
def skewed(tmp_path) -> Made:
    """Three increments: the second host's clock is an hour ahead, and its write destroys one."""
    made = Made(tmp_path)
    made.increment("r0", read=0, overwrote=0)
    made.increment("r1", read=0, overwrote=1, at=HOUR, replica="replica-2")
    return made.increment("r2", read=1, overwrote=1, at=(4, 5, 6, 7))


def judged(made: Made, clocks: int, tests: str = "rush", final: int = 2, **danger: int):
    situation = dataclasses.replace(reader.load(tests), requests=3, danger=danger)
    about = dataclasses.asdict(situation) | {"tests": situation.tests.name}
    stage = {"name": "lua", "claims": ["exclusive", situation.tests.name]}
    save(made.folder / "run.json", record_of(about, stage, final, clocks=clocks))
    return judge(made.folder)[0]


def test_losses_need_no_clock(skewed):
    """What was lost, and which write destroyed it, needs no clock. Overlaps and waits between hosts are not computed."""
    found = analyse_without_clock(History(skewed.folder), RunFacts(has_store=True, final={"": 2}))

    assert (found.account.lost, found.account.disagreement) == (1, None)
    assert list(found.waits_ns) == [0, 1, 1]  # each by the clock of its own host
    assert list(found.losses) == [Mechanism.WROTE_OVER_UNREAD]
    (loss,) = found.losses[Mechanism.WROTE_OVER_UNREAD].examples
    assert (loss.culprit.request, loss.victim.request) == ("r1", "r0")
    assert (found.overlaps, list(found.idle_times), found.duration_s) == ({}, [], 0)
    # handovers are counted in the order of the values; who came before r2, its value alone does not say
    assert found.measures["handovers_between_replicas"] == 1


def test_verdict_names_the_clocks(skewed):
    """The verdict states that only values were compared."""
    judgement = judged(skewed, clocks=2)

    assert judgement.verdict == "BROKEN"
    assert judgement.clocks == 2
    assert "the clocks of 2 machines cannot be compared" in reasons(judgement)


def test_claim_about_time_is_void(tmp_path):
    """A claim about time proves nothing between hosts."""
    made = Made(tmp_path)
    for number in range(3):
        made.increment(f"r{number}", read=number, overwrote=number, at=(number * HOUR,) * 4, replica=f"replica-{number}")
    judgement = judged(made, clocks=2, tests="starvation", final=3)

    assert judgement.verdict == "VOID"
    assert "fair is judged by one clock" in reasons(judgement)

"""The searches of the explorer in words: their conditions, and what they decide of a claim."""

from lab.evidence.decided import CheapestBreak, Summary
from lab.explore.code.program import FOR_EVER_MS, Task
from lab.explore.questions import TTL_MS, Question
from lab.explore.search.event import Budget
from lab.language import Language
from lab.story.searches import conditions, summary
from tests.every import every

PAUSE, PAIR, WORK = (
    Question(task, budget).as_fields(TTL_MS)
    for task, budget in (
        (Task(TTL_MS), Budget(pauses=1)),
        (Task(TTL_MS), Budget(pauses=2)),
        (Task(TTL_MS, 5000), Budget()),
    )
)
UNUSUAL = Question(Task(TTL_MS, 0, 2000, nested=True, at_once=2, in_turn=3), Budget(), replicas=3).as_fields(TTL_MS)


@every(
    "search, said",
    [
        (PAUSE, "1 pause"),
        (WORK, "work of 5\u00a0s"),
        (Question(Task(TTL_MS, 0, 0)).as_fields(TTL_MS), "a single try"),
        (Question(Task(9000, 0, FOR_EVER_MS, ends=True)).as_fields(TTL_MS), "a TTL of 9\u00a0s, random numbers at both ends"),
        (
            UNUSUAL,
            "three clients, two requests at once in each, three requests each, the lock taken twice, a wait of at most 2\u00a0s",
        ),
    ],
)
def test_conditions(search, said):
    """What is usual in a search is not said; without anything else, that there is no fault."""
    assert conditions(search, TTL_MS) == said


@every(
    "found, said",
    [
        (Summary(1562, True, None, ()), "holds in 1562 schedules"),
        (Summary(0, True, None, ()), "holds"),
        (
            Summary(10, True, None, (PAUSE, WORK, PAIR)),
            "holds in 10 schedules; not decided with 1 pause, work of 5\u00a0s, 1 pair of faults",
        ),
        (
            Summary(0, False, CheapestBreak(10, "A", PAUSE, (140, 1552)), ()),
            "breaks with 1 pause, in 140 of 1552 schedules; a shortest has 10 events",
        ),
    ],
)
def test_summary(found, said):
    """Pairs of faults are counted, and a share is of the schedules of one search. All of it is said in Chinese as well."""
    assert summary(found, TTL_MS) == said
    assert summary(found, TTL_MS, Language.CHINESE).isascii() is False

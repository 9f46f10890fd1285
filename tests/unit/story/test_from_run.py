"""Test the facts in the caption and the title of a judged run, from histories made by hand."""

import pytest

from app.journal import Started
from lab.evidence.loss import Mechanism
from lab.story.from_run import caption, outcome, title
from lab.story.happening import Kind
from tests.builders import outlived, picture_of


def actors(happened) -> list[tuple]:
    """Return the kind of each happening, its actor, and the other requests in it."""
    return [(one.kind, one.actor, *one.others) for one in happened]


def kinds(happened) -> list[Kind]:
    return [one.kind for one in happened]


def test_a_loss_in_steps(made):
    """A loss in steps has no caption; the facts after the steps and the title have the cause and the losses of the run."""
    picture = picture_of(outlived(made), final=1, ttl_ms=300, tests="held_to_the_end")

    assert caption(picture) == ()
    assert [(one.kind, one.cause) for one in outcome(picture)] == [
        (Kind.CAUSE, Mechanism.TTL_OVER_IN_WORK),
        (Kind.RUN_LOST, None),
    ]
    assert [(one.kind, one.cause) for one in title(picture)] == [
        (Kind.DESTROYED, Mechanism.TTL_OVER_IN_WORK),
        (Kind.RUN_LOST, None),
    ]
    picture.lost = 0
    assert kinds(outcome(picture))[-1] is Kind.BROUGHT_BACK


@pytest.mark.parametrize(("recovered_ms", "lasted_ms"), [(30, 19), (13, 0)])
def test_a_fault_without_harm(made, recovered_ms, lasted_ms):
    """A fault that is over at once, such as an exception or a lost reply, has no duration to report."""
    made.fault("some_new_harm", "a", 11, recovered_ms).increment("a", 0, 0, at=(10, 11, 40, 41))

    (happened,) = caption(picture_of(made, final=1))

    assert (happened[0].kind, happened[0].fault, happened[0].for_ms) == (Kind.HELD_AT_FAULT, "some_new_harm", lasted_ms)
    assert happened[-1].kind is Kind.NOTHING_LOST


def test_fault_without_a_request(made):
    """A fault whose failpoint no request reached has no request, neither in the caption nor in the title."""
    made.fault("fail_renewal", "", 11, 12, failpoint="renew.before").increment("a", 0, 0, at=(10, 11, 40, 41))
    made.increment("b", 1, 1, at=(50, 51, 52, 53))
    picture = picture_of(made, final=2)

    assert actors(caption(picture)[0])[0] == (Kind.FAULT_ANYWHERE, "")
    assert actors(title(picture))[0] == (Kind.NEXT_GOT, "b")


def test_a_run_in_which_nothing_was_written(made):
    made.answer("a", "failed", start_ns=1, end_ns=2)
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=1, pid=1))

    assert kinds(caption(picture_of(made, final=0))[0]) == [Kind.NOTHING_WRITTEN]


def test_title_of_a_late_picture(made):
    """The title of a picture that opens in the middle of the run has the time at which it opens."""
    for number in range(40):
        made.increment(f"r{number}", number, number, at=(100 * number, 100 * number + 1, 100 * number + 2, 100 * number + 3))
    picture = picture_of(made, final=40)
    picture.opens = (2_490_000, 2_810_000)

    one, lost = title(picture)

    assert (one.kind, one.at_ms, one.number, one.for_ms) == (Kind.GOT_WITHIN_FROM, 2490, 4, 320)
    assert lost.kind is Kind.NOTHING_LOST

"""What a caption and a title state of a judged run, from histories made by hand: kinds, who, values, order."""

import pytest

from app.journal import GaveUp, Started
from lab.evidence.loss import Mechanism
from lab.story.from_run import caption, outcome, title
from lab.story.happening import Kind
from lab.story.timeline import NEVER
from tests.builders import MS, Made, outlived, picture_of


def killed(made: Made) -> Made:
    made.increment("r0", 0, None, at=(100, 101, 102, 103), outcome="unknown")
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=300 * MS, pid=2))
    return made.fault("kill", "r0", 110, 111)


def who(happened) -> list[tuple]:
    """The kind of each happening, who did it, and whom it is about."""
    return [(one.kind, one.actor, *one.others) for one in happened]


def kinds(happened) -> list[Kind]:
    return [one.kind for one in happened]


def test_a_loss_in_steps(made):
    """The steps name the requests; what follows them, and the title, have the cause and what the run lost."""
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


def test_died_and_never_freed(made):
    """A holder died with the lock, and no request got it again."""
    killed(made).line("journal/replica-1.jsonl", GaveUp(request="b", asked_ns=1, gave_up_ns=2100 * MS, why="", commands=9))
    picture = picture_of(made, final=0, tests="freed_after_crash")

    (happened,) = caption(picture)

    assert who(happened) == [
        (Kind.HELD_AT_DEATH, "r0"),
        (Kind.NOBODY_GOT_AFTER_DEATH, "", "r0"),
        (Kind.GAVE_UP, ""),
        (Kind.NOTHING_LOST, ""),
    ]
    assert kinds(title(picture)) == [Kind.NOBODY_GOT_AFTER_DEATH, Kind.GAVE_UP]


def test_granted_once_more_and_never_again(made):
    """After a fault one request got the lock, and the one that asked when it was done never did."""
    killed(made).increment("r1", 0, 0, at=(650, 651, 652, 653), replica="replica-2", released=700)
    made.line("journal/replica-1.jsonl", GaveUp(request="b", asked_ns=800 * MS, gave_up_ns=2100 * MS, why="", commands=9))
    picture = picture_of(made, final=1, tests="freed_after_crash")

    (happened,) = caption(picture)

    assert (Kind.NOBODY_GOT_SINCE, "r1") in who(happened)
    assert kinds(title(picture))[0] is Kind.NOBODY_GOT_SINCE


def test_died_and_the_ttl_freed_it(made):
    """A holder died with the lock, and the TTL freed it; the requests that gave up meanwhile are counted."""
    made.key_event("set", 100).key_event("expire", 100).key_event("expired", 620)
    killed(made).increment("r1", 0, 0, at=(650, 651, 652, 653), replica="replica-2")
    for name, gave_up_ms in (("b", 300), ("c", 400), ("d", 900)):
        made.line("journal/replica-1.jsonl", GaveUp(request=name, asked_ns=1, gave_up_ns=gave_up_ms * MS, why="", commands=9))
    picture = picture_of(made, final=1, ttl_ms=500, tests="freed_after_crash")

    (happened,) = caption(picture)

    assert who(happened)[1:4] == [(Kind.LEASE_ENDED, "r0"), (Kind.NEXT_GOT_AFTER_DEATH, "r1", "r0"), (Kind.GAVE_UP_BEFORE, "")]
    assert (happened[2].for_ms, happened[3].number) == (540, 2)
    assert kinds(title(picture)) == [Kind.NEXT_GOT_AFTER_DEATH, Kind.NOTHING_LOST]


@pytest.mark.parametrize(("recovered_ms", "lasted_ms"), [(30, 19), (13, 0)])
def test_a_fault_without_harm(made, recovered_ms, lasted_ms):
    """A fault that is over at once, such as an exception or a lost reply, has no duration to report."""
    made.fault("some_new_harm", "a", 11, recovered_ms).increment("a", 0, 0, at=(10, 11, 40, 41))

    (happened,) = caption(picture_of(made, final=1))

    assert (happened[0].kind, happened[0].fault, happened[0].for_ms) == (Kind.HELD_AT_FAULT, "some_new_harm", lasted_ms)
    assert happened[-1].kind is Kind.NOTHING_LOST


def test_fault_of_nobody(made):
    """A fault whose failpoint no request reached has no request in the caption nor in the title."""
    made.fault("fail_renewal", "", 11, 12, failpoint="renew.before").increment("a", 0, 0, at=(10, 11, 40, 41))
    made.increment("b", 1, 1, at=(50, 51, 52, 53))
    picture = picture_of(made, final=2)

    assert who(caption(picture)[0])[0] == (Kind.FAULT_ANYWHERE, "")
    assert who(title(picture))[0] == (Kind.NEXT_GOT, "b")


def test_a_run_in_which_nothing_happened(made):
    made.increment("a", 0, 0, at=(1, 2, 3, 4)).increment("b", 1, 1, at=(10, 11, 12, 13), replica="replica-2")

    (happened,) = caption(picture_of(made, final=2))

    assert [(one.kind, one.number) for one in happened] == [(Kind.WRITTEN, 2), (Kind.NONE_LOST, 1)]


def test_a_run_in_which_nothing_was_written(made):
    made.answer("a", "failed", start_ns=1, end_ns=2)
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=1, pid=1))

    assert kinds(caption(picture_of(made, final=0))[0]) == [Kind.NOTHING_WRITTEN]


@pytest.mark.parametrize(
    ("result", "where", "happened", "titled"),
    [
        ("error: Refused: the fence 4 is older than 30", "write.before", Kind.WRITE_REFUSED, Kind.FENCE_OLDER),
        ("error: Refused: the fence 30 is older than 30", "write.before", Kind.WRITE_REFUSED, Kind.FENCE_OF_ANOTHER),
        ("error: Refused: the fence 4 is older than 30", "write_again.before", Kind.SECOND_WRITE_REFUSED, Kind.FENCE_OLDER),
        ("error: Abandoned: the lock was no longer held", "read.after", Kind.GAVE_WORK_UP, Kind.NEXT_GOT),
    ],
)
def test_a_holder_that_did_not_write(made, result, where, happened, titled):
    """The caption of a fault states that the late write was refused, or that its holder gave up; the title states why."""
    made.fault("freeze", "r0", 110, 900).increment("r0", 0, 0, at=(100, 101, 920, 921))
    made.increment("r1", 0, 0, at=(650, 651, 652, 653), replica="replica-2")
    picture = picture_of(made, final=1, ttl_ms=500)
    holder = next(held for held in picture.held if held.request == "r0")
    holder.result, picture.focus, picture.focus_fault = result, NEVER, 0
    picture.faults[0].failpoint = where

    assert (happened, "r0") in who(caption(picture)[0])
    assert kinds(title(picture))[:2] == [happened, titled]


def test_a_holder_beyond_its_ttl(made):
    """A run without a loss names the holder that had the lock for longer than the TTL: a renewal kept it."""
    made.increment("a", 0, 0, at=(1, 2, 451, 453))

    (happened,) = caption(picture_of(made, final=1, ttl_ms=300))

    assert (happened[-1].kind, happened[-1].actor, happened[-1].for_ms, happened[-1].ttl_ms) == (
        Kind.HELD_BEYOND_TTL,
        "a",
        452,
        300,
    )


def test_title_of_a_late_picture(made):
    """A picture that opens in the middle of the run states from when on."""
    for number in range(40):
        made.increment(f"r{number}", number, number, at=(100 * number, 100 * number + 1, 100 * number + 2, 100 * number + 3))
    picture = picture_of(made, final=40)
    picture.opens = (2_490_000, 2_810_000)

    one, lost = title(picture)

    assert (one.kind, one.at_ms, one.number, one.for_ms) == (Kind.GOT_WITHIN_FROM, 2490, 4, 320)
    assert lost.kind is Kind.NOTHING_LOST


def test_caption_and_picture_open_on_the_claim(made):
    """The caption states how the claim under test fared, with the cost; so does the title, and the picture opens on it."""
    for request, asked, got, number in (("b", 20, 30, 0), ("c", 40, 50, 1), ("a", 10, 900, 2)):
        made.increment(request, number, number, at=got, asked=asked)
    picture = picture_of(made, final=3, tests="fair")

    assert who(caption(picture)[0]) == [(Kind.OVERTAKEN, "a"), (Kind.NOTHING_LOST, "")]
    assert title(picture) == picture.claim
    assert picture.about[1] - picture.about[0] == 890_000
    assert (picture.opens[0], picture.opens[1] >= picture.about[1]) == (0, True)


def test_a_loss_and_a_claim(made):
    """Next to the steps of a loss, a caption states how the claim under test fared."""
    made.increment("a", 0, 0, at=(10, 20, 60, 61)).increment("b", 0, 1, at=(30, 40, 80, 81), replica="replica-2")
    made.increment("b", 1, 1, at=(90, 91, 92, 93), replica="replica-2", turn=2, outcome=None)

    (claim,) = caption(picture_of(made, final=2, tests="counts_once"))

    assert kinds(claim) == [Kind.REPEATED, Kind.WRITTEN_TOO_OFTEN]

"""Test a loss in at most six steps, as facts, from histories made by hand and from the kept runs of the book."""

from lab.story.happening import Kind
from lab.story.steps import HARM, MOST, WRITES, Line, StepsOfLoss, holder, lines_of, of_focus, steps
from lab.story.timeline import NEVER
from tests.builders import outlived, picture_of
from tests.every import every
from tests.kept_runs import timelines

KEPT = timelines()


def happened(found: StepsOfLoss) -> list[list[tuple[Kind, str]]]:
    """Return the events of each step, with their actors."""
    return [[(event.kind, event.actor) for event in step] for step in found.steps]


def test_news_of_the_store_may_be_late(made):
    """If the store reports the end of A's key only after B's grant, the lease still ends before that grant."""
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 380)
    made.increment("r0", 0, 0, at=(10, 11, 360, 361))
    made.increment("r1", 0, 1, at=(331, 332, 470, 471), replica="replica-2")

    found = steps(picture_of(made, final=1, ttl_ms=300, tests="held_to_the_end"))

    assert happened(found)[1:3] == [[(Kind.LEASE_ENDED, "A")], [(Kind.GRANTED, "B"), (Kind.READ, "B")]]


def test_two_holders_at_once(made):
    """If nothing ended A's lock, B gets the lock as well."""
    made.key_event("set", 10).key_event("set", 30)
    made.increment("a", 0, 0, at=(10, 20, 60, 61)).increment("b", 0, 1, at=(30, 40, 80, 81), replica="replica-2")

    assert [(Kind.GRANTED_AS_WELL, "B"), (Kind.READ, "B")] in happened(steps(picture_of(made, final=1)))


def test_order_is_that_of_time(made):
    """The steps are in the order of time; if there are too many events, some are left out, but never the writes."""
    made.key_event("set", 10).key_event("set", 12)
    made.fault("slow", "a", 24, 25).fault("freeze", "b", 34, 35, replica="replica-2")
    made.increment("a", 0, 0, at=(10, 20, 60, 61)).increment("b", 0, 1, at=(12, 30, 80, 81), replica="replica-2")

    found = steps(picture_of(made, final=1))

    events = [event for step in found.steps for event in step]
    assert len(found.steps) <= MOST
    assert [event.at_ms for event in events] == sorted(event.at_ms for event in events)
    assert sum(event.kind in WRITES for event in events) == 2


def test_unknown_victim_has_no_steps(made):
    """A loss whose victim is not known has no steps, and neither has a loss that later writes restored."""
    picture = picture_of(outlived(made), final=1, ttl_ms=300)
    for loss in picture.losses:
        loss.victim = NEVER
    brought_back = picture_of(made, final=1, ttl_ms=300)
    brought_back.lost = 0

    assert steps(picture) is steps(brought_back) is None


def test_the_loss_in_focus(made):
    """The loss on which a picture opens has its steps and the names of A and B; without a victim, its write is the only step."""
    picture = picture_of(outlived(made), final=1, ttl_ms=300)

    assert of_focus(picture) == (steps(picture).steps, {"A": "r0", "B": "r1"})
    picture.losses[picture.focus].victim = NEVER
    ((write,),), names = of_focus(picture)
    assert (write.kind, write.value, write.over, names[write.actor]) == (Kind.NO_GROWTH, 1, 1, "r1")


def test_the_loss_of_the_fault_comes_first(made):
    """Without a loss in focus, the steps show a loss of the request into which the fault was injected."""
    made.key_event("set", 10)
    made.increment("a", 0, 0, at=(10, 20, 60, 61)).increment("b", 0, 1, at=(30, 40, 80, 81), replica="replica-2")
    made.fault("slow", "c", 105, 130)
    made.increment("c", 1, 1, at=(100, 110, 160, 161)).increment("d", 1, 2, at=(130, 140, 180, 181), replica="replica-2")
    picture = picture_of(made, final=2)
    picture.focus = NEVER

    assert steps(picture).harm.actor == "d"


def kept() -> dict[str, StepsOfLoss]:
    found = {name: steps(picture) for name, picture in KEPT.items()}
    return {name: one for name, one in found.items() if one is not None}


def test_each_kept_loss_has_steps():
    """The kept runs with lost increments have steps, and no others."""
    assert set(kept()) == {name for name, picture in KEPT.items() if picture.lost and picture.losses} != set()


@every("name", kept)
def test_steps_of_a_kept_run(name):
    """A kept loss has three to six steps in the order of time; only restoring writes come after the write that destroyed."""
    found = kept()[name]
    events = [event for step in found.steps for event in step]

    assert 3 <= len(found.steps) <= MOST
    assert [event.at_ms for event in events] == sorted(event.at_ms for event in events)
    harm = [event for event in events if event.kind in HARM]
    assert [(one.value, one.over) for one in harm] == [(found.harm.value, found.harm.over)]
    assert {event.kind for event in events[events.index(harm[0]) + 1 :]} <= {Kind.RESTORED}
    assert {Line.A, Line.B} <= set(map(holder, events))


def test_lamps_of_the_servers():
    """Each server has a lamp with the request that has its vote; if the votes of A or B are unknown, there is no lamp."""
    picture = KEPT["redlock-amnesia"]
    found = steps(picture)
    picture.votes = [vote for vote in picture.votes if picture.held[vote.holder].request != found.b[0]]

    assert [*dict.fromkeys(found.lamps())] == [(*"AAA", "", ""), (*"AA×", "", ""), (*"AABBB",)]
    assert set(steps(picture).lamps()) == {()}


def test_third_request_has_a_lifeline():
    """A request that is neither A nor B has a lifeline of its own if its late release deletes A's lock."""
    found = steps(KEPT["ttl-slow_holder"])
    deleted = [lines_of(one) for step in found.steps for one in step if one.kind is Kind.DELETED_LATE]
    assert (found.third, deleted) == (("r1", "replica-3"), [(Line.THIRD, Line.LOCK)])

"""Test the picture of a loss in steps, in both languages, and the steps of a lock that stays taken."""

import re
from functools import cache
from itertools import combinations, product
from xml.etree import ElementTree as ET

import pytest

from lab.evidence.fault_record import Effect
from lab.language import Language
from lab.report.lanes import lifelines, steps_drawing
from lab.story import say_run
from lab.story.happening import Kind
from lab.story.steps import steps, steps_of_run
from lab.text import letters_of
from tests.builders import picture_of
from tests.every import every
from tests.kept_runs import timelines

KEPT = {name: found for name, picture in timelines().items() if (found := steps(picture))}
SVG = "{http://www.w3.org/2000/svg}"
# the width of a letter by its classes, in pixels
WIDE = {"title": 8.4, "small bad": 7.4, "small": 6.2, "soft small": 6.2, "bold": 8, "on": 8, "bad": 8}


@cache
def drawn(name: str, language: Language) -> ET.Element:
    return ET.fromstring(steps_drawing.draw(KEPT[name], "conditions", language))  # noqa: S314 - the lab's own picture


@every("language", Language)
@every("name", KEPT)
def test_each_step_has_its_parts(name, language):
    """Each part of each step has an id of its own, and the picture has all sentences."""
    svg = drawn(name, language)
    ids = [one.get("id") for one in svg.iterfind(f"{SVG}g[@id]")]

    assert len(set(ids)) == len(ids)
    assert {int(one.split("-")[1]) for one in ids} == set(range(1, len(KEPT[name].steps) + 1))
    said = "".join(svg.itertext()).replace("\n", "").replace(" ", "")
    assert all(say_run.of_a_step(step, language).replace(" ", "") in said for step in KEPT[name].steps)


@every("name", KEPT)
def test_no_bar_is_ahead_of_its_step(name):
    """A bar ends above the next step, so a page that shows the steps one by one shows no later event."""
    svg = drawn(name, Language.ENGLISH)
    ends, tops = {}, {}
    for part in svg.iterfind(f"{SVG}g[@id]"):
        number = int(part.get("id").split("-")[1])
        if part.find(f"{SVG}text") is not None:
            tops[number] = float(part.find(f"{SVG}text").get("y"))
        for bars in part.findall(f"{SVG}path"):
            ends[number] = max([ends.get(number, 0), *map(float, re.findall(r"V([\d.]+)", bars.get("d")))])

    assert len(ends) > 1
    assert [number for number, end in ends.items() if number + 1 in tops and end > tops[number + 1]] == []


@every("language", Language)
@every("name", KEPT)
def test_no_text_covers_another(name, language):
    """Each text is inside the picture, and covers neither another text nor the box of another value."""
    boxes, svg = {}, drawn(name, language)
    for number, one in enumerate(svg.iter(f"{SVG}text")):
        x, y, wide = float(one.get("x")), float(one.get("y")), WIDE.get(one.get("class"), 6.8) * letters_of(one.text)
        left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[one.get("text-anchor", "start")]
        boxes[number, one.text] = (left, left + wide, y - 10, y + 1)

    # a value's own text is in the middle of its box
    values = {
        ("value", y): (x, x + 2 * lifelines.BOX, y + 1, y + 19)
        for x, y in ((float(one.get("x")), float(one.get("y"))) for one in svg.iter(f"{SVG}rect") if one.get("rx"))
    }
    middles = {(left + right) / 2 for left, right, *_ in values.values()}
    others = {name: box for name, box in boxes.items() if (box[0] + box[1]) / 2 not in middles}

    assert [text for text, (left, right, *_) in boxes.items() if left < 0 or right > lifelines.WIDTH] == []
    assert [
        (one, other)
        for (one, a), (other, b) in [*combinations(boxes.items(), 2), *product(others.items(), values.items())]
        if min(a[1], b[1]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[2], b[2]) > 1
    ] == []


def kinds(found):
    return [event.kind for step in found.steps for event in step]


def test_a_lock_for_ever(stuck):
    """The holder dies and its key stays; a later request asks and gives up, and others give up as well."""
    found = steps_of_run(picture_of(stuck, final=0, tests="freed_after_crash"))

    asked_in_vain = [Kind.ASKED, Kind.KEY_STAYED, Kind.GAVE_UP_WAITING, Kind.OTHERS_GAVE_UP]
    assert kinds(found) == [Kind.GRANTED, Kind.FAULT, *asked_in_vain]
    assert (found.a[0], found.b[0], found.has_counter) == ("r0", "r2", False)
    assert found.steps[1][0].effect == Effect.PROCESS_DIES


@pytest.fixture
def late(made):
    """r0 fails and keeps its lock until its TTL of 3 s is over; r1 asks meanwhile, and gets the lock after that."""
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 3012).key_event("set", 3020)
    made.increment("r0", 0, None, at=(10, 11, 12, 13), outcome="unknown").fault("raise_error", "r0", 20, 21)
    return made.increment("r1", 0, 0, at=(3020, 3021, 3030, 3031), replica="replica-2", asked=30)


def test_a_lock_for_too_long(late):
    """The last steps are the end of the lease and the late grant to the next request."""
    found = steps_of_run(picture_of(late, final=1, ttl_ms=3000, tests="freed_after_failure"))

    assert kinds(found) == [Kind.GRANTED, Kind.FAULT, Kind.ASKED, Kind.LEASE_OVER, Kind.NEXT_GOT]
    assert found.b[0] == "r1"


def test_free_in_time_has_no_steps(made):
    """If the lock was free in time, no claim is broken, and there are no steps."""
    made.key_event("set", 10).key_event("del", 14).key_event("set", 20).key_event("del", 31)
    made.increment("r0", 0, 0, at=(10, 11, 12, 13)).increment("r1", 1, 1, at=(20, 21, 30, 31), replica="replica-2")

    assert steps_of_run(picture_of(made, final=2, tests="freed_after_crash")) is None

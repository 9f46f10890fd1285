"""What is drawn of kept runs, and of runs made by hand: its marks, its labels and its view, without pixels."""

import json
import re
from functools import cache
from xml.etree import ElementTree as ET

from app.journal import Refusal, Released, Renewed, Started
from lab.report.lanes.drawing import compose, for_page, still
from lab.report.lanes.grants import cast, named
from lab.report.lanes.pen import Pen, width
from lab.report.lanes.rows import WIDTH, axis_of
from lab.report.lanes.run_parts import waiting_steps
from lab.story import from_run, say
from lab.story.happening import Kind
from lab.story.say_run import LONGEST
from lab.story.say_run import title as finding
from lab.story.timeline import Timeline
from tests.builders import MS, outlived, picture_of
from tests.every import every
from tests.kept_runs import timelines

KEPT = timelines()
SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?[\d.]+")
A_NAME = re.compile(r"\W+")
each_picture = every("name", KEPT)


@cache
def kept(name: str) -> tuple[Timeline, str, Pen]:
    """Return a kept picture, its title, and the pen that drew it."""
    picture = KEPT[name]
    return picture, finding(picture), drawn(picture)


def drawn(picture: Timeline) -> Pen:
    return compose(picture)


@each_picture
def test_view_has_what_the_title_names(name):
    """The title is short, and each request that it names has a label. No label covers another, and none is cut off."""
    picture, title, pen = kept(name)

    assert len(title) <= LONGEST
    assert [request for request in named(picture) if not any(request in A_NAME.split(text) for text in pen.texts)] == [], title
    pairs = [(a, b) for number, a in enumerate(pen.taken) for b in pen.taken[:number]]
    assert [pair for pair in pairs if all(pair[0][n] < pair[1][n + 1] and pair[1][n] < pair[0][n + 1] for n in (0, 2))] == []


@each_picture
def test_texts_are_within_the_picture(name):
    """Titles and the legend are within the picture, and the legend begins below the lanes."""
    picture, _, pen = kept(name)
    drawn = ET.fromstring(still(picture, "conditions"))  # noqa: S314 - the lab's own picture

    outside = [
        text for text in drawn.iter(f"{SVG}text") if "words" not in text.get("class", "") and text.get("text-anchor") is None
    ]
    titles = [text for text in outside if text.get("class") == "title"]
    legend = [group for group in drawn if group.tag == f"{SVG}g" and group.findtext(f"{SVG}text") in dict(pen.explained)]
    ends = [float(NUMBER.findall(group.get("transform"))[0]) + 34 + width(group.findtext(f"{SVG}text")) for group in legend]
    ends += [10 + width(title.text, bold=True, size=16) for title in titles]
    assert len(legend) == len(pen.marks)
    assert max(ends) <= WIDTH


@each_picture
def test_page_opens_on_the_still_picture(name):
    """The first view of a page writes what the still picture writes, and explains the same marks and more."""
    picture, _, pen = kept(name)

    whole = compose(picture, whole=True)

    about = [text for text in pen.texts if named(picture) & {*A_NAME.split(text)}]
    assert [text for text in about if text not in whole.texts] == []
    assert set(pen.marks) - set(whole.marks) <= {"write"}  # its bar is not drawn where there are too many


def test_page_has_what_lies_outside_the_view(made):
    """A page gets all grants, in tiles of which those in view are in the document; each says who did what."""
    for number in range(600):
        at = 10 * number
        made.increment(f"r{number}", number, number, at=at)
    picture = picture_of(made, final=600, tests="exclusive")

    page = for_page(picture)

    shown, later = (text.count("data-held") for text in (page.lanes, page.facts))
    assert (shown + later, page.lanes.count("<g data-span"), json.loads(page.facts)["tiles"][0]) == (600, 6, [])
    assert f'data-says="{say.text("tip", "grant", request="r0", place="replica-1")}\n' in page.lanes
    assert len(still(picture, "").encode()) < 0.2 * len(page.lanes + page.facts)


def refused_by_fence() -> list[str]:
    """Return the pictures whose title gives the fence for which the resource refused a write."""
    kinds = {Kind.FENCE_OLDER, Kind.FENCE_OF_ANOTHER}
    return [name for name in KEPT if kinds & {one.kind for one in from_run.title(kept(name)[0])}]


@every("name", refused_by_fence)
def test_refused_write_is_in_view(name):
    """The write that the resource refused is drawn, with its fence."""
    picture, _, pen = kept(name)

    refused = next(held for held in picture.held if held.is_refused)
    own, seen = refused.fences
    assert axis_of(picture).has(refused.refused_moment)
    assert "refused_write" in pen.marks
    assert (pen.say("older", own=own, seen=seen) if own < seen else pen.say("refused")) in pen.texts
    assert pen.say("fenced", request=refused.request, fence=own) in pen.texts


def test_for_ever_is_drawn(stuck):
    """A key that stays for ever is drawn to the end of the run, and so are those that wait until they give up."""
    picture = picture_of(stuck, final=0, tests="freed_after_crash")
    picture.opens = picture.shown = (0, 100_000)
    picture.waiting = [step for step in picture.waiting if step[0] <= 100_000]

    pen = drawn(picture)

    assert {pen.say("for_ever"), pen.say("gave_up", 2)} <= set(pen.texts)
    assert {"gives_up", "process_gone", "waiters", "fault_begins"} <= set(pen.marks)
    assert pen.axis.bend < 100_000
    assert pen.axis.until >= picture.end
    assert waiting_steps(picture, pen.axis)[-3:] == [(2_000_000, 0), (2_100_000, 1), (4_000_000, 0)]


def test_a_lease_with_a_time_is_not_for_ever(made):
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 320).key_event("set", 321).key_event("del", 330)
    made.increment("r0", 0, None, at=(10, 11, 12, 13), outcome="unknown")
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=300 * MS, pid=2))
    made.fault("kill", "r0", 20, 21)
    made.increment("r1", 0, 0, at=(321, 322, 325, 329), replica="replica-2")

    pen = drawn(picture_of(made, final=1, ttl_ms=300, tests="freed_after_crash"))

    assert pen.say("for_ever") not in pen.texts
    assert pen.axis.denser_by == 1


def test_fence_of_the_newer_holder_is_named(made):
    """The grant that had the fence which made the resource refuse a write belongs to the title, and shows its fence."""
    made.increment("r0", 0, None, at=(1, 2, 3, 4), outcome="failed", fence=1)
    made.increment("r1", 0, 0, at=(50, 51, 52, 53), replica="replica-2", fence=2)
    made.fault("freeze", "r0", 3, 90)
    journal = "journal/replica-1.jsonl"
    why = "the fence 1 is older than 2, which was seen here"
    made.line(journal, Refusal(request="r0", refused_ns=95 * MS, why=why))
    times = {"releasing_ns": 96 * MS, "released_ns": 97 * MS}
    made.line(journal, Released(request="r0", result=f"error: Refused: {why}", commands=1, **times))

    picture = picture_of(made, final=1, ttl_ms=30, tests="survives_a_late_freeze")
    pen = drawn(picture)

    assert [held.fence for held in picture.held] == [1, 2]
    assert picture.held[0].refused_at == 94_000
    assert {held.request for held in cast(picture)} == {"r0", "r1"}
    fenced = {pen.say("fenced", request=request, fence=fence) for request, fence in (("r0", 1), ("r1", 2))}
    assert fenced | {pen.say("older", own=1, seen=2)} <= set(pen.texts)


def test_renewals_are_told_from_other_commands(made):
    """A renewal is in the row of its replica, one in vain is apart, and what sets up a client is no renewal."""
    made.key_event("set", 1).key_event("expire", 1).key_event("del", 101)
    made.increment("a", 0, 0, at=(1, 2, 100, 101))
    for key, at, answer in (("lock", 30, "1"), ("lock", 60, "0"), ("LOAD", 20, "1")):
        made.line(
            "journal/replica-1.jsonl", Renewed(request="", key=key, renewed_ns=at * MS, answer=answer, prolonged=answer == "1")
        )

    picture = picture_of(made, final=1, ttl_ms=100)
    pen = drawn(picture)

    assert {"renewal", "renewal_in_vain"} <= set(pen.marks)
    assert [picture.renews(renewal) for renewal in picture.renewals] == [False, True, True]


def test_ttl_without_renewals_is_no_renewal(made):
    """A stage that renews nothing sets a time to live in a command of its own: the picture names it so."""
    made.key_event("set", 1).key_event("expire", 50).key_event("del", 101)
    made.increment("a", 0, 0, at=(1, 2, 100, 101))

    marks = drawn(picture_of(made, final=1, ttl_ms=100)).marks

    assert "ttl_set" in marks
    assert "renewal" not in marks


def test_theft_is_a_message(made):
    """A release that deletes another request's lock is drawn to the lock's store, with both names."""
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 40).key_event("set", 41).key_event(
        "expire", 41
    ).key_event("del", 62).key_event("set", 63).key_event("del", 90)
    made.increment("r0", 0, 0, at=(10, 11, 60, 61), released=63)
    made.increment("r1", 0, 1, at=(41, 42, 80, 81), replica="replica-2", answer="0")
    made.increment("r2", 1, 1, at=(63, 64, 88, 89), replica="replica-3", released=91)

    pen = drawn(picture_of(made, final=2, ttl_ms=30, tests="releases_only_its_own"))

    assert "theft" in pen.marks
    assert pen.say("deletes", thief="r0", holder="r1") in pen.texts


def test_work_that_outlasts_its_lease_is_drawn(made):
    """The picture has the lease, the time that the holder had none, and the time that both were inside."""
    pen = drawn(picture_of(outlived(made), final=1, ttl_ms=300, tests="held_to_the_end"))

    assert {"lease", "alone", "both"} <= set(pen.marks)
    assert "renewal" not in pen.marks
    assert "counter" in {lane.name for lane in pen.rows.lanes}

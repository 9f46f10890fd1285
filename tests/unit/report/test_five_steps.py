"""A loss in at most six steps, from histories made by hand and from the kept runs of the book."""

from __future__ import annotations

import re
from itertools import combinations

import msgspec
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from lab.judge.verdict import judge
from lab.paths import REFERENCE
from lab.report import chart, run_data
from lab.report.charts import charts
from lab.report.five_steps import MOST, FiveSteps, Line, five_steps
from lab.report.html import inline
from lab.report.pages import keep, report_run
from lab.story.timeline import NEVER, load
from tests.builders import made_run, outlived, picture_of
from tests.every import every

KEPT = sorted((REFERENCE / "chapters").glob("*/timeline.json"))


def sentences(picture) -> list[str]:
    return [step.sentence for step in five_steps(picture).steps]


def test_the_ttl_ran_out(made):
    """The canonical loss has five steps: the lease ends between the grant to A and the grant to B."""
    story = five_steps(picture_of(outlived(made), final=1, ttl_ms=300, tests="held_to_the_end"))

    assert [step.sentence for step in story.steps] == [
        "A gets the lock and reads 0.",
        "A's lease of 300 ms ends while A is inside.",
        "B gets the lock and reads 0.",
        "A writes 1.",
        "B writes 1 over 1: the counter does not grow.",
    ]
    assert (story.a, story.b, story.lock) == ("r0 at replica-1", "r1 at replica-2", "the lock")
    assert story.heading == "This loss in five steps"
    assert [step.is_harm for step in story.steps] == [False, False, False, False, True]


def test_news_of_the_store_may_be_late(made):
    """The store reports that A's key is gone when B has its own already: the lock was lost before."""
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 380)
    made.increment("r0", 0, 0, at=(10, 11, 360, 361))
    made.increment("r1", 0, 1, at=(331, 332, 470, 471), replica="replica-2")

    words = sentences(picture_of(made, final=1, ttl_ms=300, tests="held_to_the_end"))

    assert [number for number, one in enumerate(words) if "A's lease of 300 ms ends" in one or "B gets the lock" in one] == [1, 2]


def test_moments_are_those_of_the_timeline(made):
    story = five_steps(picture_of(outlived(made), final=1, ttl_ms=300, tests="held_to_the_end"))

    assert [step.clock for step in story.steps] == ["0.000 s", "0.300 s", "0.321 s", "0.450 s", "0.760 s"]


def test_a_stale_write_sets_the_counter_back(made):
    """A is stopped after its read; B comes in after others, and A writes over what they wrote."""
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 311)
    made.fault("freeze", "stale", 30, 930)
    made.increment("stale", 0, 2, at=(10, 20, 950, 951))
    made.increment("a", 0, 0, at=(400, 410, 420, 421), replica="replica-2")
    made.increment("b", 1, 1, at=(440, 450, 460, 461), replica="replica-3")

    assert sentences(picture_of(made, final=1, ttl_ms=300, tests="survives_a_freeze")) == [
        "A gets the lock and reads 0.",
        "The process of A is stopped for 900 ms.",
        "A's lease of 300 ms ends while A is inside.",
        "B gets the lock, reads 1 and writes 2.",
        "A writes 1 over 2: that destroys 2 increments.",
    ]


def test_a_thief_is_named(made):
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 310).key_event("set", 320).key_event("expire", 320)
    made.key_event("del", 500).key_event("set", 510).key_event("expire", 510).key_event("del", 601)
    made.increment("r0", 0, 0, at=(10, 11, 498, 499), replica="replica-1")
    made.increment("r1", 1, 1, at=(320, 499, 600, 601), replica="replica-2")
    made.increment("r2", 1, 2, at=(510, 511, 700, 701), replica="replica-3", answer="0")

    assert "r0, late with its release, deletes A's lock." in sentences(
        picture_of(made, final=2, ttl_ms=300, tests="releases_only_its_own")
    )


def test_without_a_lock_there_is_no_lifeline_of_it(made):
    made.increment("a", 0, 0, at=(10, 20, 60, 61), key="").increment("b", 0, 1, at=(30, 40, 80, 81), key="")

    story = five_steps(picture_of(made, final=1, store=None))

    assert story.lock == ""
    assert [step.sentence for step in story.steps] == [
        "A reads 0.",
        "B reads 0.",
        "A writes 1.",
        "B writes 1 over 1: the counter does not grow.",
    ]


def test_locks_of_two_replicas_have_names(made):
    made.increment("a", 0, 0, at=(10, 20, 60, 61), key="own")
    made.increment("b", 0, 1, at=(30, 40, 80, 81), key="own", replica="replica-2")

    words = sentences(picture_of(made, final=1, store=None))

    assert words[:2] == ["A gets the lock of replica-1 and reads 0.", "B gets the lock of replica-2 and reads 0."]


def test_two_holders_at_once(made):
    """Where nothing ended A's tenure, B gets the lock as well."""
    made.key_event("set", 10).key_event("set", 30)
    made.increment("a", 0, 0, at=(10, 20, 60, 61)).increment("b", 0, 1, at=(30, 40, 80, 81), replica="replica-2")

    assert "B gets the lock as well and reads 0." in sentences(picture_of(made, final=1))


def test_order_is_that_of_time(made):
    """What A and B do in turns is not put together, and too many events are left out, never the writes."""
    made.key_event("set", 10).key_event("set", 12)
    made.fault("slow", "a", 24, 25).fault("freeze", "b", 34, 35, replica="replica-2")
    made.increment("a", 0, 0, at=(10, 20, 60, 61)).increment("b", 0, 1, at=(12, 30, 80, 81), replica="replica-2")

    story = five_steps(picture_of(made, final=1))

    moments = [event.at for step in story.steps for event in step.events]
    assert len(story.steps) <= MOST
    assert moments == sorted(moments)
    assert sum(event.label.startswith("writes") for step in story.steps for event in step.events) == 2


def test_nothing_lost_has_no_steps(made):
    made.increment("a", 0, 0, at=(1, 2, 3, 4)).increment("b", 1, 1, at=(10, 11, 12, 13), replica="replica-2")

    assert five_steps(picture_of(made, final=2)) is None


def test_unknown_victim_has_no_steps(made):
    """A loss whose victim the evidence does not name has no steps, nor has a loss that later writes brought back."""
    picture = picture_of(outlived(made), final=1, ttl_ms=300)
    for loss in picture.losses:
        loss.victim = NEVER
    brought_back = picture_of(made, final=1, ttl_ms=300)
    brought_back.lost = 0

    assert five_steps(picture) is five_steps(brought_back) is None


def test_the_loss_of_the_fault_comes_first(made):
    """Without a loss in focus, a loss in whose request the fault was injected is taken."""
    made.key_event("set", 10)
    made.increment("a", 0, 0, at=(10, 20, 60, 61)).increment("b", 0, 1, at=(30, 40, 80, 81), replica="replica-2")
    made.fault("slow", "c", 105, 130)
    made.increment("c", 1, 1, at=(100, 110, 160, 161)).increment("d", 1, 2, at=(130, 140, 180, 181), replica="replica-2")
    picture = picture_of(made, final=2)
    picture.focus = NEVER

    assert five_steps(picture).culprit == "d"


def stories() -> dict[str, FiveSteps]:
    found = {path.parent.name: five_steps(load(path)) for path in KEPT}
    return {name: story for name, story in found.items() if story is not None}


def test_kept_runs_with_a_loss_have_steps():
    """Each kept run that lost something by a known conflict has its steps, and no other run has."""
    with_loss = {path.parent.name for path in KEPT if (picture := load(path)).lost and picture.losses}

    assert set(stories()) == with_loss != set()


@every("name", stories)
def test_steps_of_a_kept_run(name):
    """At most six steps in the order of time; each sentence is short, and the last one is the write that destroyed."""
    story = stories()[name]
    events = [event for step in story.steps for event in step.events]

    assert 3 <= len(story.steps) <= MOST
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert [step.is_harm for step in story.steps] == [False] * (len(story.steps) - 1) + [True]
    assert all(len(step.sentence.split()) <= 20 and step.sentence.endswith(".") for step in story.steps)
    assert f"writes {story.wrote} over {story.overwrote}: " in story.steps[-1].sentence
    assert len({step.clock for step in story.steps}) >= len(story.steps) - 1
    assert {Line.A, Line.B} <= {event.actor for event in events}


def test_page_of_a_run_has_the_steps(tmp_path):
    """The page has the drawing, a list of the sentences, and the buttons; the drawing is not there a second time."""
    page, *drawn = report_run(made_run(tmp_path / "run"))

    text = page.read_text(encoding="utf-8")
    assert "five_steps" in {path.stem for path in drawn}
    assert text.count('id="five-steps"') == 1
    assert len(re.findall(r"<text[^>]*>[^<]*one loss in six steps: b writes 1 over 1", text)) == 1
    said = re.search(r'<ol class="said">(.*?)</ol>', text, re.DOTALL)[1]
    assert said.count("<li>") == 6
    assert "B writes 1 over 1: the counter does not grow." in said
    assert 'data-step="previous"' in text


def test_each_part_of_the_drawing_has_its_own_id(made):
    """A page shows the steps one by one, by the ids of their parts."""
    picture = picture_of(outlived(made), final=1, ttl_ms=300, tests="held_to_the_end")
    keep(made.folder, *judge(made.folder))
    (made.folder / "timeline.json").write_bytes(msgspec.json.encode(picture))
    (path,) = chart.save(charts("one")["five_steps"], [run_data.load(made.folder)], made.folder / "five_steps")

    (text,) = inline([path])
    ids = re.findall(r'id="(five-steps-step-[^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert {int(one.split("-")[3]) for one in ids} == {1, 2, 3, 4, 5}


@every("name", ["local-late_writes", "none-rush", "uuid-release_race", "watchdog_once-renewal_fails_once"])
def test_no_text_covers_another(name):
    """Each word of the drawing is inside the picture, and covers no other."""
    result, drawing = run_data.load(REFERENCE / "chapters" / name), charts("one")["five_steps"]
    with style.context(chart.STYLE):
        figure = Figure(figsize=(9.6, drawing.height([result])), layout="constrained")
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        drawing.draw(axes, [result])
        canvas.draw()
    boxes = {text: text.get_window_extent() for text in figure.findobj(Text) if text.get_text()}

    covered = [
        (one.get_text(), other.get_text())
        for (one, a), (other, b) in combinations(boxes.items(), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]
    assert covered == []
    assert [
        text.get_text() for text, box in boxes.items() if not figure.bbox.containsx(box.x0) or not figure.bbox.containsx(box.x1)
    ] == []

"""Test the pictures of kept runs: their titles, labels and legends, without pixels."""

import re
from functools import cache
from xml.etree import ElementTree as ET

from lab.report.lanes.drawing import compose, still
from lab.report.lanes.grants import named_requests
from lab.report.lanes.pen import WIDTH, Pen, width
from lab.story.say_run import LONGEST
from lab.story.say_run import title as finding
from lab.story.timeline import Timeline
from tests.every import every
from tests.kept_runs import timelines

KEPT = timelines()
SVG = "{http://www.w3.org/2000/svg}"
A_NAME = re.compile(r"\W+")
each_picture = every("name", KEPT)


@cache
def kept(name: str) -> tuple[Timeline, str, Pen]:
    """Return a kept picture, its title, and the pen that drew it."""
    picture = KEPT[name]
    return picture, finding(picture), compose(picture)


@each_picture
def test_labels_of_the_title(name):
    """The title is short, each request that it names has a label, and no label covers another."""
    picture, title, pen = kept(name)

    assert len(title) <= LONGEST
    assert named_requests(picture) <= {name for text in pen.texts for name in A_NAME.split(text)}, title
    pairs = [(a, b) for number, a in enumerate(pen.taken) for b in pen.taken[:number]]
    assert [pair for pair in pairs if all(pair[0][n] < pair[1][n + 1] and pair[1][n] < pair[0][n + 1] for n in (0, 2))] == []


@each_picture
def test_texts_are_within_the_picture(name):
    """Titles and the legend are within the picture, and the legend begins below the lanes."""
    picture, _, pen = kept(name)
    drawn = ET.fromstring(still(picture, pen, "conditions"))  # noqa: S314 - the lab's own picture

    texts = list(drawn.iter(f"{SVG}text"))
    legend = [text for text in texts if text.text in dict(pen.explained)]
    ends = [float(text.get("x")) + width(text.text) for text in legend]
    ends += [10 + width(text.text, bold=True, size=16) for text in texts if text.get("class") == "title"]
    assert len(legend) == len(pen.marks)
    assert max(ends) <= WIDTH

"""The picture of a loss in steps: the parts that a page shows one by one, and room for each text in both languages."""

from __future__ import annotations

from itertools import combinations, product
from xml.etree import ElementTree as ET

from lab.language.choice import Language
from lab.paths import REFERENCE
from lab.story import say_run, steps_drawing
from lab.story.lanes import letters_of
from lab.story.steps import steps
from lab.story.timeline import load
from tests.every import every

KEPT = {
    path.parent.name: found for path in sorted((REFERENCE / "chapters").glob("*/timeline.json")) if (found := steps(load(path)))
}
SVG = "{http://www.w3.org/2000/svg}"
# the width of a letter, in pixels
WIDE = {"font-size:16px": 8.4, "font-size:14px": 8, "font-size:12px;font-weight:bold": 7.4, "font-size:12px": 6.2}


def drawn(name: str, language: Language) -> ET.Element:
    return ET.fromstring(steps_drawing.draw(KEPT[name], "conditions", language))  # noqa: S314 - the lab's own picture


@every("language", Language)
@every("name", KEPT)
def test_each_step_has_its_parts(name, language):
    """Each part of each step has an id of its own, and all sentences are there."""
    svg = drawn(name, language)
    ids = [one.get("id") for one in svg.iter(f"{SVG}g")]

    assert len(set(ids)) == len(ids)
    assert {int(one.split("-")[1]) for one in ids} == set(range(1, len(KEPT[name].steps) + 1))
    said = "".join(svg.itertext()).replace("\n", "").replace(" ", "")
    assert all(say_run.of_a_step(step, language).replace(" ", "") in said for step in KEPT[name].steps)


@every("name", KEPT)
def test_no_bar_is_ahead_of_its_step(name):
    """A bar ends with the step that shows it: a page that shows the steps one by one gives nothing away."""
    svg = drawn(name, Language.ENGLISH)
    ends, tops = {}, {}
    for part in svg.iter(f"{SVG}g"):
        number = int(part.get("id").split("-")[1])
        if "-bar-" in part.get("id"):
            (bar,) = part
            ends[number] = max(ends.get(number, 0), float(bar.get("y")) + float(bar.get("height")))
        elif part.find(f"{SVG}text") is not None:
            tops.setdefault(number, float(part.find(f"{SVG}text").get("y")))

    assert len(ends) > 1
    assert [number for number, end in ends.items() if number + 1 in tops and end > tops[number + 1]] == []


@every("language", Language)
@every("name", KEPT)
def test_no_text_covers_another(name, language):
    """Each text is inside the picture, and covers no other, nor a box with a value that is another's."""
    boxes = {}
    for number, one in enumerate((svg := drawn(name, language)).iter(f"{SVG}text")):
        letter = next((width for size, width in WIDE.items() if size in one.get("style")), 6.8)
        x, y, width = float(one.get("x")), float(one.get("y")), letter * letters_of(one.text)
        left = x - width * {"start": 0, "middle": 0.5, "end": 1}[one.get("text-anchor")]
        boxes[number, one.text] = (left, left + width, y - 10, y + 1)

    # a value's own text is in the middle of its box
    values = {
        ("value", y): (x, x + 2 * steps_drawing.BOX, y + 1, y + 19)
        for x, y in ((float(one.get("x")), float(one.get("y"))) for one in svg.iter(f"{SVG}rect") if one.get("rx"))
    }
    middles = {(left + right) / 2 for left, right, *_ in values.values()}
    others = {name: box for name, box in boxes.items() if (box[0] + box[1]) / 2 not in middles}

    assert [text for text, (left, right, *_) in boxes.items() if left < 0 or right > steps_drawing.WIDTH] == []
    assert [
        (one, other)
        for (one, a), (other, b) in [*combinations(boxes.items(), 2), *product(others.items(), values.items())]
        if min(a[1], b[1]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[2], b[2]) > 1
    ] == []

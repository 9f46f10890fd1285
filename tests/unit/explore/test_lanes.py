"""Test the picture of a schedule: its lanes, rows and sentences, as SVG and in a terminal."""

import re
from xml.etree import ElementTree as ET

from msgspec.structs import replace

from lab.explore.story import lanes, rows
from lab.language import Language
from lab.report.lanes.pen import EDGE, STYLE, TITLE_LETTERS
from lab.story import say
from lab.story.happening import Happening, Kind
from lab.story.repeats import folded
from lab.story.say import row, sentences, text, title
from lab.text import WIDTH
from tests.stories import LOST, scene

SVG = "{http://www.w3.org/2000/svg}"
CODE_LETTER = 7.23  # of DejaVu Sans Mono at 12 px


def drawn(story=LOST, language=Language.ENGLISH):
    return ET.fromstring(lanes.draw(story, language))  # noqa: S314 - the lab's own picture


def texts(story=LOST):
    return [(one.text or "", one.get("class", "")) for one in drawn(story).iter(f"{SVG}text")]


def test_picture_has_a_row_for_each_event():
    """Each event has its number, its command with the reply, and the stage's own line."""
    shown = texts()

    assert [one for one, _ in shown if one.isdigit()] == [str(number) for number in range(1, 11)]
    assert (row(LOST.scenes[0]), "code bold") in shown
    assert ("while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):", "code soft") in shown
    assert ("1 → 1", "bad") in shown


def test_picture_has_its_words_for_a_screen_reader():
    """A picture has its title and sentences for a screen reader, loads nothing, and depends on its story alone."""
    root, text = drawn(), lanes.draw(LOST)
    assert text == lanes.draw(LOST)
    assert not re.search(r"<script|href|@import|<image|url\((?!#)", text)

    assert root.get("role") == "img"
    assert [root.findtext(f"{SVG}{name}") for name in ("title", "desc")] == [title(LOST), sentences(LOST)]


def test_text_is_neither_small_nor_cut_off():
    """No letter is smaller than 12 px at the drawn width, and no code runs over the edge."""
    root, story = drawn(), replace(LOST, scenes=(scene("A", "SET L " + "x" * 200, (), 0, (), 0, LOST.start),))

    assert min(map(int, re.findall(r"(\d+)px", STYLE))) == 12
    assert root.get("viewBox", "").split()[2] == "850"
    for one in drawn(story).iter(f"{SVG}text"):
        if "code" in one.get("class", "") and one.get("text-anchor") != "end":
            assert float(one.get("x", 0)) + CODE_LETTER * len(one.text or "") <= 850 - EDGE


def test_words_of_a_schedule_are_escaped():
    """A command with special characters of XML is shown as it is."""
    story = replace(LOST, scenes=(scene("A", 'SET <a> & "b"', (), 0, (), 0, LOST.start, reply="OK"),))

    assert '<a> & "b"' in row(story.scenes[0])
    assert (row(story.scenes[0]), "code bold") in texts(story)


def test_terminal_has_a_row_for_each_event():
    """A row has the client, the command and its reply; below it are the stage's line and the counter."""
    printed = [line.rstrip() for one in rows.rows(LOST) for line in one.plain.splitlines()]

    assert f"   1  A  {row(LOST.scenes[0])}" in printed
    assert [line[:8] for line in printed if "‖" in line] == ["   4  ‖A"]
    assert printed[printed.index(f"  10  A  {row(LOST.scenes[9])}") + 2].endswith(f"{text('lanes', 'counter')}: 1 → 1")
    assert " ".join(" ".join(printed).split()).endswith(" ".join(sentences(LOST).split()))
    assert max(map(len, printed)) <= WIDTH


def test_repeated_events_are_folded():
    """A waiter that renews many times is told once, with the number of times; later events keep their numbers."""
    renews = replace(LOST.scenes[8], did=(Happening(Kind.RENEWED_OTHERS, actor="B", others=("A",)),))
    story = replace(LOST, scenes=folded([LOST.scenes[0], *[LOST.scenes[2], renews] * 36, LOST.scenes[9]]))

    shown = [one for one, _ in texts(story)]
    assert say.clause(Happening(Kind.AND_AGAIN, number=35), form="row") in shown
    assert [one for one in shown if one.isdigit()] == ["1", "2", "3", "73", "74"]
    assert sentences(story).count("renews") == 1


def test_picture_in_chinese():
    """A Chinese picture has English only in its commands, and no line is wider than the picture."""
    root = drawn(language=Language.CHINESE)
    shown = [one.text or "" for one in root.iter(f"{SVG}text") if "code" not in one.get("class", "")]

    assert not re.search(r"[A-Za-z]+ [a-z]+", "".join(shown).replace(LOST.stage, ""))
    assert max(len(line) for line in shown) <= TITLE_LETTERS // 2 + 20


def test_chinese_line_cuts_no_number():
    """A Chinese line ends between characters, but not within a number and not before a closing sign."""
    assert lanes.wrapped("整个运行没有丢 +1；一共 12 次。", 16) == ["整个运行没有丢", "+1；一共 12 次。"]

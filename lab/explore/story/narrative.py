"""The sentences that are generated from a schedule: its title, and what happens in it.

The terminal, the picture and the documents have the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lab.explore.story.deed import BEGINS, GETS, WAITS, seconds
from lab.explore.story.scene import Scene, Story
from lab.explore.story.vote_deed import together
from lab.text import counted

MOST_DEEDS = 3  # in one sentence


def title(story: Story) -> str:
    """Return what a schedule shows: the stage, what breaks, after how many events, with which faults."""
    broken = [text.partition(":")[0] for scene in story.scenes for text in scene.breaks]
    number = len(story.scenes)
    if not broken:
        return f"{story.stage}: nothing breaks in {counted(number, 'event')}{_conditions(story)}"
    return f"{story.stage}: {broken[-1]}, after {counted(number, 'event')}{_conditions(story)}"


def _conditions(story: Story) -> str:
    work = [f"work of {seconds(story.work_ms)}"] if story.work_ms else []
    faults = [] if story.faults == "no fault" else [story.faults]
    return f" with {' and '.join(work + faults)}" if work or faults else ""


def sentences(story: Story) -> str:
    """Return what happens in a schedule, in sentences of at most three deeds, and what it breaks."""
    parts = [_sentence(who, deeds) for who, deeds in _groups(together(_worth_a_word(story.scenes)))]
    last = story.scenes[-1] if story.scenes else None
    if last is not None:
        parts += [capital(text) + "." for text in last.breaks if text != f"{last.who} {last.deed}"]
    return " ".join(parts)


def _worth_a_word(scenes: Iterable[Scene]) -> Iterator[tuple[str, str]]:
    """Yield who did what. A client waits once, and not with each of its tries."""
    waits: set[str] = set()
    for scene in scenes:
        if not scene.deed or (scene.deed == WAITS and scene.who in waits):
            continue
        if scene.deed == WAITS:
            waits.add(scene.who)
        elif scene.deed.startswith((GETS, BEGINS)):
            waits.discard(scene.who)
        yield scene.who, scene.deed


def _groups(deeds: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    group: list[str] = []
    before = ""
    for who, deed in deeds:
        alone = not who or "," in deed or "," in "".join(group[-1:])  # a deed of several parts is a sentence of its own
        if group and (who != before or alone or len(group) == MOST_DEEDS):
            yield before, group
            group = []
        group.append(deed)
        before = who
    if group:
        yield before, group


def _sentence(who: str, deeds: list[str]) -> str:
    *first, last = deeds
    text = f"{', '.join(first)} and {last}" if first else last
    return capital(f"{who} {text}".strip()) + "."


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def in_words(scene: Scene) -> str:
    """Return the command of an event, or what happens: with its client, and where time passes with what it ends."""
    if scene.place:
        return scene.what
    if scene.who:
        return f"{scene.who} {scene.what}"
    ends = f": {scene.deed.partition(', ')[2]}" if scene.deed.startswith("at ") else ""
    asked = scene.asked_in_vain
    ends += f"; waiters ask {counted(asked, 'time')} in vain" if asked else ""
    return f"the clock reads {seconds(scene.now_ms)}{ends}" if scene.event.startswith("t") else scene.what

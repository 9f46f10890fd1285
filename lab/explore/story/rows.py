"""Print a schedule in a terminal: a row for each event, the line of the stage below it, and the story in sentences."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.text import Text

from lab.explore.story.lanes import SIGNS, shortened
from lab.language import Language
from lab.story import say
from lab.story.happening import Scene, Story
from lab.story.say import ENGLISH
from lab.text import WIDTH, hanging

LEFT = 9  # the column in which the words of a row begin


def rows(story: Story, width: int = WIDTH, language: Language = ENGLISH) -> Iterator[Text]:
    """Yield the lines: title, events with their numbers, the sentences."""
    yield Text(f"{say.title(story, language)}\n", "bold")
    number, count, room = 0, 0, max(width, WIDTH) - LEFT
    for scene in story.scenes:
        number += scene.events
        yield Text(f"  {number:>2}  {_actor(scene):<3}") + Text(shortened(say.row(scene, language), room))
        if scene.row.place:
            yield Text(" " * LEFT + shortened(f"{scene.row.place.rpartition(':')[2]}: {scene.source}", room), "dim")
        if scene.writes:
            counted = f"{say.text('lanes', 'counter', language)}: {count} → {scene.counter}"
            yield Text(" " * LEFT + counted, "bold red" if scene.counter <= count else "bold")
        for broken in scene.breaks:
            for words in textwrap.wrap(say.capital(say.broken(broken, language)), room):
                yield Text(" " * LEFT + words, "red")
        count = scene.counter
    yield Text("\n" + hanging("", say.sentences(story, language), 0))


def _actor(scene: Scene) -> str:
    """Return the letter of the client of an event, after the sign of its fault; "" if only time or the store acts."""
    sign = SIGNS.get(scene.row.kind, "")
    return f"{sign}{scene.row.actor}" if scene.row.actor else ""

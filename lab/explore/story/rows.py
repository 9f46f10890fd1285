"""The picture of a schedule for a terminal of 80 columns: the same lanes and rows as in the SVG, in letters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.text import Text

from lab.explore.story.lanes import FIRST, SIGNS, shortened
from lab.language import Language
from lab.story import say
from lab.story.happening import Doing, Scene, Story
from lab.story.say import ENGLISH
from lab.text import WIDTH, hanging

LOCK, COUNTER = 16, 8
WORK = {"": ("│", "dim"), "entitled": ("┃", "blue"), "late": ("║", "yellow")}
MODES = {"paused": ("┆", "dim"), "dead": (" ", ""), "over": (" ", "")}


def rows(story: Story, width: int = WIDTH, language: Language = ENGLISH) -> Iterator[Text]:
    """Yield the lines: title, lanes, an event on two lines, what the signs mean, the sentences."""
    lock = LOCK if story.has_lock else 0
    left = 6 + 3 * len(story.start) + lock + COUNTER
    letters = "".join(f"{chr(FIRST + client):<3}" for client in range(len(story.start)))
    yield Text(say.title(story, language), "bold")
    head = say.text("lanes", "lock", language) if story.servers == 1 else " ".join(map(str, range(1, story.servers + 1)))
    yield Text(f"\n      {letters}{head if lock else '':<{lock}}{say.text('lanes', 'counter', language)}", "dim")
    before, count, number = story.start, 0, 0
    for scene in story.scenes:
        number += scene.events
        line = Text(f"  {number:>2}  ")
        for client, doing in enumerate(before):
            is_mine = scene.row.actor == chr(FIRST + client)
            line.append_text(Text(f"{SIGNS.get(scene.row.kind, scene.row.actor)}  ", "bold") if is_mine else _lane(doing))
        _state(line, lock, scene, count, story.servers, language)
        yield from _event(line, scene, left, max(width, WIDTH) - left, language)
        before, count = scene.clients, scene.counter
    yield Text(f"\n  {say.text('lanes', 'signs', language)}", "dim")
    if story.servers > 1:
        yield Text(f"  {head}  {say.text('lanes', 'servers', language)}", "dim")
    yield Text("\n" + hanging("", say.sentences(story, language), 0))


def _event(line: Text, scene: Scene, left: int, room: int, language: Language) -> Iterator[Text]:
    line.append(shortened(say.row(scene, language), room))
    yield line
    if scene.row.place:
        source = Text("      ")
        for doing in scene.clients:
            source.append_text(_lane(doing))
        source.pad_right(left - len(source))
        source.append(shortened(f"{scene.row.place.rpartition(':')[2]}: {scene.source}", room), "dim")
        yield source
    for broken in scene.breaks:
        for words in textwrap.wrap(say.capital(say.broken(broken, language)), room):
            yield Text(" " * left + words, "red")


def _lane(doing: Doing) -> Text:
    sign, style = MODES.get(doing.mode) or WORK[doing.work]
    return Text(f"{sign}  ", style)


def _state(line: Text, lock: int, scene: Scene, count: int, servers: int, language: Language) -> None:
    """Append what the lock is and what the counter reads after an event."""
    if lock and servers > 1:
        owners = {one.server: one.owner for one in scene.lock}
        line.append(f"{' '.join(owners.get(server, '·') for server in range(1, servers + 1)):<{lock}}")
    elif lock:
        held = ", ".join(
            say.text("lanes", "whose_until" if one.until_ms else "whose", language, actor=one.owner, s=say.seconds(one.until_ms))
            for one in scene.lock
        )
        line.append(f"{shortened(held or '·', lock - 1):<{lock}}", "" if held else "dim")
    text = f"{count} → {scene.counter}" if scene.writes else str(scene.counter)
    line.append(f"{text:<{COUNTER}}", "" if not scene.writes else "bold red" if scene.counter <= count else "bold")

"""The picture of a schedule for a terminal of 80 columns: the same lanes and rows as in the SVG, in letters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.text import Text

from lab.explore.search.event import letter_of
from lab.explore.story.deed import seconds
from lab.explore.story.narrative import capital, in_words, sentences, title
from lab.explore.story.picture import shortened
from lab.explore.story.scene import Doing, Scene, Story, server_of
from lab.text import WIDTH, hanging

LOCK, COUNTER = 16, 8
WORK = {"": ("│", "dim"), "entitled": ("┃", "blue"), "late": ("║", "yellow")}
MODES = {"paused": ("┆", "dim"), "dead": (" ", ""), "over": (" ", "")}
SIGNS = {"p": "‖", "r": "▸", "k": "×"}


def rows(story: Story, width: int = WIDTH) -> Iterator[Text]:
    """Yield the lines: title, lanes, an event on two lines, what the signs mean, the sentences."""
    lock = LOCK if story.has_lock else 0
    left = 6 + 3 * len(story.start) + lock + COUNTER
    letters = "".join(f"{letter_of(client):<3}" for client in range(len(story.start)))
    yield Text(title(story), "bold")
    head = "lock" if story.servers == 1 else " ".join(map(str, range(1, story.servers + 1)))
    yield Text(f"\n      {letters}{head if lock else '':<{lock}}counter", "dim")
    before, count = story.start, 0
    for number, scene in enumerate(story.scenes, 1):
        line = Text(f"  {number:>2}  ")
        for client, doing in enumerate(before):
            is_mine = scene.who == letter_of(client)
            line.append_text(Text(f"{SIGNS.get(scene.event[0], scene.who)}  ", "bold") if is_mine else _lane(doing))
        _state(line, lock, scene, count, story.servers)
        yield from _event(line, scene, left, max(width, WIDTH) - left)
        before, count = scene.clients, scene.counter
    yield Text("\n  ┃ in its work, entitled   ║ in its work, not entitled   ┆ paused", "dim")
    if story.servers > 1:
        yield Text(f"  {head}  whose vote each server has", "dim")
    yield Text("\n" + hanging("", sentences(story), 0))


def _event(line: Text, scene: Scene, left: int, room: int) -> Iterator[Text]:
    line.append(shortened(in_words(scene) + (f" → {scene.reply}" if scene.reply else ""), room))
    yield line
    if scene.place:
        source = Text("      ")
        for doing in scene.clients:
            source.append_text(_lane(doing))
        source.pad_right(left - len(source))
        source.append(shortened(f"{scene.place.rpartition(':')[2]}: {scene.source}", room), "dim")
        yield source
    for broken in scene.breaks:
        for words in textwrap.wrap(capital(broken), room):
            yield Text(" " * left + words, "red")


def _lane(doing: Doing) -> Text:
    sign, style = MODES.get(doing.mode) or WORK[doing.work]
    return Text(f"{sign}  ", style)


def _state(line: Text, lock: int, scene: Scene, count: int, servers: int) -> None:
    """Append what the lock is and what the counter reads after an event."""
    if lock and servers > 1:
        owners = {server_of(one.name): one.owner for one in scene.lock}
        line.append(f"{' '.join(owners.get(server, '·') for server in range(1, servers + 1)):<{lock}}")
    elif lock:
        held = ", ".join(f"{one.owner}’s" + (f" until {seconds(one.until_ms)}" if one.until_ms else "") for one in scene.lock)
        line.append(f"{shortened(held or '·', lock - 1):<{lock}}", "" if held else "dim")
    writes = scene.deed.startswith("writes")
    text = f"{count} → {scene.counter}" if writes else str(scene.counter)
    line.append(f"{text:<{COUNTER}}", "" if not writes else "bold red" if scene.counter <= count else "bold")

"""Draw a schedule: a lane for each client, for the lock and for the counter, and a row for each event.

An event shows its command, its reply and the line of the stage. The same story gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, groupby
from typing import TypeVar

from lab.language import Language
from lab.report.lanes.lifelines import Lane, Lifelines, Mark, Row, Span, words_room
from lab.story import say
from lab.story.happening import Held, Kind, Scene, Story
from lab.story.say import ENGLISH
from lab.text import wrapped

CLIENT, LOCK, SERVER, COUNTER = 44, 92, 22, 60  # the widths of the lanes
KEY = 46  # the width of a lane of one of several keys of the lock
LETTER, BOLD_LETTER = 7.25, 8  # the widths of letters: of code, and of broken claims
T = TypeVar("T")
FIRST = ord("A")  # the letter of the first client
LEGEND = {"entitled": "entitled", "late": "late", "paused": "paused", "votes0": "votes"}  # looks, and their texts
DELAYS = "".join(f"[id^=step-{row}-]{{animation-delay:{3 * row - 2}s}}" for row in range(1, 5))
MOTION = "@keyframes step{from{opacity:0}}@media(prefers-reduced-motion:no-preference){[id^=step-]{animation:step .6s both}"
SIGNS = {Kind.PAUSED: "‖", Kind.RESUMED: "▸", Kind.KILLED: "×"}


def draw(story: Story, language: Language = ENGLISH) -> str:
    """Return the picture as SVG. For the stage none, its rows appear one by one, unless the reader's system reduces motion."""
    says = partial(say.text, "lanes", language=language, n=story.servers)
    names = sorted({held.name for scene in story.scenes for held in scene.lock})
    servers = range(1, story.servers + 1) if story.servers > 1 and story.has_lock else ()
    heads, width = ([str(server) for server in servers], SERVER) if servers else ([says("lock") for _ in names], LOCK)
    if len(names) > 1 and not servers:
        width = KEY
    lanes = [Lane((chr(FIRST + client),), CLIENT, end=_end(story, client)) for client in range(len(story.start))]
    lanes += [*(Lane((head,), width, width - 2) for head in heads), Lane((says("counter"),), COUNTER)]
    spans = tuple(_spans(story, servers or names, language))
    looks = {span.look.replace("votes1", "votes0") for span in spans}
    room, counts = words_room(lanes), [0, *(scene.counter for scene in story.scenes)]
    numbers = accumulate(scene.events for scene in story.scenes)
    picture = Lifelines(
        title=say.title(story, language),
        description=say.sentences(story, language),
        lanes=tuple(lanes),
        rows=tuple(_row(*event, len(lanes) - 1, room, language) for event in zip(story.scenes, counts, numbers, strict=False)),
        spans=spans,
        legend=tuple((look, says(name)) for look, name in LEGEND.items() if look in looks),
    ).draw()
    return picture.replace("</style>", f"{MOTION}{DELAYS}}}</style>", 1) if story.stage == "none" else picture


def _end(story: Story, client: int) -> int:
    """Return the number of the event after which a client has ended or died; -1 if it does neither."""
    over = (moment for moment, scene in enumerate(story.scenes, 1) if scene.clients[client].mode in ("dead", "over"))
    return next(over, -1)


def _row(scene: Scene, before: int, number: int, counter: int, room: int, language: Language) -> Row:
    """Return the row of an event. before: the value of the counter. counter: its lane. room: for the words, in pixels."""
    event, letters = scene.row, int(room / LETTER)
    words = [("code bold", shortened(say.row(scene, language), letters - len(event.place and f"{event.place}  ")))]
    words += [("code soft", shortened(scene.source, letters))] if event.place else []
    broken = (say.capital(say.broken(happening, language)) for happening in scene.breaks)
    words += [("bad", line) for text in broken for line in wrapped(text, int(room / BOLD_LETTER))]
    to = tuple(len(scene.clients) + server - 1 for server in event.servers)
    marks = [Mark(ord(event.actor) - FIRST, SIGNS.get(event.kind, event.actor), to) if event.actor else Mark()]
    if scene.writes:
        marks.append(Mark(counter, value=f"{before} → {scene.counter}", is_bad=scene.counter <= before))
    return Row(tuple(words), (tuple(marks),), bool(scene.claims), event.place, number)


def _spans(story: Story, keys: Sequence[str | int], language: Language) -> Iterator[Span]:
    """Yield the spans in which a client works or is paused, and in which a key of the lock or a vote has one owner."""
    for client in range(len(story.start)):
        doings = [story.start[client], *(scene.clients[client] for scene in story.scenes)]
        for looks in ([doing.work for doing in doings], ["paused" if doing.mode == "paused" else "" for doing in doings]):
            yield from (Span(client, since, until, look) for look, since, until in _lasting(looks) if look)
    for lane, key in enumerate(keys, len(story.start)):
        holders = [
            None,
            *(next((held for held in scene.lock if key in (held.server, held.name)), None) for scene in story.scenes),
        ]
        for held, since, until in _lasting(holders):
            if held is not None and held.server:
                yield Span(lane, since, until, f"votes{(ord(held.owner) - FIRST) % 2}", (held.owner,))  # two greys
            elif held is not None:
                yield Span(lane, since, until, "lock", (held.owner,) if len(keys) > 1 else _label(held, language))


def _label(held: Held, language: Language) -> tuple[str, str]:
    """Return the words for the owner of a key, and for the moment at which it expires."""
    name, until_s = ("until" if held.until_ms else "for_ever"), say.seconds(held.until_ms)
    return say.text("lanes", "whose", language, actor=held.owner), say.text("lanes", name, language, s=until_s)


def _lasting(values: Iterable[T]) -> Iterator[tuple[T, int, int]]:
    """Yield each run of equal values: the value, the number of the event at which it begins, and of the event at its end."""
    since = 0
    for value, same in groupby(values):
        yield value, since, (until := since + len(list(same)))
        since = until


def shortened(text: str, letters: int) -> str:
    """Return a line of code, cut to this number of letters."""
    return text if len(text) <= letters else text[: letters - 1] + "…"

"""The picture of a schedule, as SVG: a lane for each client, for the lock and for the counter; a row for each event.

Rows go down, for then each event has room for its command, its reply and the stage's own line. The picture is one file without
fonts, scripts or links, light and dark. The same story gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from lab.language import Language
from lab.story import say
from lab.story.happening import Held, Kind, Scene, Story
from lab.story.say import ENGLISH
from lab.text import letters_of, wrapped

WIDTH, EDGE = 850, 10
NUMBER, LANE, LOCK, COUNTER = 26, 44, 92, 52  # the widths of the columns on the left; the rest is text
LETTER, BOLD_LETTER, TITLE_LETTERS = 7.25, 8, 84  # the width of a letter; how many are in a line of the title
ROW, SHORT_ROW, BROKEN = 42, 30, 20  # heights
NODE = 10
SERVER = 22  # the width of the lane of one of several servers
GREYS = 2  # the votes of two clients have different greys
FIRST = ord("A")  # the letter of the first client

STYLE = """\
svg{--page:#fff;--text:#1c1c1c;--soft:#565656;--line:#b9b9b4;--grid:#ececea;--bad:#a34700;--red:#fdeee6;
--work:#a9d3ee;--late:#f2bd4d;--lock:#e4e4df;--other:#c4c4bb;--node:#0072b2;--on:#fff;--hatch:#666}
@media (prefers-color-scheme:dark){
svg{--page:#161616;--text:#ececec;--soft:#b4b4b4;--line:#6a6a6a;--grid:#2b2b2b;--bad:#ff9d5c;--red:#3a1d12;
--work:#1f5f88;--late:#8a6512;--lock:#3a3a38;--other:#5a5a56;--node:#86caf7;--on:#161616;--hatch:#a0a0a0}}
text{fill:var(--text);font:13px system-ui,"DejaVu Sans",Arial,sans-serif}
.code{font:12px "DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre}
.title{font-size:16px;font-weight:bold}.small{font-size:12px}.what,.head{font-weight:bold}
.soft{fill:var(--soft)}.bad{fill:var(--bad);font-weight:bold}.on{fill:var(--on);font-weight:bold}
.page{fill:var(--page)}.red{fill:var(--red)}.grid{stroke:var(--grid)}.lane{stroke:var(--line);stroke-width:2}
.entitled{fill:var(--work)}.late{fill:var(--late)}.lock{fill:var(--lock);stroke:var(--line)}
.paused{fill:url(#hatch);stroke:var(--line)}.hatch{stroke:var(--hatch);stroke-width:2}
.votes0{fill:var(--lock);stroke:var(--line)}.votes1{fill:var(--other);stroke:var(--line)}
.way{stroke:var(--node);stroke-dasharray:1 3;stroke-linecap:round;stroke-width:2;fill:none}.at{fill:var(--node)}
.node{fill:var(--node)}.clock{stroke:var(--soft);stroke-dasharray:4 3}
"""


def draw(story: Story, language: Language = ENGLISH) -> str:
    """Return the picture."""
    return "\n".join(_Picture(story, language).parts()) + "\n"


class _Picture:
    def __init__(self, story: Story, language: Language) -> None:
        self.story, self.language = story, language
        self.title = wrapped(say.title(story, language), TITLE_LETTERS)
        self.clients = len(story.start)
        self.lock_x = EDGE + NUMBER + LANE * self.clients
        self.servers = _Servers(story, self.lock_x) if story.servers > 1 and story.has_lock else None
        self.lock_width = self.servers.width if self.servers else LOCK if story.has_lock else 0
        self.counter_x = self.lock_x + self.lock_width
        self.text_x = self.counter_x + COUNTER + 8
        self.letters = int((WIDTH - EDGE - self.text_x) / LETTER)
        self.head_y = EDGE + 22 * len(self.title) + 22
        self.breaks = [self._broken(scene) for scene in story.scenes]
        heights = [_height(*one) for one in zip(story.scenes, self.breaks, strict=True)]
        self.tops = [self.head_y + 10 + sum(heights[:place]) for place in range(len(heights) + 1)]
        self.heights = heights
        self.rows = [top + 15 for top in self.tops[:-1]]
        # the moments between which a state lasts: from an event to the next
        self.moments = [self.head_y + 4, *self.rows, self.tops[-1]]
        self.states = [story.start, *(scene.clients for scene in story.scenes)]
        self.height = self.tops[-1] + 34 + EDGE

    def parts(self) -> Iterator[str]:
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" role="img" aria-labelledby="t d">'
            f'\n<title id="t">{escape(say.title(self.story, self.language))}</title>'
            f'\n<desc id="d">{escape(say.sentences(self.story, self.language))}</desc>'
        )
        yield f"<style>\n{STYLE}</style>"
        yield (
            '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            '<path d="M0 0V6" class="hatch"/></pattern></defs>'
        )
        yield f'<rect class="page" width="{WIDTH}" height="{self.height}"/>'
        for number, line in enumerate(self.title):
            yield label(EDGE, EDGE + 14 + 22 * number, line, "title")
        yield from self._grid()
        for client in range(self.clients):
            yield from self._client(client)
        if self.servers is not None:
            yield from self.servers.lanes(self.head_y, self.moments, self.tops[-1])
        elif self.story.has_lock:
            yield from self._lock()
        yield from self._counter()
        for place, scene in enumerate(self.story.scenes):
            yield from self._event(place, scene)
        yield from self._legend()
        yield "</svg>"

    def _grid(self) -> Iterator[str]:
        for place, scene in enumerate(self.story.scenes):
            if scene.claims:
                yield f'<rect class="red" y="{self.tops[place]}" width="{WIDTH}" height="{self.heights[place]}"/>'
        for top in self.tops:
            yield f'<path class="grid" d="M0 {top}H{WIDTH}"/>'

    def _x(self, client: int) -> int:
        return EDGE + NUMBER + LANE * client + LANE // 2

    def _client(self, client: int) -> Iterator[str]:
        x = self._x(client)
        yield label(x, self.head_y, chr(FIRST + client), "head", "middle")
        doings = [state[client] for state in self.states]
        alive = [moment for moment, doing in zip(self.moments, doings, strict=False) if doing.mode not in ("dead", "over")]
        end = self.moments[len(alive)]
        yield f'<path class="lane" d="M{x} {self.moments[0]}V{end}"/>'
        for name, half in (("entitled", 11), ("late", 11)):
            for since, until in spans([doing.work == name for doing in doings], self.moments):
                yield box(name, x - half, since, 2 * half, until)
        for since, until in spans([doing.mode == "paused" for doing in doings], self.moments):
            yield box("paused", x - 7, since, 14, until)

    def _lock(self) -> Iterator[str]:
        x = self.lock_x
        yield label(x + LOCK // 2, self.head_y, self._says("lock"), "head", "middle")
        yield f'<path class="lane" d="M{x + LOCK // 2} {self.moments[0]}V{self.tops[-1]}"/>'
        locks: list[tuple[Held, ...]] = [(), *(scene.lock for scene in self.story.scenes)]
        names = sorted({held.name for lock in locks for held in lock})
        width = (LOCK - 6) // max(1, len(names))
        for place, name in enumerate(names):
            held = [next((one for one in lock if one.name == name), None) for lock in locks]
            for one in dict.fromkeys(each for each in held if each is not None):
                for since, until in spans([each == one for each in held], self.moments):
                    left = x + 3 + place * width
                    yield box("lock", left, since, width - 1, until)
                    yield from self._labels(one, left + width / 2, since, len(names) == 1, until - since)

    def _counter(self) -> Iterator[str]:
        x = self.counter_x + COUNTER // 2
        yield label(x, self.head_y, self._says("counter"), "head", "middle")
        yield f'<path class="lane" d="M{x} {self.moments[0]}V{self.tops[-1]}"/>'
        counts = [0, *(scene.counter for scene in self.story.scenes)]
        for place, (before, after) in enumerate(pairwise(counts)):
            scene = self.story.scenes[place]
            if scene.writes:
                destroyed = after <= before
                y, ground = self.rows[place], "red" if scene.claims else "page"
                yield f'<rect class="{ground}" x="{x - 25}" y="{y - 11}" width="50" height="22" rx="4"/>'
                yield label(x, y + 5, f"{before} → {after}", "bad" if destroyed else "head", "middle")

    def _event(self, place: int, scene: Scene) -> Iterator[str]:
        y = self.rows[place]
        yield label(EDGE + NUMBER - 8, y + 5, str(place + 1), "soft", "end")
        if scene.row.actor:
            x = self._x(ord(scene.row.actor) - FIRST)
            if self.servers is not None:
                yield from self.servers.way(scene, x, y)
            yield f'<circle class="node" cx="{x}" cy="{y}" r="{NODE}"/>'
            yield from _sign(scene, x, y)
        else:
            yield f'<path class="clock" d="M{EDGE + NUMBER} {y}H{self.counter_x + COUNTER}"/>'
        room = self.letters - (len(scene.row.place) + 2 if scene.row.place else 0)
        yield label(self.text_x, y + 5, shortened(say.row(scene, self.language), room), "code what")
        if scene.row.place:
            yield label(WIDTH - EDGE, y + 5, scene.row.place, "code soft", "end")
            yield label(self.text_x, y + 21, shortened(scene.source, self.letters), "code soft")
        for number, broken in enumerate(self.breaks[place]):
            below = 23 if not scene.row.place else 39
            yield label(self.text_x, y + below + BROKEN * number, broken, "bad")

    def _legend(self) -> Iterator[str]:
        works = {doing.work for state in self.states for doing in state}
        modes = {doing.mode for state in self.states for doing in state}
        x, y = EDGE, self.tops[-1] + 12
        shown = [("entitled", "entitled" in works), ("late", "late" in works), ("paused", "paused" in modes)]
        named = [(name, self._says(name)) for name, there in shown if there]
        if self.servers is not None:
            named.append(("votes0", self._says("votes", n=self.story.servers)))
        for name, words in named:
            yield f'<rect class="{name}" x="{x}" y="{y}" width="14" height="14"/>'
            yield label(x + 20, y + 12, words, "soft small")
            x += 20 + int(6.6 * letters_of(words)) + 18

    def _says(self, name: str, **places: object) -> str:
        return say.text("lanes", name, self.language, **places)  # type: ignore[arg-type]

    def _labels(self, held: Held, x: float, since: int, wide: bool, height: int) -> Iterator[str]:
        """Write on a key of the lock whose it is, and until when it lives."""
        name, until_s = ("until" if held.until_ms else "for_ever"), say.seconds(held.until_ms)
        if not wide:
            yield label(x, since + 17, held.owner, "small", "middle")
        elif height >= 36:
            yield label(x, since + 16, self._says("whose", actor=held.owner), "head", "middle")
            yield label(x, since + 31, self._says(name, s=until_s), "small", "middle")
        else:
            yield label(x, since + 16, self._says(f"whose_{name}", actor=held.owner, s=until_s), "small", "middle")

    def _broken(self, scene: Scene) -> list[str]:
        """Return the lines that state what an event breaks."""
        room = int((WIDTH - EDGE - self.text_x) / BOLD_LETTER)
        return [line for one in scene.breaks for line in wrapped(say.capital(say.broken(one, self.language)), room)]


class _Servers:
    """The lanes of a story, from a place to the right."""

    def __init__(self, story: Story, left: int) -> None:
        self.story, self.left = story, left
        self.width = SERVER * story.servers + 6

    def _x(self, server: int) -> int:
        return self.left + SERVER * (server - 1) + SERVER // 2

    def lanes(self, head_y: int, moments: list[int], end: int) -> Iterator[str]:
        """Draw the lanes, with the owner of each vote."""
        votes: list[dict[int, str]] = [
            {},
            *({one.server: one.owner for one in scene.lock} for scene in self.story.scenes),
        ]
        for server in range(1, self.story.servers + 1):
            x = self._x(server)
            yield label(x, head_y, str(server), "head", "middle")
            yield f'<path class="lane" d="M{x} {moments[0]}V{end}"/>'
            yield from self._votes(x, [one.get(server, "") for one in votes], moments)

    def _votes(self, x: int, owners: Sequence[str], moments: list[int]) -> Iterator[str]:
        for owner in dict.fromkeys(filter(None, owners)):
            grey = (ord(owner) - FIRST) % GREYS
            for since, until in spans([one == owner for one in owners], moments):
                yield box(f"votes{grey}", x - SERVER // 2 + 1, since, SERVER - 2, until)
                yield label(x, since + 17, owner, "small", "middle")

    def way(self, scene: Scene, x: int, y: int) -> Iterator[str]:
        """Draw the way of a command from its client to the server that executes it."""
        for server in scene.row.servers:
            yield f'<path class="way" d="M{x} {y}H{self._x(server) - 4}"/>'
            yield f'<circle class="at" cx="{self._x(server)}" cy="{y}" r="4"/>'


def _sign(scene: Scene, x: int, y: int) -> Iterator[str]:
    """Draw what is in an event's circle: the letter of its client, or the sign of what was done to it."""
    kind = scene.row.kind
    if kind is Kind.PAUSED:
        yield f'<path d="M{x - 3} {y - 5}V{y + 5}M{x + 3} {y - 5}V{y + 5}" stroke="var(--on)" stroke-width="3"/>'
    elif kind is Kind.RESUMED:
        yield f'<path d="M{x - 3} {y - 5}L{x + 6} {y}L{x - 3} {y + 5}z" fill="var(--on)"/>'
    elif kind is Kind.KILLED:
        yield f'<path d="M{x - 4} {y - 4}L{x + 4} {y + 4}M{x + 4} {y - 4}L{x - 4} {y + 4}" stroke="var(--on)" stroke-width="3"/>'
    else:
        yield label(x, y + 5, scene.row.actor, "on", "middle")


def _height(scene: Scene, broken: list[str]) -> int:
    return (ROW if scene.row.place else SHORT_ROW) + BROKEN * len(broken)


def shortened(text: str, letters: int) -> str:
    """Return a line of code that is at most so long."""
    return text if len(text) <= letters else text[: letters - 1] + "…"


def spans(holds: list[bool], moments: list[int]) -> Iterator[tuple[int, int]]:
    """Yield from when until when something holds. ``holds``: whether it does after each moment but the last."""
    since: int | None = None
    for moment, now in zip(moments, [*holds, False], strict=True):
        if now and since is None:
            since = moment
        elif not now and since is not None:
            yield since, moment
            since = None


def box(name: str, x: float, since: int, width: float, until: int) -> str:
    """Return a box of a lane, from a moment until another."""
    return f'<rect class="{name}" x="{x:g}" y="{since}" width="{width:g}" height="{until - since}" rx="3"/>'


def label(x: float, y: float, text: str, name: str, anchor: str = "") -> str:
    """Return a line of text."""
    at = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}" class="{name}"{at}>{escape(text, quote=False)}</text>'

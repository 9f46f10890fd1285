"""The lanes of several servers in a picture: whose vote each of them has, and which of them executes a command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.explore.search.event import letter_of
from lab.explore.story.scene import Scene, Story, server_of
from lab.explore.story.shapes import box, label, spans

SERVER = 22  # the width of a lane
GREYS = 2  # the votes of two clients have different greys


class Servers:
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
            *({server_of(one.name): one.owner for one in scene.lock} for scene in self.story.scenes),
        ]
        for server in range(1, self.story.servers + 1):
            x = self._x(server)
            yield label(x, head_y, str(server), "head", "middle")
            yield f'<path class="lane" d="M{x} {moments[0]}V{end}"/>'
            yield from self._votes(x, [one.get(server, "") for one in votes], moments)

    def _votes(self, x: int, owners: Sequence[str], moments: list[int]) -> Iterator[str]:
        for owner in dict.fromkeys(filter(None, owners)):
            grey = (ord(owner) - ord(letter_of(0))) % GREYS
            for since, until in spans([one == owner for one in owners], moments):
                yield box(f"votes{grey}", x - SERVER // 2 + 1, since, SERVER - 2, until)
                yield label(x, since + 17, owner, "small", "middle")

    def way(self, scene: Scene, x: int, y: int) -> Iterator[str]:
        """Draw the way of a command from its client to the server that executes it."""
        _, dot, server = scene.event.partition(".")
        if dot and server.isdigit():
            yield f'<path class="way" d="M{x} {y}H{self._x(int(server)) - 4}"/>'
            yield f'<circle class="at" cx="{self._x(int(server))}" cy="{y}" r="4"/>'

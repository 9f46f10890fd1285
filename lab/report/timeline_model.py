"""The data of a run's timeline, small enough to sit in a page.

Times are whole microseconds since the first request, NEVER where a thing did not happen. All records are JSON arrays
(``array_like``): the names stand here once, and not in every line.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from lab.evidence.fault_effect import EFFECT_OF_KIND, Effect

NEVER = -1
FIRST_GRANTS = 30  # where nothing happened, a picture opens on so many


class Held(msgspec.Struct, array_like=True):
    """One grant and what was done under it. replica, lease: places in their lists. slot: where it is stacked in its lane.

    until: the end of belief, the stamp before the release is sent; of one that never let go, its death or the run's end.
    """

    request: str
    replica: int
    key: int
    asked: int
    got: int
    slot: int = 0
    reading: int = NEVER
    read_at: int = NEVER
    read: int | None = None
    wrote_at: int = NEVER
    wrote: int | None = None
    overwrote: int | None = None
    until: int = NEVER
    released: int = NEVER
    result: str = ""
    lease: int = NEVER
    commands: int = 0


class Life(msgspec.Struct, array_like=True):
    """A key's life at the lock's store, as the lab heard of it. how: what ended it, empty while it lives.

    due: when its time to live was over, NEVER if it was given none; it is gone when the store notices. holder, by: the
    grants it belongs to and whose release ended it, NEVER where the evidence does not tell. touched: its renewals.
    """

    key: int
    born: int
    due: int = NEVER
    gone: int = NEVER
    how: str = ""
    holder: int = NEVER
    by: int = NEVER
    slot: int = 0
    touched: list[int] = []


class Loss(msgspec.Struct, array_like=True):
    """A write that destroyed increments. culprit, victim: grants; victim NEVER where the evidence does not name it."""

    culprit: int
    victim: int
    destroyed: int
    mechanism: int


class DrawnFault(msgspec.Struct, array_like=True):
    """A fault outcome as the timeline draws it."""

    # the name of the fault's file
    kind: str
    # the failpoint, phase.moment
    failpoint: str
    # the place of the replica in its list; NEVER if it is unknown
    replica: int
    # the request that reached the failpoint
    request: str
    # when the fault began
    at: int
    # when the recovery was complete
    recovered: int
    # when the replica's process was up again; NEVER if it had not died
    back: int = NEVER
    # when another request got the lock; NEVER if none did
    next_got: int = NEVER
    # that request
    next_request: str = ""
    # what the fault does; a file of an old run has none, and gets that of the kind
    effect: Effect = Effect.OTHER

    def __post_init__(self) -> None:
        if self.effect is Effect.OTHER:
            self.effect = EFFECT_OF_KIND.get(self.kind, Effect.OTHER)


class Waited(msgspec.Struct, array_like=True):
    """A request that gave up without a grant."""

    request: str
    replica: int
    asked: int
    gave_up: int
    why: str


class Renewal(msgspec.Struct, array_like=True):
    """A command outside any request, and the store's answer."""

    replica: int
    key: int
    at: int
    answer: str


class Timeline(msgspec.Struct, kw_only=True):
    """A run as a picture needs it. shown: from when to when grants are in it; opens: what to show first.

    focus: the loss, focus_fault: the fault that the picture opens on, NEVER without one. tale: of the claim under
    test, where it can be told without either; about: from when to when it took place. grants: how many the run had.
    ttl: 0 without one. destroyed: by all losses of the run, restored: what was brought back. asked_store: whether the
    stage locks outside the process.
    """

    run: str
    stage: str
    scenario: str
    ttl: int = 0
    asked_store: bool = True
    replicas: list[str] = []
    keys: list[str] = []
    mechanisms: list[str] = []
    end: int = 0
    shown: tuple[int, int] = (0, 0)
    opens: tuple[int, int] = (0, 0)
    focus: int = NEVER
    focus_fault: int = msgspec.field(name="focus_hit", default=NEVER)
    tale: str = ""
    about: tuple[int, int] = (NEVER, NEVER)
    grants: int = 0
    writes: int = 0
    lost: int = 0
    destroyed: int = 0
    duplicated: int = 0
    held: list[Held] = []
    lives: list[Life] = []
    losses: list[Loss] = []
    faults: list[DrawnFault] = msgspec.field(name="hits", default_factory=list)
    waited: list[Waited] = []
    renewals: list[Renewal] = []


FIELDS = {  # how a page is to read the arrays
    name: kind.__struct_fields__
    for name, kind in {
        "held": Held, "lives": Life, "losses": Loss, "faults": DrawnFault, "waited": Waited, "renewals": Renewal,
    }.items()
}  # fmt: skip


def load(path: Path) -> Timeline | None:
    """What ``report`` has put into a run folder; None if it has not."""
    return msgspec.json.decode(path.read_bytes(), type=Timeline) if path.exists() else None


def story(picture: Timeline) -> tuple[int, int]:
    """From when to when what the picture is about took place."""
    if picture.focus != NEVER:
        loss = picture.losses[picture.focus]
        both = [picture.held[place] for place in (loss.culprit, loss.victim) if place != NEVER]
        faults = [fault.at for fault in picture.faults if fault.request in {held.request for held in both}]
        return min([held.got for held in both] + faults), max(max(held.until, held.wrote_at) for held in both)
    if picture.focus_fault != NEVER:
        fault = picture.faults[picture.focus_fault]
        return fault.at, max(fault.at, min(fault.recovered, picture.end), fault.next_got)
    if picture.about != (NEVER, NEVER):
        return picture.about
    grants = [held.until for held in picture.held[:FIRST_GRANTS]]
    return 0, max(grants, default=picture.end)

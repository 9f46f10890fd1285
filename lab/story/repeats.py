"""Fold repeated events of a schedule, such as the renewals of a waiter: keep the first ones, and count the repetitions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from lab.story.happening import Happening, Kind, Scene

AGAIN = re.compile(r"(.{1,6}?)\1{4,}", re.DOTALL)


def folded(scenes: Sequence[Scene]) -> tuple[Scene, ...]:
    """Return the scenes. One scene replaces all repetitions of a group of scenes, if they differ only in time."""
    looks, found, place = dict[str, str](), list[Scene](), 0
    letters = [looks.setdefault(_look(one), chr(len(looks))) for one in scenes]
    for again in AGAIN.finditer("".join(letters)):
        length, first = len(again[1]), again.end(1)
        found += scenes[place:first]
        place = again.end()
        repetition = Happening(Kind.AND_AGAIN, number=(place - first) // length)
        is_told = any(one.did and one.did[0].kind is not Kind.WAITED for one in found[-length:])
        did, events = (repetition,) if is_told else (), place - first
        found.append(replace(scenes[place - 1], row=repetition, did=did, events=events, reply="", source=""))
    return (*found, *scenes[place:])


def _look(scene: Scene) -> str:
    row, did = replace(scene.row, at_ms=0, code=""), [(one.kind, one.actor, one.others) for one in scene.did]
    return repr((row, did, scene.counter, scene.clients, scene.reply, scene.claims))

"""The generated part of a chapter that leads to its levels: the pages on which the reader is the scheduler."""

from __future__ import annotations

from collections.abc import Callable

from app.locks import stages
from lab.errors import choose_from
from lab.play.levels import LEVELS

PAGES = "../../reports/reference/play"  # from a chapter


def _play(name: str) -> str:
    """Return links to the levels of a stage; nothing where it has none."""
    choose_from("stage", name, stages())
    links = [f"[{level.goal}]({PAGES}/{level.name}.html)" for level in LEVELS if level.stage == name]
    return f"**Be the scheduler.** You decide the order, in your browser: {' · '.join(links)}\n" if links else ""


PARTS: dict[str, Callable[..., str]] = {"play": _play}

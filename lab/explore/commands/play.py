"""Run ``lab play``: write the pages on which the reader is the scheduler."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from app.lock import Stage
from lab.errors import ExitStatus, NothingShown
from lab.explore.code.program import servers_of
from lab.explore.code.replica import NeverWaits
from lab.explore.commands.explore import explored
from lab.explore.model import NotExplored
from lab.explore.play.levels import LEVELS, Level, own_levels
from lab.explore.play.page import write
from lab.explore.search.replay import Differs
from lab.explore.store.real_redis import MachineStalled, redis_server
from lab.language import of_environment
from lab.paths import REPORTS, shown
from lab.report.html import path_in
from lab.story import say


def play(names: tuple[str, ...], out: Path | None, open_it: bool) -> int:
    """Write the levels of some stages, by default the book's levels, and print the path of their index. Return the exit status.

    out: the folder for the pages; None for the folder of reports. Raises BadInput and NothingShown.
    """
    language = of_environment(os.environ)
    stages = [explored(name) for name in names]
    if several := [stage.name for stage in stages if servers_of(stage) > 1]:
        raise NothingShown(f"{several[0]} has no page: it asks several servers. `lab explore {several[0]}` decides its orders.")
    with redis_server() as real:
        try:
            levels = levels_of(stages) if stages else LEVELS
            index, without = write(levels, real, out or REPORTS / "play")
        except (NotExplored, NeverWaits) as error:
            raise NothingShown(f"{' or '.join(names)} is not explored: {error}.") from None
        except (Differs, MachineStalled) as error:
            raise NothingShown(f"no page is written: {error}.") from None
    for name in without:
        sys.stderr.write(say.text("level", "too_slow", language, stage=name) + "\n")
    index = path_in(index, language)
    sys.stdout.write(f"{shown(index.absolute())}\n")
    if open_it and has_browser():
        webbrowser.open(index.absolute().as_uri())
    return ExitStatus.GOOD


def levels_of(stages: Sequence[Stage]) -> list[Level]:
    """Return the book's levels of each stage, or levels from its default searches; none with the moves of a level left out."""
    levels = [level for stage in stages for level in [one for one in LEVELS if one.stage == stage.lookup] or own_levels(stage)]
    return [one for at, one in enumerate(levels) if not one.moves_of or one.moves_of in {other.name for other in levels[:at]}]


def has_browser() -> bool:
    """Return whether there is a screen. Without one, a browser would run in the terminal."""
    return not sys.platform.startswith("linux") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ

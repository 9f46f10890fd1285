"""Run ``lab explore --replay``: one schedule again, event by event, on an empty server."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from lab.errors import BadInput, ExitStatus
from lab.explore.commands.explore import check_servers, explored, print_story
from lab.explore.decision import Explorer
from lab.explore.schedule import typed
from lab.explore.search.replay import CANNOT, NotPossible
from lab.explore.store.real_redis import redis_server
from lab.explore.story.lanes import draw
from lab.explore.story.scenes import staged
from lab.paths import new_folder
from lab.report.terminal import terminal


def replay(text: str, out: Path | None, servers: int | None, **options: Any) -> int:
    """Run a schedule again and print it. Return the exit status: 1 if it breaks a claim of the stage.

    text: STAGE:EVENTS. out: the file for its picture. servers: the number that the lock asks. options: of the task, as for
    ``typed``.
    """
    if out is not None and out.suffix != ".svg":
        raise BadInput(f"--out {out}: the picture of a schedule is an SVG; name a file that ends with .svg")
    if out is not None:
        new_folder(str(out.parent), "--out").mkdir(parents=True, exist_ok=True)
    schedule = typed(text, **options)
    stage = explored(schedule.stage)
    check_servers(stage, servers)
    with redis_server() as real, closing(Explorer(stage, real, servers)) as explorer:
        try:
            story, walk = staged(explorer, schedule.question, schedule.events, schedule.until_ms)
        except NotPossible as error:
            raise BadInput(f"the schedule cannot happen: {error}") from None
        except CANNOT as error:
            sys.stderr.write(f"error: nothing is decided: {error}\n")
            return ExitStatus.NOTHING_SHOWN
        print_story(terminal(), story)
        if out is not None:
            out.write_text(draw(story), encoding="utf-8")
    broken = {finding.claim for move in walk.moves for finding in move.findings}
    return ExitStatus.BROKEN if broken & stage.claims else ExitStatus.GOOD

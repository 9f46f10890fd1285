"""``lab explore --replay``: run one schedule again, event by event, on an empty server."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from lab.errors import BadInput, ExitStatus
from lab.evidence.decided import fingerprint_of
from lab.explore import schedule as schedule_files
from lab.explore.commands.explore import check_servers, explored, print_story
from lab.explore.commands.on_cluster import enacted_in_words, not_on_cluster
from lab.explore.decision import Explorer
from lab.explore.enact.enact import Agreement, enact
from lab.explore.model import GRID_MS
from lab.explore.questions import TTL_MS
from lab.explore.schedule import Schedule
from lab.explore.search.event import CLOCK
from lab.explore.search.replay import CANNOT, NotPossible, Walk
from lab.explore.store.real_redis import redis_server
from lab.explore.story.lanes import draw
from lab.explore.story.scenes import staged
from lab.language import of_environment
from lab.paths import new_folder
from lab.pipeline import finish
from lab.report.terminal import summarise, terminal, where_to_look
from lab.servers.supervisor import supervised
from lab.story import say


def replay(
    text: str,
    ttl_ms: int | None,
    work_ms: int | None,
    clients: int | None,
    out: Path | None = None,
    on_cluster: bool = False,
    nested: bool = False,
    servers: int | None = None,
    nap_ms: int | None = None,
) -> int:
    """Run a schedule again and print it. Return the exit status: 1 if it breaks a claim of the stage.

    text: STAGE:EVENTS, or the path of a file of ``lab explore --out``. out: the file for its picture.
    on_cluster: run it on real replicas as well; then the exit status is 0 if both saw the same, and 3 otherwise.
    """
    if out is not None and out.suffix != ".svg":
        raise BadInput(f"--out {out}: the picture of a schedule is an SVG; name a file that ends with .svg")
    if out is not None:
        new_folder(str(out.parent), "--out").mkdir(parents=True, exist_ok=True)
    if text.endswith(".json"):
        if any(one is not None for one in (ttl_ms, work_ms, clients, servers, nap_ms)):
            raise BadInput(f"{text} has its own TTL, work, naps, clients and servers: give no option for them")
        schedule = schedule_files.read(Path(text))
    else:
        schedule = typed(text, ttl_ms or TTL_MS, work_ms or 0, clients, nap_ms or GRID_MS)
    schedule.nested = schedule.nested or nested
    schedule.servers = servers or schedule.servers
    stage = explored(schedule.stage)
    check_servers(stage, schedule.servers or None)
    if on_cluster and (why := not_on_cluster(stage, schedule)):
        raise BadInput(f"the schedule is not possible on a cluster: {why}. Without --cluster: lab explore --replay {text}")
    with redis_server() as real, closing(Explorer(stage, real, schedule.servers or None)) as explorer:
        status, walk = _replayed(explorer, schedule, out)
    if not on_cluster or walk is None:
        return status
    console, language = terminal(), of_environment(os.environ)
    with supervised() as supervisor:
        done = enact(supervisor, stage, schedule, walk)
    summarise(console, done.conducted.judgement, done.conducted.findings)
    console.print(say.text("enacted", "on_cluster", language, what=enacted_in_words(done, language)), soft_wrap=True)
    where_to_look(console, finish(done.conducted, draw=False))
    return ExitStatus.GOOD if done.agreement is Agreement.AGREES else ExitStatus.NOTHING_SHOWN


def typed(text: str, ttl_ms: int, work_ms: int, clients: int | None, nap_ms: int = GRID_MS) -> Schedule:
    """Return the schedule of a short form. Raises BadInput."""
    name, colon, events = text.rpartition(":")
    if not colon or not name:
        raise BadInput(
            f"{text!r} is not a schedule; write STAGE:EVENTS, as in uuid:A4BpAt3000BrAA, or give a file of `lab explore --out`"
        )
    about: Any = {"stage": name, "clients": clients or 2, "ttl_ms": ttl_ms, "work_ms": work_ms, "nap_ms": nap_ms}
    schedule = Schedule(schema=schedule_files.SCHEMA, until_ms=0, events=events, **about)
    parsed = schedule.parsed
    schedule.clients = clients or max(2, max((event.client for event in parsed), default=0) + 1)
    latest_ms = max((event.number for event in parsed if event.kind is CLOCK), default=0)
    schedule.until_ms = max(schedule.question.horizon_ms, latest_ms)
    return schedule


def _replayed(explorer: Explorer, schedule: Schedule, out: Path | None) -> tuple[int, Walk | None]:
    """Print a schedule. Return the exit status, and what was seen; None if it is not possible."""
    stage = explorer.stage
    changed = schedule.sha256 not in ("", fingerprint_of(stage))
    if changed:
        sys.stderr.write(f"note: {stage.name} has changed since this schedule was written\n")
    try:
        story, walk = staged(explorer, schedule.question, schedule.parsed, schedule.until_ms, schedule.claim)
    except CANNOT as error:
        is_typed = isinstance(error, NotPossible) and not changed
        if is_typed:
            raise BadInput(f"the schedule cannot happen: {error}") from None
        what = "the schedule cannot happen any more" if isinstance(error, NotPossible) else "error: nothing is decided"
        sys.stderr.write(f"{what}: {error}\n")
        return ExitStatus.NOTHING_SHOWN, None
    console = terminal()
    print_story(console, story)
    if out is not None:
        out.write_text(draw(story), encoding="utf-8")
    broken = {finding.claim for move in walk.moves for finding in move.found}
    if schedule.claim and schedule.claim not in {claim.name for claim in broken}:
        console.print(f"  {schedule.claim} does not break any more")
    return ExitStatus.BROKEN if broken & stage.claims else ExitStatus.GOOD, walk

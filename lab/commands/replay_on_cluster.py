"""``lab replay --cluster``: one schedule, or all of a folder, on real replicas, with the judge's verdict."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from app.lock import Stage
from lab.commands.explore import DECISION, explored
from lab.enact.enact import enact, script_of
from lab.enact.enactment import ScheduleScript, not_possible
from lab.errors import BadInput, ExitStatus
from lab.explore import schedule as schedule_files
from lab.explore.code.program import servers_of
from lab.explore.code.replica import NeverWaits
from lab.explore.decision import Explorer
from lab.explore.model import NotExplored
from lab.explore.schedule import Schedule
from lab.explore.search.replay import NotPossible
from lab.explore.server import redis_server
from lab.explore.store.others import is_other
from lab.explore.store.real_redis import MachineStalled, RealRedis
from lab.pipeline import finish
from lab.report.terminal import summarise, terminal, where_to_look
from lab.servers.supervised import one_supervisor, supervised
from lab.text import counted


def unsupported(stage: Stage) -> str:
    """Return why the schedules of a stage cannot be run on real replicas; empty where they can."""
    where = "several servers" if servers_of(stage) > 1 else stage.store if is_other(stage.store) else ""
    return f"--cluster does not support locks on {where}" if where else ""


def replay_on_cluster(stage: Stage, schedule: Schedule, script: ScheduleScript, command: str) -> int:
    """Run a schedule on real replicas, judge the run, and print whether both saw the same.

    Return 0 if they did, and 3 otherwise.
    """
    console = terminal()
    with supervised() as supervisor:
        done = enact(supervisor, stage, schedule, script, command)
    summarise(console, done.conducted.judgement, done.conducted.findings)
    console.print(f"On the cluster: {done.sentence}.", highlight=False, style="" if done.same else "yellow")
    where_to_look(console, finish(done.conducted, draw=False))
    return ExitStatus.GOOD if done.same else ExitStatus.NOTHING_SHOWN


def replay_all(folder: Path) -> int:
    """Run each schedule below a folder on real replicas, and print whether both saw the same. Keep only the runs that differ.

    Return 0 if all saw the same, and 3 otherwise.
    """
    files = [path for path in sorted(folder.rglob("*.json")) if path.name != DECISION]
    if not files:
        raise BadInput(f"{folder} has no schedule; `lab explore uuid --out {folder}` writes some")
    console, number = terminal(), 0
    with redis_server() as real, one_supervisor():
        for path in files:
            schedule = schedule_files.read(path)
            stage = explored(schedule.stage)
            same, sentence = _one_of_all(stage, schedule, real, f"lab replay {path} --cluster")
            number += same
            about = f"{stage.name} {schedule.claim} {schedule.events}"
            console.print(f"{'same' if same else 'NOT THE SAME'}  {about}  {sentence}", highlight=False, soft_wrap=True)
    console.print(f"\n{number} of {counted(len(files), 'schedule')}: the cluster shows what the explorer saw.", highlight=False)
    return ExitStatus.GOOD if number == len(files) else ExitStatus.NOTHING_SHOWN


def _one_of_all(stage: Stage, schedule: Schedule, real: RealRedis, command: str) -> tuple[bool, str]:
    """Return whether the cluster saw the same as the explorer, and the sentence about it."""
    if why := unsupported(stage):
        return False, why
    if why := not_possible(schedule.parsed):
        return False, f"not possible on a cluster: {why}"
    try:
        with closing(Explorer(stage, real)) as explorer:
            script = script_of(explorer, schedule)
    except (NotPossible, MachineStalled, NotExplored, NeverWaits) as error:
        return False, f"the schedule cannot happen: {error}"
    with supervised() as supervisor:
        done = enact(supervisor, stage, schedule, script, command)
    if done.same:
        done.conducted.folder.discard()
        return True, done.sentence
    return False, f"{done.sentence} ({finish(done.conducted, draw=False)})"

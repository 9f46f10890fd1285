"""``lab explore --keep``: decide stages, and keep the decisions for the documents."""

from __future__ import annotations

import shlex
from pathlib import Path

from app.lock import Stage
from app.locks import stages
from lab.commands.explore import explored, found_shortest, redis_server
from lab.errors import ExitStatus, choose_from
from lab.explore import kept
from lab.explore.connection import NotExplored
from lab.explore.decision import TTL_MS, decide, questions, within_s
from lab.explore.replay import Differs, Stalled
from lab.explore.replica import NeverWaits
from lab.explore.server_table import RealRedis
from lab.explore.unexplored import why_not
from lab.report.terminal import terminal
from lab.scenario.stages import find_stage

CLIENTS = 2


def keep_decisions(name: str | None, budget_s: float | None) -> int:
    """Decide one stage, or all that can be explored, for two clients. Keep what was decided, truthfully where it is nothing.

    Only a stage of the ladder is kept, or a lock of ``docs/slips``. Raises BadInput.
    """
    if name is not None and Path(name).resolve() not in kept.slips().values():
        choose_from("stage", name, stages())
    slips = [one for one in map(find_stage, map(str, kept.slips().values())) if commands(one)]
    chosen = [explored(name)] if name else [*(one for one in stages().values() if not why_not(one)), *slips]
    with redis_server() as real:
        for stage in chosen:
            found = _decided(stage, within_s(stage, budget_s), real)
            path = kept.write(found, kept.folder_of(stage))
            done = sum(one["complete"] for one in found.budgets)
            words = found.why or f"{done} of {len(found.budgets)} searches are complete"
            terminal().print(f"{stage.name}: {words}; kept {path.name}", highlight=False)
    return ExitStatus.GOOD


def commands(stage: Stage) -> list[list[str]]:
    """Return the words of each ``lab explore`` that a stage's docstring names."""
    return [words for words in map(shlex.split, stage.story.see_it) if words[1] == "explore"]


def ttl_ms(stage: Stage) -> int:
    """Return the TTL with which a stage is decided: that of its own command, where it names one."""
    given = [words[words.index("--ttl-ms") + 1] for words in commands(stage) if "--ttl-ms" in words]
    return int(given[0]) if given else TTL_MS


def _decided(stage: Stage, budget_s: float, real: RealRedis) -> kept.Kept:
    lives_ms = ttl_ms(stage)
    try:
        decision = decide(stage, CLIENTS, lives_ms, questions(CLIENTS, lives_ms, None, None), real, budget_s)
        stories = {one.broken.claim.name: one.story for one in found_shortest(decision, None, real)}
    except (NotExplored, NeverWaits, Differs, Stalled) as error:
        return kept.Kept(stage=stage.name, sha256=kept.fingerprint_of(stage), why=str(error))
    return kept.of(decision, stories, budget_s)

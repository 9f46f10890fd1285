"""``lab explore --keep``: decide stages, and keep the decisions for the documents."""

from __future__ import annotations

from app.lock import Stage
from app.locks import stages
from lab.commands.explore import TTL_MS, explored, found_shortest, redis_server
from lab.errors import ExitStatus, choose_from
from lab.explore import kept
from lab.explore.connection import NotExplored
from lab.explore.decision import decide, questions, within_s
from lab.explore.replay import Differs, Stalled
from lab.explore.replica import NeverWaits
from lab.explore.server_table import RealRedis
from lab.explore.unexplored import why_not
from lab.report.terminal import terminal

CLIENTS = 2


def keep_decisions(name: str | None, budget_s: float | None) -> int:
    """Decide one stage, or all that can be explored, for two clients. Keep what was decided, truthfully where it is nothing."""
    if name is not None:
        choose_from("stage", name, stages())
    chosen = [explored(name)] if name else [one for one in stages().values() if not why_not(one)]
    with redis_server() as real:
        for stage in chosen:
            found = _decided(stage, within_s(stage, budget_s), real)
            path = kept.write(found)
            done = sum(one["complete"] for one in found.budgets)
            words = found.why or f"{done} of {len(found.budgets)} searches are complete"
            terminal().print(f"{stage.name}: {words}; kept {path.name}", highlight=False)
    return ExitStatus.GOOD


def _decided(stage: Stage, budget_s: float, real: RealRedis) -> kept.Kept:
    try:
        decision = decide(stage, CLIENTS, TTL_MS, questions(CLIENTS, TTL_MS, None, None), real, budget_s)
        stories = {one.broken.claim.name: one.story for one in found_shortest(decision, None, real)}
    except (NotExplored, NeverWaits, Differs, Stalled) as error:
        return kept.Kept(stage=stage.name, sha256=kept.fingerprint_of(stage), why=str(error))
    return kept.of(decision, stories, budget_s)

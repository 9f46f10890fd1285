"""``lab explore --keep``: decide stages, and keep the decisions for the documents."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path

from app.lock import Stage
from app.locks import stages
from lab.errors import ExitStatus, choose_from
from lab.evidence import decided
from lab.evidence.decided import why_not
from lab.explore import kept
from lab.explore.commands.explore import explored, within_s
from lab.explore.commands.shortest import found_shortest
from lab.explore.decision import Decision, Explorer
from lab.explore.questions import TTL_MS, by_default
from lab.explore.store.real_redis import RealRedis
from lab.explore.workers import MOST_WORKERS, decide
from lab.paths import need_clone
from lab.report.terminal import terminal
from lab.scenario.stages import find_stage
from lab.servers.own_redis import own_servers
from lab.servers.server import Server


def keep_decisions(name: str | None, budget_s: float | None) -> int:
    """Decide one stage, or all that can be explored. Keep what was decided, truthfully where it is nothing.

    The searches have as long as those of before, unless ``budget_s`` is given: without it, a busy machine replaces no decision by
    one that decides less. Only a stage of the ladder is kept, or a lock of ``docs/slips``. Raises BadInput.
    """
    need_clone("--keep")
    if name is not None and Path(name).resolve() not in decided.slips().values():
        choose_from("stage", name, stages())
    slips = [one for one in map(find_stage, map(str, decided.slips().values())) if commands(one)]
    chosen = [explored(name)] if name else [*(one for one in stages().values() if not why_not(one)), *slips]
    status = ExitStatus.GOOD
    for stage in chosen:
        before = decided.read(decided.key_of(stage))
        longest_s = max(within_s(stage, budget_s), before.budget_s if before and budget_s is None else 0)
        with own_servers(MOST_WORKERS) as running:
            found = _decided(stage, longest_s, running)
        if before and budget_s is None and found.decided < before.decided:
            place = f"not kept: {before.decided} were. With --budget SECONDS it is kept in any case"
            status = ExitStatus.NOTHING_SHOWN
        else:
            kept.write(found, decided.key_of(stage))
            place = f"kept in {decided.FILE.name}"
        text = f"{stage.name}: {found.decided} of {len(found.searches)} searches are decided; {place}"
        terminal().print(text)
    return status


def commands(stage: Stage) -> list[list[str]]:
    """Return the words of each ``lab explore`` that a stage's docstring names."""
    return [words for words in map(shlex.split, stage.story.see_it) if words[1] == "explore"]


def ttl_ms(stage: Stage) -> int:
    """Return the TTL with which a stage is decided: that of its own command, where it names one."""
    given = [words[words.index("--ttl-ms") + 1] for words in commands(stage) if "--ttl-ms" in words]
    return int(given[0]) if given else TTL_MS


def _decided(stage: Stage, budget_s: float, running: list[Server]) -> decided.KeptDecision:
    lives_ms = ttl_ms(stage)
    decision = decide(Decision(stage, lives_ms, by_default(stage, lives_ms)), running, budget_s)
    real = RealRedis(running[0].host, running[0].port)
    with closing(real), closing(Explorer(stage, real)) as explorer:
        stories = {one.claim.name: one.story for one in found_shortest(decision, explorer)}
    return kept.of(decision, stories.get(decided.drawn().get(decided.key_of(stage), "")), budget_s)

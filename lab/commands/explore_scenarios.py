"""``lab explore --scenario``: the shortest schedules as scenarios, where failpoints can express them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.commands.explore import Shortest
from lab.explore import schedule as schedule_files
from lab.explore.as_scenario import NotExpressible, as_scenario
from lab.explore.phase import commands_alone, walked
from lab.explore.server_table import RealRedis


def write_scenarios(shortest: Sequence[Shortest], real: RealRedis, clients: int, folder: Path) -> Iterator[str]:
    """Write a scenario for each claim that breaks. Yield a line about each: its command, or why there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in shortest:
        claim, stage = one.broken.claim.name, one.program.stage
        about = clients, one.horizon_ms, real.version, claim, one.broken.mechanism
        schedule = schedule_files.of_moves(one.program, one.moves, *about)
        walk = walked(one.program, schedule, real)
        try:
            text = as_scenario(walk, schedule, commands_alone(one.program, real), has_ttl=stage.ttl_ms is not None)
        except NotExpressible as reason:
            yield f"{claim} has no scenario: {reason}"
            continue
        path = folder / f"{stage.name}_{claim}.toml"
        path.write_text(text, encoding="utf-8")
        yield f"{claim} as a scenario: lab run {path} --stage {stage.lookup}"

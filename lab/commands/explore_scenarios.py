"""``lab explore --scenario``: the shortest schedules as scenarios, where failpoints can express them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.commands.shortest import Shortest, as_schedule
from lab.explore.as_scenario import NotExpressible, as_scenario
from lab.explore.decision import Explorer
from lab.explore.search.phase import commands_alone
from lab.explore.search.replay import walk_live
from lab.story import say
from lab.story.deeds import of_finding


def write_scenarios(shortest: Sequence[Shortest], explorer: Explorer, folder: Path) -> Iterator[str]:
    """Write a scenario for each claim that breaks. Yield a line about each: its command, or why there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in shortest:
        claim, stage = one.claim.name, explorer.stage
        schedule = as_schedule(one, explorer.real.version)
        walk = walk_live(one.world, schedule.parsed, schedule.until_ms)
        alone = commands_alone(explorer.world(one.question.task, 1))
        try:
            how = say.broken(of_finding(one.broken.finding))
            text = as_scenario(walk, schedule, alone, has_ttl=stage.ttl_ms is not None, how=how)
        except NotExpressible as reason:
            yield f"{claim} has no scenario: {reason}"
            continue
        path = folder / f"{stage.name}_{claim}.toml"
        path.write_text(text, encoding="utf-8")
        yield f"{claim} as a scenario: lab run {path} --stage {stage.lookup}"

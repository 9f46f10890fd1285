"""Try a lock: one run on real servers, made and judged in this process, without the start of a command for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lab.judge.judgement import Judgement
from lab.pipeline import by_locust, conduct
from lab.scenario import scenario as scenarios
from lab.scenario.overrides import override
from lab.scenario.stages import find_stage
from lab.servers.supervisor import Supervisor


class Tried(NamedTuple):
    """A run that was judged."""

    judgement: Judgement
    # the claims that the stage makes, by name
    claims: set[str]


def trial(supervisor: Supervisor, scenario_name: str, stage_name: str, given: Mapping[str, int | float], reports: Path) -> Tried:
    """Run a stage, or the lock in a file, under a scenario, and judge the run."""
    stage = find_stage(stage_name)
    scenario = override(scenarios.load(scenario_name), stage, given)
    done = conduct(supervisor, stage, scenario, by_locust(supervisor, scenario, lambda count: None), "a test", reports)
    done.folder.publish()
    return Tried(done.judgement, {claim.name for claim in stage.claims})

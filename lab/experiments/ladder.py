"""``lab experiment ladder``: every stage under rush over three replicas, the first two also in one replica;
then the comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from app.locks import stages
from lab.errors import worst
from lab.judge.judgement import Judgement
from lab.paths import new_place
from lab.pipeline import finish, make_run, publish_site
from lab.report.comparison import report_many
from lab.report.run_data import repeat_of, write_rounds
from lab.report.terminal import introduce, summarise, terminal, where_to_look
from lab.scenario import reader as scenarios
from lab.scenario.scenario import override
from lab.servers.supervisor import one_supervisor
from lab.story.verdict import headline


def run_ladder(given: Mapping[str, Any], out: Path | None, rounds: int, command: str) -> int:
    """Run the ladder and its comparison, and return the worst exit status.

    rounds: how often the whole ladder runs. The comparison is of the first round, with the mean of each speed over all.
    """
    console = terminal()
    plan = [(stage, "rush") for stage in stages().values()]
    plan += [(stages()[name], "one_replica") for name in ("none", "local")]
    fitted = [(stage, override(scenarios.load(name), stage, _options_for(name, given))) for stage, name in plan]
    folders, judgements, repeats = [], [], []

    with one_supervisor():
        for number, (stage, scenario) in ((number, one) for number in range(1, rounds + 1) for one in fitted):
            introduce(console, stage, scenario)
            done = make_run(stage, scenario, command, terminal(stderr=True), on_judged=partial(summarise, console))
            where_to_look(console, finish(done, draw=number == 1))
            if done.record.ended.is_interrupt or done.unwritten:
                return done.exit_status
            repeats.append(repeat_of(done.judgement, scenario.replicas, number))
            judgements.append((done.judgement, scenario.replicas))
            folders += [done.folder.path] if number == 1 else []
    into = out or new_place("ladder")
    if rounds > 1:
        write_rounds(repeats, into)
    page, *_ = report_many(folders, into)
    publish_site()
    for line in _summary(judgements[: len(folders)]):
        console.print(line, soft_wrap=True)
    where_to_look(console, page)
    return worst(judgement.exit_status for judgement, _ in judgements)


def _summary(judgements: Sequence[tuple[Judgement, int]]) -> Iterator[str]:
    """Yield the ladder in short, a line for each run."""
    yield f"{'stage':<18}{'replicas':>8}{'acknowledged':>14}{'counter':>9}{'lost':>7}{'kept/s':>10}  verdict"
    for one, replicas in judgements:
        counter = "?" if one.final is None else str(one.final)
        figures = f"{replicas:>8}{one.acknowledged:>14}{counter:>9}{one.lost:>7}{one.kept_per_s:>10.0f}"
        yield f"{one.stage:<18}{figures}  {headline(one)}"


def _options_for(scenario: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for a scenario: the scenario with one replica keeps its one replica."""
    return {name: value for name, value in given.items() if not (scenario == "one_replica" and name == "replicas")}

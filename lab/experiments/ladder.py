"""``lab ladder``: every stage under rush over three replicas, the first two also in one replica; then the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.locks import stages
from lab.errors import ExitStatus, worst
from lab.paths import REPORTS
from lab.pipeline import conduct_with_progress, finish, publish_site
from lab.report.pages import report_many
from lab.report.terminal import introduce, summarise, terminal, where_to_look
from lab.scenario import scenario as scenarios
from lab.scenario.overrides import override
from lab.servers.supervised import supervised


def run_ladder(given: Mapping[str, Any], out: Path | None, command: str) -> int:
    """``lab ladder``: every stage over three replicas, the first two in one as well; then the comparison."""
    console = terminal()
    plan = [(stage, "rush") for stage in stages().values()]
    plan += [(stages()[name], "one_replica") for name in ("none", "local")]
    fitted = [(stage, override(scenarios.load(name), stage, _for(name, given))) for stage, name in plan]
    folders, statuses = [], []
    for stage, scenario in fitted:
        introduce(console, stage, scenario)
        with supervised() as supervisor:
            done = conduct_with_progress(supervisor, stage, scenario, command, terminal(stderr=True))
        summarise(console, done.judgement, done.findings)
        where_to_look(console, finish(done))
        if done.record.ended == "interrupted":
            return ExitStatus.INTERRUPTED
        folders.append(done.folder.path)
        statuses.append(done.judgement.exit_status)
    into = out or REPORTS / f"ladder-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    for path in report_many(folders, into):
        console.print(str(path), style="dim", soft_wrap=True)
    publish_site()
    console.print((into / "table.md").read_text(encoding="utf-8"), soft_wrap=True)
    return worst(statuses)


def _for(scenario: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """One replica is one replica, whatever the others get."""
    return {name: value for name, value in given.items() if not (scenario == "one_replica" and name == "replicas")}

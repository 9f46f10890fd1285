"""Run, judge, draw, publish: the one place where the steps of a run meet."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from app.lock import Stage
from lab.containers.backend import cluster, engine
from lab.containers.workers import load_workers
from lab.evidence.run_folder import RunFolder, RunRecord, save
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge
from lab.load.locust import Load
from lab.paths import REPORTS
from lab.report import site
from lab.report.pages import keep, report_run
from lab.report.terminal import progress
from lab.run.runner import Drive, run
from lab.scenario.scenario import Scenario
from lab.servers.cluster import Cluster
from lab.servers.supervisor import Supervisor


@dataclasses.dataclass(frozen=True)
class Conducted:
    """A run that was made and judged. The findings are kept for drawing."""

    folder: RunFolder
    record: RunRecord
    judgement: Judgement
    findings: Findings


def by_locust(supervisor: Supervisor, scenario: Scenario, on_progress: Callable[[int], None]) -> Drive:
    """Return the usual drive: Locust without its page, in a process of its own."""

    def drive(system: Cluster, folder: Path, well: Callable[[], bool]) -> None:
        load = Load(supervisor, scenario, system.address, folder, len(system.workers))
        try:
            with load_workers(system.workers, scenario, system.address, folder):
                load.wait(on_progress, well)
        finally:
            load.stop()

    return drive


def conduct(
    supervisor: Supervisor,
    stage: Stage,
    scenario: Scenario,
    drive: Drive,
    command: str,
    reports: Path = REPORTS,
    on_up: Callable[[Cluster], None] = lambda system: None,
) -> Conducted:
    """Make one run and judge it. Its folder is not yet published. Raises as ``lab.run.runner.run`` does."""
    folder, record = run(supervisor, stage, scenario, drive, command, cluster(), engine(), reports, on_up)
    judgement, findings = judge(folder.path)
    save(folder.path / "verdict.json", judgement)
    return Conducted(folder, record, judgement, findings)


def conduct_with_progress(supervisor: Supervisor, stage: Stage, scenario: Scenario, command: str, console: Console) -> Conducted:
    """Make and judge one run by Locust, with a progress bar on the console. Raises as ``conduct`` does."""
    with progress(scenario, console) as on_progress:
        return conduct(supervisor, stage, scenario, by_locust(supervisor, scenario, on_progress), command)


def finish(done: Conducted, draw: bool = True) -> Path:
    """Draw a run, or only keep what pictures are made from; publish its folder, and write the site. Return what to look at.

    The folder is published even when drawing fails or is interrupted: the evidence and the verdict are complete before.
    """
    try:
        if draw:
            report_run(done.folder.path, (done.judgement, done.findings))
        else:
            keep(done.folder.path, done.judgement, done.findings)
    finally:
        done.folder.publish()
        publish_site(done.folder.path.parents[1])
    return done.folder.path / ("report.html" if draw else "verdict.json")


def publish_site(reports: Path = REPORTS) -> None:
    """Write the site of runs again. An error is only reported: the run itself is published already."""
    try:
        site.write(reports)
    except OSError as error:
        sys.stderr.write(f"the site of runs could not be written: {error}\n")

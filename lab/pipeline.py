"""Run, judge, draw and publish: join the steps of a run, on this machine and in containers."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from app import stores
from app.lock import Stage
from lab.containers.engine import as_many_as_are_up, cluster, engine, load_workers
from lab.errors import ExitStatus, in_short, of_the_place
from lab.evidence.run_folder import RunFolder, kept_on_failure, save
from lab.evidence.run_record import RunRecord
from lab.interrupts import signals_held
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge
from lab.load.locust import LOCUST, Load, environment
from lab.paths import REPORTS
from lab.report.terminal import progress
from lab.run.runner import ClusterFactory, Drive, run
from lab.scenario import reader as scenarios
from lab.scenario.scenario import Scenario, override
from lab.scenario.stages import find_stage
from lab.servers.cluster import Cluster
from lab.servers.supervisor import Supervisor, supervised


@dataclasses.dataclass
class Conducted:
    """A run that was made and judged. The findings are kept for drawing."""

    folder: RunFolder
    record: RunRecord
    judgement: Judgement
    findings: Findings
    # why a file of the run could not be written; empty if all were
    unwritten: str = ""

    @property
    def exit_status(self) -> int:
        """Return the exit status of a command with this one run."""
        if self.record.ended.is_interrupt:
            return ExitStatus.INTERRUPTED
        return ExitStatus.CANNOT_WRITE if self.unwritten else self.judgement.exit_status


def by_locust(supervisor: Supervisor, scenario: Scenario, on_progress: Callable[[int], None]) -> Drive:
    """Return the usual drive: Locust without its page, in a process of its own."""
    supervisor.prepare(LOCUST, environment())  # imported while the servers start

    def drive(system: Cluster, folder: Path, is_well: Callable[[], bool]) -> None:
        load = Load(supervisor, scenario, system.address, folder, len(system.workers))
        importlib.import_module("lab.report.run_page")  # while the load runs: so nothing waits for this import later
        try:
            with load_workers(system, folder):
                load.wait(on_progress, is_well)
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
    bring_up: ClusterFactory | None = None,
    drive_injects: bool = False,
) -> Conducted:
    """Make one run and judge it. The folder is published here only if an interrupt came while the run was judged.

    Raises as ``lab.run.runner.run`` does.

    bring_up: starts servers on this machine; without it, the engine in use starts them.
    """
    servers = (bring_up, "local") if bring_up else (cluster(), engine())
    with signals_held() as signals:  # an interrupt must leave no run without its verdict and its name
        folder, record = run(signals, supervisor, stage, scenario, drive, command, *servers, reports, drive_injects)
        with kept_on_failure(folder):
            judgement, findings = judge(folder.path)
        done = Conducted(folder, record, judgement, findings, findings.losses_unwritten or record.unwritten)
        try:
            save(folder.path / "verdict.json", judgement)
        except OSError as error:
            done.unwritten = done.unwritten or in_short(error)
        try:
            signals.release()
        except KeyboardInterrupt:
            folder.publish()
            raise
    return done


def fitted(scenario: str, stage: str, given: Mapping[str, Any]) -> tuple[Stage, Scenario]:
    """Return a stage, and a scenario with these options, adapted to the stage. Raises BadInput, ModuleNotFoundError."""
    lock_stage = find_stage(stage)
    if lock_stage.store:
        stores.store(lock_stage.store)  # if its client is not installed, no run begins
    return lock_stage, override(scenarios.load(scenario), lock_stage, as_many_as_are_up(given))


def make_run(
    stage: Stage,
    scenario: Scenario,
    command: str,
    console: Console | None = None,
    reports: Path = REPORTS,
    on_judged: Callable[[Judgement, Findings], None] = lambda judgement, findings: None,
) -> Conducted:
    """Make and judge one run by Locust, with a progress bar on the console if one is given. Raises as ``conduct`` does.

    on_judged: is called when the verdict is known. After an interrupt behind the verdict, the run is published.
    """
    done = None
    try:
        with supervised() as supervisor:
            with progress(scenario, console) if console else nullcontext(lambda done: None) as on_progress:
                done = conduct(supervisor, stage, scenario, by_locust(supervisor, scenario, on_progress), command, reports)
            on_judged(done.judgement, done.findings)
    except KeyboardInterrupt:
        if done:
            done.folder.publish()
        raise
    return done


def finish(done: Conducted, draw: bool = True, is_listed: bool = True) -> Path:
    """Draw a run, publish its folder, and write the site. Return the path that the user should open.

    is_listed: False if the site is written later, after many runs.

    The folder is published even if drawing fails or is interrupted: the evidence and the verdict are complete before.
    A run with unwritten evidence is not drawn. A disk that is full now is only reported.
    """
    from lab.report import run_page

    try:
        if draw and not done.unwritten:
            run_page.report_run(done.folder.path, (done.judgement, done.findings))
    except OSError as error:
        if not of_the_place(error):
            raise
        done.unwritten = in_short(error)
    finally:
        done.folder.publish()
        if is_listed:
            publish_site(done.folder.path.parents[1])
        if done.unwritten:
            sys.stderr.write(f"error: a part of the run could not be written: {done.unwritten}\n")
    pages = [path for name in ("report*.html", "verdict.json") for path in done.folder.path.glob(name)]
    return done.folder.path if done.unwritten or not pages else pages[0 if draw else -1]


def publish_site(reports: Path = REPORTS) -> None:
    """Write the site of runs again. An error is only reported: the run itself is published already."""
    from lab.report import site  # imported here, so that a run begins sooner

    try:
        site.write(reports)
    except OSError as error:
        sys.stderr.write(f"the site of runs could not be written: {error}\n")

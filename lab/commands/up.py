"""``lab up``: the servers of one or several stages at a printed address, until Ctrl-C."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app import locks
from lab.errors import BadInput, ExitStatus, NotReady
from lab.evidence.run_folder import RunFolder, kept_on_failure
from lab.paths import COMMAND, LOCUSTFILE, shown
from lab.scenario import reader as scenarios
from lab.scenario.scenario import override
from lab.scenario.stages import find_stage
from lab.servers.cluster import Cluster, cluster
from lab.servers.process import ends_of_logs
from lab.servers.server import LOOPBACK
from lab.servers.supervisor import SupervisorGone, supervised
from lab.text import counted
from lab.ui.addresses import listening


def keep_up(stage_names: str, scenario_name: str, port: int, given: Mapping[str, Any]) -> int:
    """Keep servers up at a printed address until an interrupt. Return the exit status.

    port: of nginx; 0: any free one. Raises BadInput, MissingProgram, and NotReady when a server does not start or stay up.
    """
    found = [find_stage(name.strip()) for name in stage_names.split(",") if name.strip()]
    if not found:
        raise BadInput(f"no stage was named; the stages: {', '.join(locks.names())}")
    if len({stage.name for stage in found}) < len(found):
        raise BadInput(f"--stage names a stage more than once: {', '.join(stage.name for stage in found)}")
    first = next((stage for stage in found if stage.store), found[0])
    # without faults: a run injects them, and notes what they did
    scenario = dataclasses.replace(override(scenarios.load(scenario_name), first, given), faults=())
    if port:
        listening(LOOPBACK, port, "--port").close()
    folder = RunFolder.create("up", first.name)
    try:
        with (
            kept_on_failure(folder),
            supervised() as supervisor,
            cluster(supervisor, first, scenario, folder.name, folder.path, also=found, port=port) as system,
        ):
            _announce(system, [stage.name for stage in found])
            while not (dead := system.dead()):
                threading.Event().wait(0.2)
            raise NotReady(f"a server ended: {ends_of_logs(dead, folder.path / 'logs')}")
    except KeyboardInterrupt as interrupt:
        folder.discard()
        if isinstance(interrupt, SupervisorGone):
            raise
        sys.stderr.write("\nstopped; nothing is left running\n")
    return ExitStatus.GOOD


def _announce(system: Cluster, names: list[str]) -> None:
    address = f"http://{system.address}"
    increment, several = f"{address}/increment", ""
    if len(names) > 1:
        increment, several = f"'{increment}?stage={names[-1]}'", f"   (stages: {', '.join(names)})"
    lines = [
        f"{address}  serves {names[0]} over {counted(len(system.replicas), 'replica')} until Ctrl-C",
        f"  curl -X POST {increment}{several}",
        f"  curl {address}/value",
        f"  {Path(COMMAND).with_name('locust')} -f {shown(LOCUSTFILE)} --web-host 127.0.0.1 --host {address}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()

"""``lab up``: the servers of a stage at a printed address, until Ctrl-C."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.errors import ExitStatus, NotReady
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


def keep_up(stage_name: str, scenario_name: str, port: int, given: Mapping[str, Any]) -> int:
    """Keep servers up at a printed address until an interrupt. Return the exit status.

    port: of nginx; 0: any free one. Raises BadInput, MissingProgram, and NotReady when a server does not start or stay up.
    """
    stage = find_stage(stage_name)
    # without faults: only a run injects faults and records them
    scenario = dataclasses.replace(override(scenarios.load(scenario_name), stage, given), faults=())
    if port:
        listening(LOOPBACK, port, "--port").close()
    folder = RunFolder.create("up", stage.name)
    try:
        with (
            kept_on_failure(folder),
            supervised() as supervisor,
            cluster(supervisor, stage, scenario, folder.name, folder.path, port=port) as system,
        ):
            _announce(system)
            while not (dead := system.dead()):
                threading.Event().wait(0.2)
            raise NotReady(f"a server ended: {ends_of_logs(dead, folder.path / 'logs')}")
    except KeyboardInterrupt as interrupt:
        folder.discard()
        if isinstance(interrupt, SupervisorGone):
            raise
        sys.stderr.write("\nstopped; nothing is left running\n")
    return ExitStatus.GOOD


def _announce(system: Cluster) -> None:
    address = f"http://{system.address}"
    lines = [
        f"{address}  serves {system.stage.name} over {counted(len(system.replicas), 'replica')} until Ctrl-C",
        f"  curl -X POST {address}/increment",
        f"  curl {address}/value",
        f"  {Path(COMMAND).with_name('locust')} -f {shown(LOCUSTFILE)} --web-host 127.0.0.1 --host {address}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()

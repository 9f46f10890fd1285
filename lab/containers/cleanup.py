"""Remove a project of containers after the end of its lab, for any reason: ``python -m lab.containers.cleanup PROJECT FOLDER``.

The process has a session of its own, so neither Ctrl-C nor a kill of the lab's process group reaches it. It reads from a pipe
that closes when the lab ends. Containers are children of the Docker engine, so ``lab/servers/supervisor.py`` cannot end them.
If the lab waited for compose, compose may still be starting containers: the process checks again until none is left.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

from lab.containers.compose import Compose, EngineFailed, docker
from lab.errors import ExitStatus
from lab.interrupts import ignore_signals

QUIET_FOR_S = 3.0
LONGEST_S = 120.0
KEPT = "the engine keeps the network {0}, although no container of the lab uses it; remove it later: docker network rm {0}\n"


def take_down(compose: Compose, late: bool) -> list[str]:
    """Remove the containers. Returns and raises as ``Compose.down``.

    late: the lab has ended without waiting, and its compose may still be starting containers.
    """
    until = time.monotonic() + LONGEST_S
    kept = compose.down()
    while late and time.monotonic() < until:
        time.sleep(QUIET_FOR_S)
        if not docker("ps", "--all", "--quiet", "--filter", f"label=com.docker.compose.project={compose.project}").strip():
            break
        kept = compose.down()
    return kept


def main(project: str, folder: Path) -> int:
    """Wait until the lab reports its end, or has ended without a report; then remove its containers."""
    ignore_signals()
    finished = sys.stdin.read()
    try:
        for network in take_down(Compose(project, os.environ), late=not finished):
            sys.stderr.write(KEPT.format(network))
    except (EngineFailed, OSError) as error:
        sys.stderr.write(str(error))
        return ExitStatus.CANNOT_RUN
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ExitStatus.GOOD


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

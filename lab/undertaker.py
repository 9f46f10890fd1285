"""Who takes a project of containers down, however the lab that brought it up went: ``python -m lab.undertaker PROJECT FOLDER``.

It runs in a session of its own, so that neither Ctrl-C nor a kill of the lab's process group reaches it, and reads from a pipe
that ends when the lab does. Containers are the engine's children and nobody else's, so ``lab/keeper.py`` cannot end them.
A compose that the lab had been waiting for may still be starting some: it looks again until none is left.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lab.containers import Compose, EngineFailed, docker

QUIET_FOR_S = 3.0
LONGEST_S = 120.0


def bury(compose: Compose, late: bool) -> None:
    """Take it down. late: nobody waits for that, and somebody may still be bringing it up. Raises EngineFailed."""
    until = time.monotonic() + LONGEST_S
    compose.do("down", "--volumes", "--remove-orphans", "--timeout", "1", quietly=True)
    while late and time.monotonic() < until and _appears(compose.project, docker):
        compose.do("down", "--volumes", "--remove-orphans", "--timeout", "1", quietly=True)


def _appears(project: str, ask: Callable[..., str]) -> bool:
    """Whether a container of the project comes up before it has been quiet for long enough."""
    until = time.monotonic() + QUIET_FOR_S
    while time.monotonic() < until:
        if ask("ps", "--all", "--quiet", "--filter", f"label=com.docker.compose.project={project}").strip():
            return True
        time.sleep(0.2)
    return False


def main(project: str, folder: Path) -> int:
    """Wait for the end of the lab: it says so, or is gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    said = sys.stdin.read()
    try:
        bury(Compose(project, os.environ), late=not said)
    except EngineFailed as error:
        sys.stderr.write(str(error))
        return error.exit_status
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

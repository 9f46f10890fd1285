"""The environments of the libraries whose locks are tested: each has its own packages, in the versions of its lock file.

``make libraries`` makes them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from app.lock import NotInstalled

LIBRARIES = Path(__file__).parents[2] / "libraries"
MADE = LIBRARIES / ".environments"


def enter(name: str) -> None:
    """Let this process import the packages of an environment; where the lab has a package too, the lab's is taken.

    Raises NotInstalled.
    """
    if not (MADE / name).is_dir():
        raise NotInstalled(f"{name} is not installed. Run: make libraries")
    for packages in (MADE / name).glob("lib/python3*/site-packages"):
        if str(packages) not in sys.path:
            sys.path.append(str(packages))

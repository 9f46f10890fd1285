"""``lab explore --certificate``: what holds, as a file that a sceptic can check without the lab."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from lab.errors import ExitStatus
from lab.explore import certificate
from lab.explore.certified import NoCertificate
from lab.explore.decision import Decision
from lab.explore.store.real_redis import RealRedis


def certify(decision: Decision, real: RealRedis, path: Path, console: Console) -> ExitStatus:
    """Write the certificate of a decision, and say what is in it. Return 3, and write nothing, where there can be none."""
    console.print()
    try:
        console.print(*certificate.write(decision, real, path), sep="\n", highlight=False, soft_wrap=True)
    except NoCertificate as why:
        console.print(f"No certificate is written: {why}.", style="yellow", highlight=False, soft_wrap=True)
        return ExitStatus.NOTHING_SHOWN
    return ExitStatus.GOOD

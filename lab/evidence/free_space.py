"""How much room the disk of the run folders has: a run ends early while the rest still suffices to keep it."""

from __future__ import annotations

import os
from pathlib import Path

RESERVE = 4 << 20  # bytes: enough for run.json, verdict.json and the losses of a partial run


def shortage(folder: Path) -> str:
    """Return why the disk of a folder has too little room for evidence; empty if it has enough."""
    disk = os.statvfs(folder)
    free = (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize
    if free >= RESERVE or not disk.f_blocks:  # some file systems do not report their size
        return ""
    return f"the disk is nearly full: {free / 2**20:.1f} MiB are free, and the lab keeps {RESERVE >> 20} MiB for the end of a run"

"""Make the runs that the chapters show again: each by ``lab run`` in its own process, as a reader would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lab.docgen.figures import Illustration, illustrations, keep
from lab.errors import BadInput, choose_from
from lab.judge.judgement import Judgement
from lab.paths import HOME, REPORTS

SLOWEST_S = 180


def rerun(names: Sequence[str], tell: Callable[[str], None]) -> None:
    """Run what the named pictures show (``all`` for every picture) and keep the facts.

    Raises BadInput for an unknown name, or for a run with another verdict than the picture must show; the facts that were
    kept before then stay.
    """
    shelf = illustrations()
    for name in names:
        choose_from("picture", name, ["all", *shelf])
    for one in shelf.values():
        if "all" in names or one.name in names:
            tell(f"{one.name}: {' '.join(one.command)}")
            keep(one, _run(one))


def _run(one: Illustration) -> Path:
    command = [sys.executable, "-m", "lab.cli", *one.command[1:], "--json"]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, timeout=SLOWEST_S, check=False)
    if not done.stdout.startswith("{"):
        raise BadInput(f"{' '.join(one.command)} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return HOME / REPORTS / "runs" / Judgement.decode(done.stdout).run

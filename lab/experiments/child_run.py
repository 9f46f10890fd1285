"""One ``lab run --json`` in a process of its own, as a user would start it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from lab.judge.judgement import Judgement

SLOWEST_S = 180


class NoVerdict(Exception):  # noqa: N818 - states what happened
    """The run ended without a verdict; the message quotes its errors."""


def child_run(words: Sequence[str], cwd: Path | None = None) -> Judgement:
    """Make a run with these arguments of ``lab run``, and return its verdict.

    cwd: the folder that holds ``reports``; the current one by default. Raises NoVerdict.
    """
    command = [sys.executable, "-m", "lab.cli", "run", *words, "--json"]
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=SLOWEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise NoVerdict(f"lab run {' '.join(words)} was ended after {SLOWEST_S} s: it was not over by then") from None
    if not done.stdout.startswith("{"):
        raise NoVerdict(f"lab run {' '.join(words)} ended with status {done.returncode}: {done.stderr.strip()[-500:]}")
    return msgspec.json.decode(done.stdout, type=Judgement)

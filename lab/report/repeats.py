"""The rounds of a ladder that ran several times: ``repeats.json``, with a line for each run.

Each round runs all stages before the next round begins. So a change of the machine's speed meets all stages alike, and runs
of the same round can be compared as pairs. The comparison itself is of the first round.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from lab.evidence.run_folder import replace
from lab.judge.judgement import Judgement
from lab.story.verdict import headline

REPEATS = "repeats.json"


class Repeat(msgspec.Struct, kw_only=True):
    """What charts need of one run of a round."""

    # the number of its round, from 1
    round: int
    # the name of the run
    run: str
    stage: str
    replicas: int
    verdict: str
    # acknowledged requests, and those of them that are in the counter
    acknowledged: int
    kept: int
    duration_s: float
    # 99 of 100 grants waited at most so long; 0 where no request was granted a lock
    wait_p99_ms: float
    # commands that the lock's store carried out, per increment
    commands: float

    @property
    def acknowledged_per_s(self) -> float:
        return self.acknowledged / self.duration_s if self.duration_s else 0.0

    @property
    def kept_per_s(self) -> float:
        return self.kept / self.duration_s if self.duration_s else 0.0


def of(judgement: Judgement, replicas: int, number: int = 1) -> Repeat:
    """Return what charts need of a run, which is of this round."""
    return Repeat(
        round=number,
        run=judgement.run,
        stage=judgement.stage,
        replicas=replicas,
        verdict=headline(judgement),
        acknowledged=judgement.acknowledged,
        kept=judgement.kept,
        duration_s=judgement.duration_s,
        wait_p99_ms=judgement.wait_ms.get("p99", 0.0),
        commands=judgement.commands_per_increment,
    )


def write(repeats: Sequence[Repeat], folder: Path) -> Path:
    """Write ``repeats.json``, a line for each run. Return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = b",\n ".join(map(msgspec.json.encode, repeats))
    replace(folder / REPEATS, b"[\n " + lines + b"\n]\n")
    return folder / REPEATS


def read(folder: Path) -> list[Repeat]:
    """Return the runs of all rounds; none where the ladder ran once."""
    path = folder / REPEATS
    return msgspec.json.decode(path.read_bytes(), type=list[Repeat]) if path.exists() else []


def speed_ratios(runs: Sequence[Repeat], base: Sequence[Repeat]) -> list[float]:
    """Return the increments kept a second, as ratios to those of the base: round by round where both ran in the same rounds."""
    others = {one.round: one for one in base}
    pairs = [(one, others.get(one.round, base[0])) for one in runs]
    return [one.kept_per_s / other.kept_per_s if other.kept_per_s else 0.0 for one, other in pairs]

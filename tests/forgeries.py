"""Make a sound run, a broken run, and changes of their folders."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.evidence.run_folder import save
from lab.evidence.run_record import inventory
from lab.judge.verdict import judge
from tests.builders import Made, record_of

REPLICAS = ("replica-1", "replica-2", "replica-3")
REQUESTS = 12
CLAIMS = ["exclusive", "counts_once", "releases_only_its_own", "releases_atomically"]
Lines = list[dict[str, Any]]
Change = Callable[[Path], None]


def recorded(folder: Path, lossy: bool, keeps_inventory: bool = False) -> Path:
    """Record a run of twelve requests under a lock. lossy: r7 gets the lock while r6 is inside, and both write the same value."""
    made, value = Made(folder), 0
    keys: list[tuple[int, str]] = []
    for number in range(REQUESTS):
        at_ms = 100 + 10 * number
        spoils = lossy and number == 7
        reads = value - 1 if spoils else value
        times = (at_ms - 9, at_ms - 9, at_ms + 2, at_ms + 3) if spoils else (at_ms, at_ms + 1, at_ms + 2, at_ms + 3)
        keys += [(times[0], "set"), (times[3] + 1, "del")]
        made.increment(f"r{number}", reads, value, at=times, replica=REPLICAS[number % 3], answered=reads + 1)
        value = reads + 1
    for at_ms, event in sorted(keys):
        made.key_event(event, at_ms)
    rush = {"requests": REQUESTS, "ttl_ms": 1000}
    about = {"took_part": list(REPLICAS), "files": inventory(folder) if keeps_inventory else {}}
    save(folder / "run.json", record_of(rush, {"claims": CLAIMS}, final=value, **about))
    judgement, _ = judge(folder)
    save(folder / "verdict.json", judgement)
    return folder


def edit(name: str, change: Callable[[Lines], Lines]) -> Change:
    """Return a change of a file that has one record a line."""

    def apply(folder: Path) -> None:
        path = folder / name
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("".join(json.dumps(line) + "\n" for line in change(lines)), encoding="utf-8")

    return apply


def of_the_run(**changes: Any) -> Change:
    """Return a change of run.json."""

    def apply(folder: Path) -> None:
        run = json.loads((folder / "run.json").read_text())
        for name, value in changes.items():
            table, _, key = name.rpartition("__")
            (run[table] if table else run)[key] = value
        (folder / "run.json").write_text(json.dumps(run))

    return apply

"""A sound run, a broken run, and whatever a stranger may do to their folders."""

import json
import shutil
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
    """Record a run of twelve requests under a lock. lossy: r7 comes in while r6 is inside, and both write the same value."""
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
    """Return a change of a file that has a record a line."""

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


REQUESTS_FILE = "requests.jsonl"
FIRST, SECOND, NINTH = (f"journal/replica-{number}.jsonl" for number in (1, 2, 9))


def whole(name: str, change: Callable[[bytes], bytes]) -> Change:
    """Return a change of all bytes of a file."""
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes())) and None


def in_place(name: str, make: Callable[[Path], Any]) -> Change:
    """Return a change: something else is in the place of a file."""

    def apply(folder: Path) -> None:
        path = folder / name
        path.unlink(missing_ok=True)
        make(path)

    return apply


def of_the_verdict(**changes: Any) -> Change:
    """Return a change of verdict.json."""

    def apply(folder: Path) -> None:
        kept = json.loads((folder / "verdict.json").read_text())
        (folder / "verdict.json").write_text(json.dumps(kept | changes))

    return apply


def both(*changes: Change) -> Change:
    """Return several changes as one."""

    def apply(folder: Path) -> None:
        for change in changes:
            change(folder)

    return apply


def without_files(folder: Path) -> None:
    """Remove the inventory."""
    run = json.loads((folder / "run.json").read_text())
    del run["files"]
    (folder / "run.json").write_text(json.dumps(run))


ACQUITTED = of_the_verdict(verdict="KEPT", why="the danger was real, and the promise held", lost=0, violations=[])
FORGERIES: dict[str, Change] = {
    # evidence
    "lines dropped": edit(FIRST, lambda lines: lines[:4] + lines[8:]),
    "journal cut in a line": whole(FIRST, lambda text: text[: len(text) // 2]),
    "answer changed": edit(REQUESTS_FILE, lambda lines: [lines[0] | {"value": 9}, *lines[1:]]),
    "journals swapped": lambda folder: (
        [
            (folder / name).write_bytes(text)
            for name, text in zip((FIRST, SECOND), ((folder / SECOND).read_bytes(), (folder / FIRST).read_bytes()), strict=True)
        ]
        and None
    ),
    "zero bytes": whole(FIRST, lambda text: bytes(len(text))),
    "huge number in a journal": edit(FIRST, lambda lines: [lines[0] | {"got_ns": 10**30}, *lines[1:]]),
    "byte 0xff in a text": whole(FIRST, lambda text: text.replace(b'"r0"', b'"r\xff"')),
    "endless line": whole(FIRST, lambda text: text + b"x" * (5 << 20)),
    "journal missing": in_place(FIRST, lambda path: None),
    "all journals missing": lambda folder: shutil.rmtree(folder / "journal"),
    "journal added": lambda folder: shutil.copy(folder / FIRST, folder / NINTH) and None,
    "faults added": lambda folder: (folder / "faults.jsonl").write_text("{}\n") and None,
    "journal is a folder": in_place(FIRST, Path.mkdir),
    # run.json
    "run.json with 0xff": whole("run.json", lambda text: text.replace(b"exclusive", b"exclusiv\xff")),
    "run.json is a folder": in_place("run.json", Path.mkdir),
    "run.json cut": whole("run.json", lambda text: text[:100]),
    "run.json names another place": of_the_run(run="../../../escaped"),
    "huge final": of_the_run(final=10**30),
    "final": of_the_run(final=REQUESTS - 2),
    "lease of the scenario": of_the_run(scenario__lease_ms=1),
    "lease and verdict": both(of_the_run(scenario__lease_ms=1), ACQUITTED),
    "claims shortened": of_the_run(stage__claims=["fair"]),
    "no number as the stock": of_the_run(scenario__stock="x"),
    "inventory removed": without_files,
    "inventory of another place": of_the_run(files={"../../secret": {"lines": 1, "sha256": "0", "size": 1}}),
    # verdict.json
    "verdict.json missing": in_place("verdict.json", lambda path: None),
    "verdict.json missing, and lease": both(in_place("verdict.json", lambda path: None), of_the_run(scenario__lease_ms=1)),
    "verdict.json of an old schema": of_the_verdict(schema=1),
    "verdict.json of another verdict": of_the_verdict(verdict="UNSEEN", lost=7),
    "verdict.json without a seal": of_the_verdict(seal=None),
    "verdict.json with another hash": of_the_verdict(seal={"run_sha256": "0", "figures": {}}),
    "verdict.json with 0xff": whole("verdict.json", lambda text: text.replace(b"exclusive", b"exclusiv\xff")),
    "verdict.json is a folder": in_place("verdict.json", Path.mkdir),
}

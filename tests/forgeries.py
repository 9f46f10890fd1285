"""A sound run, a broken run, and whatever a stranger may do to their folders."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.evidence.inventory import inventory
from lab.evidence.run_folder import save
from lab.judge.verdict import judge
from tests.builders import MS, Made, record_of

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


REQUESTS_FILE, KEYS = "requests.jsonl", "server.jsonl"
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


def shifted(lines: Lines) -> Lines:
    """Return lines whose stamps are 5 s later."""
    return [{name: one + 5000 * MS if name.endswith("_ns") and one else one for name, one in line.items()} for line in lines]


def without_files(folder: Path) -> None:
    """Remove the inventory."""
    run = json.loads((folder / "run.json").read_text())
    del run["files"]
    (folder / "run.json").write_text(json.dumps(run))


ACQUITTED = of_the_verdict(verdict="KEPT", why="the danger was real, and the promise held", lost=0, violations=[])
FORGERIES: dict[str, Change] = {
    # evidence
    "lines dropped": edit(FIRST, lambda lines: lines[:4] + lines[8:]),
    "lines doubled": edit(FIRST, lambda lines: lines[:4] + lines),
    "journal cut in a line": whole(FIRST, lambda text: text[: len(text) // 2]),
    "requests cut in a line": whole(REQUESTS_FILE, lambda text: text[: len(text) // 2]),
    "requests dropped": edit(REQUESTS_FILE, lambda lines: lines[1:]),
    "requests doubled": edit(REQUESTS_FILE, lambda lines: lines + lines),
    "request renamed": edit(REQUESTS_FILE, lambda lines: [lines[0] | {"id": "r77"}, *lines[1:]]),
    "answer changed": edit(REQUESTS_FILE, lambda lines: [lines[0] | {"value": 9}, *lines[1:]]),
    "key events dropped": edit(KEYS, lambda lines: lines[:3]),
    "journals swapped": lambda folder: (
        [
            (folder / name).write_bytes(text)
            for name, text in zip((FIRST, SECOND), ((folder / SECOND).read_bytes(), (folder / FIRST).read_bytes()), strict=True)
        ]
        and None
    ),
    "journal reversed": edit(FIRST, lambda lines: lines[::-1]),
    "journal gzipped": whole(FIRST, gzip.compress),
    "zero bytes": whole(FIRST, lambda text: bytes(len(text))),
    "one zero byte": whole(FIRST, lambda text: text[:50] + b"\0" + text[51:]),
    "unknown event": whole(FIRST, lambda text: text + b'{"what":"stolen","request":"r1"}\n'),
    "huge number in a journal": edit(FIRST, lambda lines: [lines[0] | {"got_ns": 10**30}, *lines[1:]]),
    "byte 0xff in a text": whole(FIRST, lambda text: text.replace(b'"r0"', b'"r\xff"')),
    "byte 0xff in the requests": whole(REQUESTS_FILE, lambda text: text.replace(b'"r0"', b'"r\xff"')),
    "endless line": whole(FIRST, lambda text: text + b"x" * (5 << 20)),
    "stamps moved": edit(FIRST, shifted),
    "stamps moved in two journals": both(edit(FIRST, shifted), edit(SECOND, shifted)),
    "journal empty": whole(FIRST, lambda _: b""),
    "requests empty": whole(REQUESTS_FILE, lambda _: b""),
    "journal missing": in_place(FIRST, lambda path: None),
    "requests missing": in_place(REQUESTS_FILE, lambda path: None),
    "key events missing": in_place(KEYS, lambda path: None),
    "all journals missing": lambda folder: shutil.rmtree(folder / "journal"),
    "journal added": lambda folder: shutil.copy(folder / FIRST, folder / NINTH) and None,
    "empty journal added": lambda folder: (folder / NINTH).touch(),
    "faults added": lambda folder: (folder / "faults.jsonl").write_text("{}\n") and None,
    "journal is a folder": in_place(FIRST, Path.mkdir),
    # run.json
    "run.json is a folder": in_place("run.json", Path.mkdir),
    "run.json cut": whole("run.json", lambda text: text[:100]),
    "run.json names another place": of_the_run(run="../../../escaped"),
    "huge final": of_the_run(final=10**30),
    "final": of_the_run(final=REQUESTS - 2),
    "start": of_the_run(start=1),
    "lease of the stage": of_the_run(stage__ttl_ms=1),
    "lease of the scenario": of_the_run(scenario__lease_ms=1),
    "lease and verdict": both(of_the_run(scenario__lease_ms=1), ACQUITTED),
    "ttl of the scenario": of_the_run(scenario__ttl_ms=1),
    "claims shortened": of_the_run(stage__claims=["fair"]),
    "claims shortened, and verdict": both(of_the_run(stage__claims=[]), ACQUITTED),
    "claims added": of_the_run(stage__claims=["exclusive", "fair", "prompt_handover"]),
    "no store": of_the_run(stage__store=None),
    "other test": of_the_run(scenario__tests="fair"),
    "danger emptied": of_the_run(scenario__danger={}),
    "seed": of_the_run(scenario__seed=99),
    "nested": of_the_run(scenario__nested="same"),
    "clocks": of_the_run(clocks=3),
    "ended": of_the_run(ended="interrupted"),
    "unwritten": of_the_run(unwritten="the disk was full"),
    "replicas": of_the_run(scenario__replicas=2),
    "took_part": of_the_run(took_part=["replica-1"]),
    "faults of the scenario": of_the_run(scenario__faults=[{"kind": "freeze"}]),
    "no number as the stock": of_the_run(scenario__stock="x"),
    "no work": of_the_run(scenario__work_ms={}),
    "commands": of_the_run(commands={"lock": {"set": 10**6}}),
    "inventory removed": without_files,
    "inventory emptied": of_the_run(files={}),
    "inventory of another place": of_the_run(files={"../../secret": {"lines": 1, "sha256": "0", "size": 1}}),
    # verdict.json
    "verdict.json missing": in_place("verdict.json", lambda path: None),
    "verdict.json missing, and lease": both(in_place("verdict.json", lambda path: None), of_the_run(scenario__lease_ms=1)),
    "verdict.json of an old schema": of_the_verdict(schema=1),
    "verdict.json of another verdict": of_the_verdict(verdict="UNSEEN", lost=7),
    "verdict.json with another speed": of_the_verdict(throughput_per_s=1.0),
    "verdict.json without a seal": of_the_verdict(seal=None),
    "verdict.json with another hash": of_the_verdict(seal={"run_sha256": "0", "figures": {}}),
    "verdict.json is a folder": in_place("verdict.json", Path.mkdir),
}

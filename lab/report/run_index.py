"""All runs there are, a row each: what the site needs of them. A run is read once; after that, one small file answers for it.

``site.json`` beside the folder ``runs`` keeps the rows, each with the stamp of the files it was read from. A run that is gone
is in no row, one that was judged or drawn again is read again. The curves of a run are put beside it as ``curves.js``: a page
that is opened from a disk may load a script, and nothing else.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lab.evidence.run_folder import replace
from lab.report.matrix import Cell, in_short
from lab.report.run_data import Result, load
from lab.report.run_labels import labels, parameter

CURVES, FACTS, PAGE, ROWS = "curves.js", "verdict.json", "report.html", "site.json"
SCHEMA = 1


class Row(msgspec.Struct, array_like=True, frozen=True, kw_only=True):
    """A run in a line. began: in UTC. parameters: the values of ``run_labels``, in their order, null where the run has none.
    said: the outcome in short, as a cell of the matrix says it. page, curves: whether it has them.
    """

    run: str
    began: str
    stage: str
    scenario: str
    claim: str
    verdict: str
    said: str
    why: str
    label: str
    acknowledged: int
    final: int | None
    lost: int
    duplicated: int
    failed: int
    unknown: int
    per_s: float
    p50_ms: float
    p99_ms: float
    commands: float
    parameters: list[str | float | None]
    page: bool
    curves: bool


Stamp = tuple[tuple[int, int, int], ...]  # of each file: when it was written, how long it is, which it is


class Known(msgspec.Struct, array_like=True):
    """A row, and the state of the files from which it was read. left_out: why there is no row."""

    stamp: Stamp
    row: Row | None = None
    left_out: str = ""


class Kept(msgspec.Struct, kw_only=True):
    """``site.json``: what is known of each folder, by its name. parameters: the names of the values in each row."""

    schema: int = SCHEMA
    parameters: list[str] = []
    runs: dict[str, Known] = {}


def rows(reports: Path) -> tuple[list[Row], dict[str, str]]:
    """The runs of ``reports/runs``, newest first; and why other folders there are left out. Reads what it does not know yet."""
    before = _kept(reports / ROWS)
    now = Kept(
        parameters=list(labels()),
        runs={folder.name: _known(folder, before.runs.get(folder.name)) for folder in _folders(reports / "runs")},
    )
    if now != before:
        replace(reports / ROWS, msgspec.json.encode(now))
    found = [known.row for _, known in sorted(now.runs.items(), reverse=True) if known.row is not None]
    return found, {name: known.left_out for name, known in sorted(now.runs.items()) if known.left_out}


def _kept(path: Path) -> Kept:
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=Kept)
    except (OSError, msgspec.MsgspecError):  # there is none, or an older lab's: then all is read again
        return Kept()
    return kept if (kept.schema, kept.parameters) == (SCHEMA, list(labels())) else Kept()


def _folders(runs: Path) -> Iterator[Path]:
    """Those that are, or claim to be, runs: what is hidden is still being made, and a link is another's name."""
    if runs.is_dir():
        with os.scandir(runs) as entries:
            yield from (Path(one.path) for one in entries if not one.name.startswith(".") and one.is_dir(follow_symlinks=False))


def _known(folder: Path, before: Known | None) -> Known:
    stamp = _stamp(folder)
    if before is not None and before.stamp == stamp:
        return before
    try:
        result = _read(folder)
        curves = _write_curves(result)
        return Known(_stamp(folder), _row(result, (folder / PAGE).is_file(), curves))
    except Exception as error:  # noqa: BLE001 - whatever a foreign folder holds, it is left out and no more
        return Known(stamp, left_out=" ".join(str(error).split())[:200] or type(error).__name__)


def _stamp(folder: Path) -> Stamp:
    """Nothing is read for it."""
    stamps = []
    for name in (FACTS, PAGE, CURVES):
        try:
            about = os.lstat(folder / name)
        except OSError:
            stamps.append((0, 0, 0))
        else:
            stamps.append((about.st_mtime_ns, about.st_size, about.st_ino))
    return tuple(stamps)


def _read(folder: Path) -> Result:
    for name in ("run.json", FACTS, "series.json"):
        if not stat.S_ISREG(os.lstat(folder / name).st_mode):
            raise ValueError(f"{name} is no file")
    result = load(folder)
    if folder.name != result.judgement.run:
        raise ValueError(f"its verdict is of another run, {result.judgement.run}")
    return result


def _row(result: Result, page: bool, curves: bool) -> Row:
    judgement, record = result.judgement, result.record
    cell = Cell(stage=judgement.stage, scenario=judgement.scenario, claim=judgement.claim, verdict=judgement.verdict)
    cell.lost, cell.duplicated, cell.failed = judgement.lost, judgement.duplicated, judgement.failed
    return Row(
        run=judgement.run,
        began=record.started_utc[:23],
        stage=judgement.stage,
        scenario=judgement.scenario,
        claim=judgement.claim,
        verdict=judgement.verdict,
        said=in_short(cell),
        why=judgement.why,
        label=result.label,
        acknowledged=judgement.acknowledged,
        final=judgement.final,
        lost=judgement.lost,
        duplicated=judgement.duplicated,
        failed=judgement.failed,
        unknown=judgement.unknown,
        per_s=judgement.throughput_per_s,
        p50_ms=judgement.wait_ms["p50"],
        p99_ms=judgement.wait_ms["p99"],
        commands=judgement.commands_per_increment,
        parameters=[_plain(parameter(result, name)) for name in labels()],
        page=page,
        curves=curves,
    )


def _plain(value: object) -> str | float | None:
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _write_curves(result: Result) -> bool:
    """Beside the run, by this lab: what a foreign folder brought under that name is written over. False: it cannot be."""
    curves = result.series
    told = {"run": result.judgement.run, "wait_ms": curves.wait_ms, "wait_share": curves.wait_share, "time_s": curves.time_s}
    told |= {"acknowledged": curves.acknowledged, "unknown": curves.unknown, "value": curves.value}
    told |= {"strikes": curves.faults, "causes": curves.causes}
    try:
        replace(result.folder / CURVES, b"lab.curves(" + msgspec.json.encode(told) + b");\n")
    except OSError:
        return False
    return True

"""Make one row for each run, with the figures that the site needs.

``site.json``, next to the folder ``runs``, caches the rows. A row is read from ``run.json``, ``verdict.json`` and
``series.json``. It is stored with the stamps (time, size, inode) of ``verdict.json``, of its pages and of ``curves.js``.
Judging or drawing a run again changes a stamp, and then the run is read again. The row of a deleted run is removed.
The curves of a run are written into its folder as ``curves.js``: a script, because a page that is opened from a disk
(``file://``) may load a script, but may not fetch a JSON file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lab.evidence.run_folder import replace
from lab.language import Language
from lab.report.html import named
from lab.report.matrix import Cell, in_short
from lab.report.run_data import Result, labels, load, parameter
from lab.story.verdict import headline, why

CURVES, VERDICT, ROWS = "curves.js", "verdict.json", "site.json"
PAGES = {one: named(Path("report.html"), one).name for one in Language}
SCHEMA = 5  # of the rows and of the curves: others are made again


class RowWords(msgspec.Struct, array_like=True, frozen=True):
    """What a line of the site says of a run, in one language."""

    label: str
    # the verdict with what was lost by another cause, as in ``lab/story/verdict.py``
    headline: str
    # the outcome in short, as in a cell of the matrix
    outcome: str
    # the reason of the verdict
    why: str
    # the file of its page in that language, or else in another; empty without a page
    page: str


class Row(msgspec.Struct, array_like=True, frozen=True, kw_only=True):
    """A run in one line of the site."""

    # the name of the run's folder
    run: str
    # when it began, in UTC
    began: str
    stage: str
    scenario: str
    # the claim under test
    claim: str
    verdict: str
    said: dict[Language, RowWords]
    acknowledged: int
    # the counter at the end; None if it could not be read
    final: int | None
    lost: int
    duplicated: int
    failed: int
    unknown: int
    # increments kept a second
    per_s: float
    # half of the grants waited at most so long; None where no request was granted a lock
    p50_ms: float | None
    # 99 of 100 grants waited at most so long; None as above
    p99_ms: float | None
    # commands that the lock's store carried out, per increment
    commands: float
    # the values of ``run_labels.labels``, in that order; None if the run has no such parameter
    parameters: list[str | float | None]
    # whether it has ``curves.js``
    curves: bool


OF_JUDGEMENT = (
    *("run", "stage", "scenario", "claim", "verdict"),
    *("acknowledged", "final", "lost", "duplicated", "failed", "unknown"),
)
FIELDS = (*RowWords.__struct_fields__, *(name for name in Row.__struct_fields__ if name != "said"))  # of a line of the page


def line(row: Row, language: Language) -> list[object]:
    """Return a run as a line of the page in a language: a value for each of FIELDS."""
    return [getattr(row.said[language] if name in RowWords.__struct_fields__ else row, name) for name in FIELDS]


Stamp = tuple[tuple[int, int, int], ...]  # of each file: the time of its last change, its size, its inode


class Known(msgspec.Struct, array_like=True):
    """What the index knows of one folder."""

    # of ``verdict.json``, of the pages and of ``curves.js``, when the row was read
    stamp: Stamp
    # None if the folder could not be read as a run
    row: Row | None = None
    # why there is no row
    left_out: str = ""


class Kept(msgspec.Struct, kw_only=True):
    """The content of ``site.json``."""

    schema: int = SCHEMA
    # the names of the values in ``Row.parameters``
    parameters: list[str] = []
    # by the folder's name
    runs: dict[str, Known] = {}


def rows(reports: Path) -> tuple[list[Row], dict[str, str]]:
    """Return the runs of ``reports/runs``, newest first, and why other folders there are left out. Read only changed runs."""
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
    """Yield the folders that may be runs. Hidden folders, of unfinished and failed runs, are left out, and so are links."""
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
        return Known(_stamp(folder), _row(result, curves))
    except Exception as error:  # noqa: BLE001 - a folder with unknown content is left out, and must not stop the site
        return Known(stamp, left_out=" ".join(str(error).split())[:200] or type(error).__name__)


def _stamp(folder: Path) -> Stamp:
    """Return the stamps of these files, without opening them; zeros for a missing file."""
    stamps = []
    for name in (VERDICT, *PAGES.values(), CURVES):
        try:
            about = os.lstat(folder / name)
        except OSError:
            stamps.append((0, 0, 0))
        else:
            stamps.append((about.st_mtime_ns, about.st_size, about.st_ino))
    return tuple(stamps)


def _read(folder: Path) -> Result:
    for name in ("run.json", VERDICT, "series.json"):
        if not stat.S_ISREG(os.lstat(folder / name).st_mode):
            raise ValueError(f"{name} is not a regular file")
    result = load(folder)
    if folder.name != result.judgement.run:
        raise ValueError(f"verdict.json is of another run, {result.judgement.run}")
    return result


def _row(result: Result, curves: bool) -> Row:
    judgement, record = result.judgement, result.record
    cell = Cell(stage=judgement.stage, scenario=judgement.scenario, claim=judgement.claim, verdict=judgement.verdict)
    cell.lost, cell.duplicated, cell.failed = judgement.lost, judgement.duplicated, judgement.failed
    return Row(
        **{name: getattr(judgement, name) for name in OF_JUDGEMENT},
        began=record.started_utc[:23],
        said={
            one: RowWords(
                result.named(one), headline(judgement, one), in_short(cell, one), why(judgement, one), page_of(result.folder, one)
            )
            for one in Language
        },
        per_s=judgement.kept_per_s,
        p50_ms=judgement.wait_ms["p50"] if result.series.wait_ms else None,
        p99_ms=judgement.wait_ms["p99"] if result.series.wait_ms else None,
        commands=judgement.commands_per_increment,
        parameters=[_plain(parameter(result, name)) for name in labels()],
        curves=curves,
    )


def page_of(folder: Path, language: Language) -> str:
    """Return the name of a run's page: in a language, or else in another; empty without a page."""
    own_first = sorted(Language, key=lambda one: one != language)
    return next((PAGES[one] for one in own_first if (folder / PAGES[one]).is_file()), "")


def _plain(value: object) -> str | float | None:
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _write_curves(result: Result) -> bool:
    """Write ``curves.js`` into the run folder, over any file of that name. Return False if the folder is read-only."""
    content = {"run": result.judgement.run, **msgspec.structs.asdict(result.series)}
    try:
        replace(result.folder / CURVES, b"lab.curves(" + msgspec.json.encode(content) + b");\n")
    except OSError:
        return False
    return True

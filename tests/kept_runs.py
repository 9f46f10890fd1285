"""Read the kept runs of the reference ladder and of the chapters, for tests that need a run and do not make it."""

from pathlib import Path

import msgspec

from lab.evidence.record_lines import files_of, read_lines
from lab.paths import REFERENCE
from lab.report.run_data import KEPT, Result, kept
from lab.story.timeline import Timeline

LADDER, CHAPTERS = REFERENCE / KEPT, REFERENCE / "chapters.jsonl"


def of_ladder(part: str) -> Result:
    """Return the first run of the ladder with this part in its name, such as ``rush-lua-``."""
    return next(one for name, one in kept(LADDER).items() if part in name)


def folders(into: Path, *parts: str, most: int | None = None) -> list[Path]:
    """Write runs of the ladder as folders with their JSON files. Return the folders. parts: parts of names; none for all."""
    lines = {name: record for name, record in read_lines(LADDER).items() if not parts or any(part in name for part in parts)}
    return [_written(into / name, record) for name, record in list(lines.items())[:most]]


def chapter(name: str, into: Path) -> Path:
    """Write the files of a chapter's run into a folder, and return it."""
    return _written(into, read_lines(CHAPTERS)[name])


def timelines() -> dict[str, Timeline]:
    """Return the timelines of the chapters' runs."""
    found = {name: files_of(record)["timeline.json"] for name, record in read_lines(CHAPTERS).items()}
    return {name: msgspec.json.decode(text, type=Timeline) for name, text in found.items()}


def _written(folder: Path, record: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files_of(record).items():
        (folder / name).write_bytes(content)
    return folder

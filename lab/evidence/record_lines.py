"""Keep many small records in one text file: a line for each, sorted by name, so that a diff shows which records changed.

A line is ``{"name": …, "record": …}``. ``reports/reference`` keeps the results that the documents quote in such files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from lab.evidence.run_folder import replace


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    record: msgspec.Raw


LINES = msgspec.json.Decoder(_Line)


def read_lines(path: Path) -> dict[str, bytes]:
    """Return the JSON of each record by its name; nothing if the file does not exist. Raises msgspec.DecodeError."""
    lines = LINES.decode_lines(path.read_bytes()) if path.exists() else []
    return {line.name: bytes(line.record) for line in lines}


def files_of(record: bytes) -> dict[str, bytes]:
    """Return the JSON files of a record that was a folder, by their names."""
    return {name: bytes(content) for name, content in msgspec.json.decode(record, type=dict[str, msgspec.Raw]).items()}


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return JSON files, by their names, as one record. ``files_of`` is the reverse."""
    return msgspec.json.encode({name: msgspec.Raw(content) for name, content in files.items()})


def write_line(path: Path, name: str, record: bytes) -> None:
    """Replace the record of a name in a file, or add it. record: JSON, on one line or several."""
    records = read_lines(path) | {name: record}
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (_Line(name, msgspec.Raw(msgspec.json.format(records[name], indent=-1))) for name in sorted(records))
    replace(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))

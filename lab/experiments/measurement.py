"""The file of a measurement: when and where it was made, and its figures. Every measurement of many runs has one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lab.errors import BadInput
from lab.evidence.run_folder import save as save_record
from lab.run import environment


class Measurement(msgspec.Struct, kw_only=True):
    """What all measurements state of themselves. Each kind adds its figures."""

    schema: int = 1
    # when it was made; where it takes long, when it began
    measured_utc: str
    commit: str
    machine: dict[str, Any]
    versions: dict[str, str]

    @property
    def day(self) -> str:
        """Return the day on which it was made."""
        return self.measured_utc[:10]

    @property
    def cores(self) -> str:
        """Return the machine in words."""
        return f"{self.machine['cores']} cores ({self.machine['processor']})"


Kind = TypeVar("Kind", bound=Measurement)


def made_now(kind: type[Kind], **figures: Any) -> Kind:
    """Return a measurement of this kind, made now by this lab on this machine."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    about: dict[str, Any] = {"commit": environment.commit(), "machine": environment.machine(), "versions": environment.versions()}
    return kind(measured_utc=now, **about, **figures)


def save(found: Measurement, path: Path, table: str = "") -> list[Path]:
    """Write the file, whole or not at all, and its table, if it has one, next to it as Markdown. Return the paths."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_record(path, found)
    if not table:
        return [path]
    path.with_suffix(".md").write_text(table, encoding="utf-8")
    return [path, path.with_suffix(".md")]


def load(path: Path, kind: type[Kind]) -> Kind:
    """Return the measurement in a file. Raises BadInput where there is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{path.parent} holds no {path.name} of this lab: {error}") from None

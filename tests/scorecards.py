"""Results of the scorecard, for tests."""

from pathlib import Path

from lab.evidence.run_folder import as_json
from lab.own_lock.page import TestedLock


def kept(folder: Path, name: str, tested: TestedLock) -> None:
    """Keep the result of a library in a folder."""
    (folder / f"{name}.json").write_text(as_json(tested), encoding="utf-8")

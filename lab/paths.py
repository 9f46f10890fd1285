"""The folders of the project that several parts of the lab read or write."""

from __future__ import annotations

from pathlib import Path

HOME = Path(__file__).parents[1]  # the project's own folder
DOCS = HOME / "docs"
EXPECTED = DOCS / "expected.toml"  # the verdict that was written down for each cell of the matrix
LOCUSTFILES = HOME / "locustfiles"
REFERENCE = HOME / "reports" / "reference"  # the runs, matrix and benchmarks that the documents quote
SCENARIOS = HOME / "scenarios"

REPORTS = Path("reports")  # where a command writes its runs: below the folder that it is called in


def shown(path: Path) -> Path:
    """Return a path as messages print it: from the current folder if it is below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path

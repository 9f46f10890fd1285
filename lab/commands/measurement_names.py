"""What ``lab bench`` and ``lab sweep`` measure, a line each, for --help: to import the measurements themselves would be slow."""

from __future__ import annotations

from pathlib import Path

EXPERIMENTS = Path(__file__).parents[1] / "experiments"


def lines_of(shelf: str) -> str:
    """Return the help text of a shelf, a line for each file. A backspace at its beginning lets click keep the lines."""
    files = sorted((EXPERIMENTS / shelf).glob("[!_]*.py"))
    return "\n".join(("\b", f"{shelf.capitalize()}:", *(f"  {path.stem:<10}{_first_line(path)}" for path in files)))


def _first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].strip('".')

"""The sweeps, a line each, for --help. The titles are read and not imported: to import the sweeps would be slow."""

from __future__ import annotations

import ast
from pathlib import Path

SHELF = Path(__file__).parents[1] / "experiments" / "sweeps"


def sweeps() -> str:
    """Return the help text; click keeps the lines of a paragraph that begins with a backspace."""
    return "\n".join(("\b", "Sweeps:", *(f"  {path.stem:<10}{_title(path)}" for path in sorted(SHELF.glob("[!_]*.py")))))


def _title(path: Path) -> str:
    """Return the title in ``SWEEP = Sweep(title="…")``."""
    words = (node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.keyword) and node.arg == "title")
    return str(ast.literal_eval(next(words).value))

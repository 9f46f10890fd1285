"""What ``lab bench`` and ``lab sweep`` measure, a line each, for --help: to import the measurements themselves would be slow."""

from __future__ import annotations

import ast
from pathlib import Path

OF_THE_LAB = {
    "explorer": "lab explore: its time and its memory",
    "lesson": "runs of the lesson that end alike; the pairs are runs of each",
    "wire": "redis-py's lock in a worker, compared with it in the replicas",
}
OF_THE_LOCKS = {
    "locks": "all stages without replicas; lua compared with redis-py's lock",
    "fences": "the price of a fence, and of a fence with an owner",
    "asking": "Redlock asked in turn, compared with all at once",
    "votes": "Redlock's random pause, compared with a fixed one",
    "syncs": "the price of Redis's syncs, and what they save",
    "waits": "each way of waiting, compared with another",
    "omission": "the waits that a closed loop hides while a holder is frozen",
}


def measurements() -> str:
    """Return the help text; click keeps the lines of a paragraph that begins with a backspace."""
    parts = (("Costs of the lab:", OF_THE_LAB), ("Costs of the locks:", OF_THE_LOCKS))
    return "\n\n".join(
        "\n".join(("\b", title, *(f"  {name:<10}{what}" for name, what in lines.items()))) for title, lines in parts
    )


SHELF = Path(__file__).parents[1] / "experiments" / "sweeps"


def sweeps() -> str:
    """Return the help text; click keeps the lines of a paragraph that begins with a backspace."""
    return "\n".join(("\b", "Sweeps:", *(f"  {path.stem:<10}{_title(path)}" for path in sorted(SHELF.glob("[!_]*.py")))))


def _title(path: Path) -> str:
    """Return the title in ``SWEEP = Sweep(title="…")``."""
    words = (node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.keyword) and node.arg == "title")
    return str(ast.literal_eval(next(words).value))

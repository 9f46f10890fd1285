"""Read the exercises and the parts of their docstrings."""

import re
from pathlib import Path

from lab.paths import HOME

FOLDER = HOME / "exercises"
PART = re.compile(r"^\*\*(\w+)\*\* (.+)$", re.MULTILINE)


def exercises() -> dict[Path, dict[str, str]]:
    """Return the parts of the docstring of each exercise, with its first line as ``Title``."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        doc = path.read_text(encoding="utf-8").split('"""')[1]
        found[path] = {"Title": doc.partition("\n")[0]} | dict(PART.findall(doc))
    return found

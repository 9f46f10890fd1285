"""Hold each part of the project to its number of lines: ``python -m tools.budgets [--lower]``.

The limits are in ``tools/budgets.toml``. Each part that has more than its limit is printed, and the exit status is 1. With
``--lower`` each limit becomes the larger of the current size and the final limit; no limit is raised.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1]
LIMITS = Path(__file__).with_name("budgets.toml")
ENDINGS = {"python": {".py"}, "words": {".css", ".html", ".j2", ".js", ".toml"}}


def size(part: dict[str, Any], folders: set[str], endings: set[str]) -> int:
    """Return the number of lines in a part's files with these endings. folders: the folders of all parts; none counts twice."""
    lines = 0
    for name in part["folders"]:
        below = set() if part.get("whole") else {HOME / folder for folder in folders if folder.startswith(f"{name}/")}
        files = (path for path in (HOME / name).rglob("*") if path.suffix in endings and not below & {*path.parents})
        lines += sum(path.read_text(encoding="utf-8").count("\n") for path in files)
    return lines


def main(words: list[str]) -> int:
    """Check all limits, or lower them. Return 1 if a part is above its limit."""
    text = LIMITS.read_text(encoding="utf-8")
    above = 0
    for kind, parts in tomllib.loads(text).items():
        folders = {name for part in parts.values() if not part.get("whole") for name in part["folders"]}
        for name, part in parts.items():
            lines, now = size(part, folders, ENDINGS[kind]), part["now"]
            if lines > now:
                above += 1
                sys.stdout.write(
                    f"{name} ({kind}): {lines:,} lines, and its limit is {now:,}; the final one is {part['final']:,}\n"
                )
            lower = min(now, max(lines, part["final"]))
            text = re.sub(rf'("{name}" = {{ now = )[\d_]+(, final = {part["final"]:_},)', rf"\g<1>{lower:_}\g<2>", text)
    if "--lower" in words:
        LIMITS.write_text(text, encoding="utf-8")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

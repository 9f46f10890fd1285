"""Print how many lines of Python each folder has, and its budget. Who adds to a full folder takes something away first."""

import sys
from pathlib import Path

from lab.paths import HOME

BUDGET = {
    "app": 2_300,
    "app/locks": 3_285,
    "app/stores": 2_030,
    "app/resources": 365,
    "lab": 1_150,
    "lab/commands": 1_300,
    "lab/containers": 1_200,
    "tools/book": 1_500,
    "lab/enact": 700,
    "lab/evidence": 900,
    "lab/experiments": 3_600,
    "lab/explore": 4_600,
    "lab/judge": 3_900,
    "lab/language": 130,
    "lab/load": 250,
    "lab/play": 900,
    "lab/report": 4_700,
    "lab/run": 350,
    "lab/scenario": 1_800,
    "lab/servers": 3_400,
    "lab/story": 1_250,
    "lab/ui": 2_800,
    "locustfiles": 138,
    "tests": 21_000,
}


def lines(folder: Path) -> int:
    """Return the lines of Python below a folder, without those of folders that have a budget of their own."""
    own = [HOME / name for name in BUDGET if HOME / name != folder and (HOME / name).is_relative_to(folder)]
    files = (path for path in folder.rglob("*.py") if not any(path.is_relative_to(other) for other in own))
    return sum(path.read_text(encoding="utf-8").count("\n") for path in files)


def main() -> None:
    """Print a line for each folder that is over its budget, and the sum of the product."""
    counted = {name: lines(HOME / name) for name in BUDGET}
    over = {name: number for name, number in counted.items() if number > BUDGET[name]}
    sys.stdout.writelines(f"over its budget: {name} {number:,} of {BUDGET[name]:,} lines\n" for name, number in over.items())
    product = sum(number for name, number in counted.items() if name != "tests")
    sys.stdout.write(f"lines of the product: {product:,} of {sum(BUDGET.values()) - BUDGET['tests']:,}\n")


if __name__ == "__main__":
    main()

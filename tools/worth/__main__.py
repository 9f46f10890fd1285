"""``python -m tools.worth judge`` or ``explorer``, each with words that choose, prints what each part is worth.

Each row goes to the error output as soon as it is known; the table has the parts first that nothing needs.
"""

import importlib
import sys

from tools.worth.table import HEAD, Row

if __name__ == "__main__":
    rows: list[Row] = []
    for row in importlib.import_module(f"tools.worth.{sys.argv[1]}").main(sys.argv[2:]):
        rows.append(row)
        sys.stderr.write(f"{row.line()}\n")
    rows.sort(key=lambda row: (len(row.changes), len(row.by_hand or ()), row.kind, row.part))
    sys.stdout.write("\n".join([HEAD, *(row.line() for row in rows), ""]))

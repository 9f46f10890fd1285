"""``python -m tools.worth judge`` or ``explorer``, each with words that choose, prints what each part is worth."""

import importlib
import sys

from tools.worth.table import written


def main(words: list[str]) -> None:
    """Print the table of a subject, and each row on the error output as soon as it is known."""
    rows = []
    for row in importlib.import_module(f"tools.worth.{words[0]}").main(words[1:]):
        rows.append(row)
        sys.stderr.write(f"{row.line()}\n")
    sys.stdout.write(f"{written(rows)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])

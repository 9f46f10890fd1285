"""Take few rows of a table in an ordinary run, and all rows in ``make trial``."""

from collections.abc import Collection, Iterable

import pytest


def sampled(rows: Iterable[object], now: Collection[object]) -> list[object]:
    """Return the rows for ``parametrize``. An ordinary run has the rows that are in ``now``, or whose first value is in it."""

    def row(values: tuple[object, ...]) -> object:
        is_now = values[0] in now or (values in now if len(values) > 1 else False)
        return pytest.param(*values, marks=() if is_now else pytest.mark.trial)

    return [row(values if type(values) is tuple else (values,)) for values in rows]  # a named tuple is one value

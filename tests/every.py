"""A rule is one test: its body is run for each row of a table, and the failure names every row that breaks the rule."""

import inspect
from collections.abc import Callable, Iterable
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from lab.paths import HOME

MOST_LETTERS = 100  # of a row's name in the failure


def every(names: str | tuple[str, ...], rows: Iterable[object] | Callable[[], Iterable[object]]) -> Callable[..., Any]:
    """Run a test once for each row, within one item, and fail with all rows that fail.

    names: of the arguments, as for ``parametrize``. rows: values, or a function that is called when the test runs,
    so that nothing is read while tests are collected. A table without rows fails as well.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def of_test(test: Callable[..., object]) -> Callable[..., None]:
        @wraps(test)
        def of_all(**fixtures: Any) -> None:
            table = list(rows() if callable(rows) and not isinstance(rows, type) else rows)  # an Enum is a table
            assert table, "there is no row to check"
            wrong = []
            for place, row in enumerate(table):
                values = dict(zip(named, row if len(named) > 1 else [row], strict=True))  # type: ignore[call-overload]
                with pytest.MonkeyPatch.context() as patch:
                    try:
                        test(**_fresh(fixtures, place, patch), **values)
                    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - each is reported, with its row
                        wrong.append(f"{', '.join(map(_name, values.values()))}: {type(error).__name__}: {error}")
            assert not wrong, f"{len(wrong)} of {len(table)} rows fail:\n\n" + "\n\n".join(wrong)

        taken = inspect.signature(test)
        left = [one for one in taken.parameters.values() if one.name not in named]
        of_all.__signature__ = taken.replace(parameters=left)  # type: ignore[attr-defined]
        return of_all

    return of_test


def _fresh(fixtures: dict[str, Any], place: int, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the fixtures for one row: a folder and patches of its own, and no output of the row before; others are shared."""
    fresh = dict(fixtures)
    if "tmp_path" in fresh:
        fresh["tmp_path"] = fresh["tmp_path"] / str(place)
        fresh["tmp_path"].mkdir()
    if "monkeypatch" in fresh:
        fresh["monkeypatch"] = patch
    if "capsys" in fresh:
        fresh["capsys"].readouterr()
    return fresh


def _name(value: object) -> str:
    if isinstance(value, Path) and value.is_relative_to(HOME):
        return value.relative_to(HOME).as_posix()
    if isinstance(value, Enum):
        return str(value.name)
    text = value if isinstance(value, str) else getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"

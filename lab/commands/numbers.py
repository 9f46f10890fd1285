"""The numbers of the command line that no scenario has: a refusal names the option, the limits, and the value as it was typed."""

from __future__ import annotations

from typing import Any

import click

from lab.errors import BadInput


def typed_as(parameter: click.Parameter | None, context: click.Context | None) -> str:
    """Return what the user types for a parameter: --stage, SCENARIO."""
    if isinstance(parameter, click.Argument) and context:
        return parameter.make_metavar(context)
    return max(parameter.opts, key=len) if parameter else "a value"


class Whole(click.IntRange):
    """A whole number within limits."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            raise _refusal(self, "a whole number", value, param, ctx) from None


class Decimal(click.FloatRange):
    """A number within limits."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            raise _refusal(self, "a number", value, param, ctx) from None


def _refusal(kind: Whole | Decimal, what: str, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> BadInput:
    limits = [f"at {word} {limit:,}" for word, limit in (("least", kind.min), ("most", kind.max)) if limit is not None]
    return BadInput(f"{typed_as(param, ctx)} must be {', '.join((what, *limits))}, not {value}")

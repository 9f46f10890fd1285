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


class _Limited(click.ParamType[Any]):
    """A number that is refused with its limits."""

    what: str
    min: Any
    max: Any

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            limits = [f"at {word} {limit:,}" for word, limit in (("least", self.min), ("most", self.max)) if limit is not None]
            raise BadInput(f"{typed_as(param, ctx)} must be {', '.join((self.what, *limits))}, not {value}") from None


class Whole(_Limited, click.IntRange):
    """A whole number within limits."""

    name, what = "integer", "a whole number"


class Decimal(_Limited, click.FloatRange):
    """A number within limits."""

    name, what = "float", "a number"

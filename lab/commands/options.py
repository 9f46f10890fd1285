"""The options of the commands: numbers within limits, a scenario's options, the place of a result. Quick to import, for --help.

A refusal names the option, the limits, and the value as it was typed.
"""

from __future__ import annotations

import importlib.util
import runpy
import shlex
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click

from lab.errors import BadInput
from lab.paths import REPORTS, new_folder
from lab.scenario.options import OPTIONS, Option
from lab.text import thousands

shown = partial(click.option, show_default=True)
json_list = click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")


def command_line() -> str:
    """Return the command as it was typed: the record of a run quotes it."""
    return shlex.join(["lab", *sys.argv[1:]])


def is_listing(context: click.Context, as_json: bool) -> bool:
    """Return whether a group was called without a command of it, and so lists them. Raises BadInput for --json with a command."""
    if context.invoked_subcommand and as_json:
        raise BadInput(f"--json is of the list, and not of `{context.command_path} {context.invoked_subcommand}`")
    return context.invoked_subcommand is None


def completed(names: Callable[[], Iterable[str]]) -> Callable[..., list[str]]:
    """Return the completions of a name in the shell: the members of ``names()`` that begin as typed."""
    return lambda context, parameter, typed: [name for name in names() if name.startswith(typed)]


def _stage_names() -> Iterable[str]:
    from app.locks import stages

    return stages()


def _scenario_names() -> Iterable[str]:
    from lab.scenario import reader

    return reader.names()


STAGES, SCENARIOS = completed(_stage_names), completed(_scenario_names)


def typed_as(parameter: click.Parameter | None, context: click.Context | None) -> str:
    """Return the word that the user types for a parameter: --stage, --read or --read-url, SCENARIO."""
    if isinstance(parameter, click.Argument) and context:
        return parameter.make_metavar(context)
    return " or ".join(parameter.opts) if parameter else "a value"


class _Limited(click.ParamType[Any]):
    """A number that is refused with its limits."""

    what: str
    min: Any
    max: Any

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            limits = [
                f"at {word} {thousands(limit) if limit >= 1 else limit}"
                for word, limit in (("least", self.min), ("most", self.max))
                if limit is not None
            ]
            raise BadInput(f"{typed_as(param, ctx)} must be {', '.join((self.what, *limits))}, not {value}") from None


class Whole(_Limited, click.IntRange):
    """A whole number within limits."""

    name, what = "integer", "a whole number"


class Decimal(_Limited, click.FloatRange):
    """A number within limits."""

    name, what = "float", "a number"


def in_seconds(text: str) -> int:
    """Return a time in Locust's notation in seconds, as its own parser reads it. Raises ValueError.

    The parser's file is read alone: to import Locust takes longer than --help may, and replaces parts of the standard library.
    """
    package = importlib.util.find_spec("locust")
    parser = Path(str(package and package.origin)).with_name("util") / "timespan.py"
    seconds: int = runpy.run_path(str(parser))["parse_timespan"](text)
    return seconds


class Number(click.ParamType[Any]):
    """The number of an option, within the option's limits. A refusal names the flag, and shows the value as it was typed."""

    def __init__(self, option: Option) -> None:
        self.option = option
        self.number = click.FLOAT if option.kind is float else click.INT
        self.name = "time" if option.is_span else self.number.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).isascii():  # Python reads digits of every script
            raise BadInput(f"{self.option.flag} must be written with the digits 0 to 9, not {value!r}")
        try:
            number = self.number.convert(in_seconds(value) if self.option.is_span else value, param, ctx)
        except (click.BadParameter, ValueError):
            number = None
        if refusal := self.option.refusal(number, name=self.option.flag, typed=str(value)):
            raise BadInput(refusal)
        return number


def scenario_options(*names: str, **helps: str) -> Callable[[Any], Any]:
    """Add the options of these names, or all scenario options, to a command.

    helps: by name, the help of an option that means something else in this command.
    """

    def add(command: Any) -> Any:
        for option in reversed([OPTIONS[name] for name in names or OPTIONS]):
            limits = ", ".join(filter(None, (option.unit, option.limits)))
            text = f"{helps.get(option.name, option.help)}  [{limits}]"
            command = click.option(option.flag, type=Number(option), help=text)(command)
        return command

    return add


def out_option(content: str, default: str = "") -> Callable[[Any], Any]:
    """Add ``--out``: the folder for the result of a command. A place that cannot be one is refused before the first run."""
    text = f"Folder for {content}." + (f"  [default: {REPORTS}/{default}]" if default else "")
    return click.option(
        "--out", callback=lambda _, option, value: value and new_folder(value, "--out"), help=text, metavar="PATH"
    )

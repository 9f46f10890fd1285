"""Read the posts of the pages: a form of Locust's page, checked and fitted to the stage; and the posts of a class's pages."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

import msgspec

from app.lock import Stage
from app.locks import stages
from lab.containers.engine import as_many_as_are_up
from lab.errors import BadInput, choose_from
from lab.scenario import reader as scenarios
from lab.scenario.options import OPTIONS, flags, form_options
from lab.scenario.scenario import Scenario, override
from lab.text import thousands

USERS = 0  # the number of users in the form at first: the scenario's own
AT_ONCE = 100  # users started a second, in the form at first: the scenario's own number, or all of its users at once


@dataclass(frozen=True)
class RunRequest:
    """A checked form: the stage, the scenario, and the command that repeats the run."""

    stage: Stage
    scenario: Scenario
    command: str


def read(form: Mapping[str, str], processes: int = 1) -> RunRequest:
    """Check a form as the page posts it: texts by field. A number that is empty or 0 keeps the scenario's value.

    processes: the number of Locust processes that send the load. Raises BadInput, which names the valid choices.
    """
    shelf = stages()  # never a file: a posted form must not choose code to run
    stage = shelf[choose_from("stage", name_of(form.get("stage", "")), shelf)]
    scenario = scenarios.load(choose_from("scenario", name_of(form.get("scenario", "")), scenarios.names()))
    given: dict[str, Any] = as_many_as_are_up(
        {option.name: _number(option.name, option.kind, form.get(option.name, "")) or None for option in form_options()}
    )
    at_a_rate = given.get("rate") or scenario.rate
    if not at_a_rate:
        given["users"] = _number("users", int, form.get("user_count", "")) or None
        ramp_up = _number("ramp up", int, form.get("spawn_rate", ""))
        given["spawn_rate"] = ramp_up if ramp_up < (given["users"] or AT_ONCE) else None
    for name, value in given.items():
        if value is not None and value > (most := OPTIONS[name].most_from_page):
            raise BadInput(
                f"{name} must be at most {thousands(most)} in the form, not {value:.15g}; the command `lab run` accepts more"
            )
    fitted = override(scenario, stage, given | {"processes": processes})
    notes = []
    if at_a_rate and _number("users", int, form.get("user_count", "")):
        notes.append("at a rate, requests arrive however long answers take: the number of users in the form is not used")
    given |= {"processes": processes} if processes > 1 else {}
    command = shlex.join(["lab", "run", scenario.name, "--stage", stage.name, *flags(given)])
    scenario = dataclasses.replace(fitted, notes=(*fitted.notes, *notes))
    return RunRequest(stage, scenario, f"{command}  # started from the page of lab ui")


def offered(stage: str = "none", scenario: str = "rush") -> dict[str, Any]:
    """Return the lines of the form's drop-downs: each name with a description. ``read`` accepts a name with or without it.

    stage, scenario: the lines that are selected at first. Raises BadInput for a name that is not among them.
    """
    about = {name: one.story.title for name, one in stages().items()}
    titles = {name: scenarios.load(name).title for name in scenarios.names()}
    first = {"stage": _line(stage, about[choose_from("stage", stage, about)])}
    first |= {"scenario": _line(scenario, titles[choose_from("scenario", scenario, titles)])}
    return {"stages": _lines(about), "scenarios": _lines(titles)} | first


def _lines(about: Mapping[str, str]) -> list[str]:
    return [_line(name, text) for name, text in about.items()]


def _line(name: str, text: str) -> str:
    return f"{name}: {text}"


def name_of(line: str) -> str:
    """Return the name in a line of a drop-down."""
    return line.partition(":")[0].strip()


def _number(name: str, kind: Callable[[str], float], text: str) -> float:
    try:
        number = kind(text.strip() or "0")
        if math.isfinite(number) and text.isascii():
            return number
    except ValueError:
        pass
    what = "a whole number" if kind is int else "a number"
    raise BadInput(f"{name} must be {what}, not {text!r}")


class PostedPrediction(msgspec.Struct):
    """A prediction as a browser posts it."""

    # the question when the visitor chose
    stage: str
    scenario: str
    choice: int  # the place of the choice, from 0, among the choices of the scenario's question


class PostedScreen(msgspec.Struct):
    """A screen of the verdict, and which step of it, from 1; 0 if it has none."""

    screen: Literal["verdict", "loss", "curve"]
    step: int = 0


class PostedPlace(msgspec.Struct):
    """A step of the lesson, and which of its runs, from 0; step 0 leaves the lesson."""

    step: int
    run: int = 0


WHAT = {PostedPrediction: "prediction", PostedPlace: "step of the lesson", PostedScreen: "screen of the verdict"}
# made before there are threads, one for each visitor: two that are the first to decode a type, both at once, end the interpreter
DECODERS = {kind: msgspec.json.Decoder(kind) for kind in WHAT}
Posted = TypeVar("Posted", PostedPrediction, PostedPlace, PostedScreen)


def decoded(body: bytes, kind: type[Posted]) -> Posted:
    """Return the post. Raises BadInput, which names it."""
    try:
        return cast(Posted, DECODERS[kind].decode(body))
    except msgspec.DecodeError as error:
        raise BadInput(f"this is no {WHAT[kind]}: {error}") from None

"""What a form of Locust's page asks for: read, checked, and fitted to the stage."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.lock import Stage
from app.locks import stages
from lab.containers.backend import as_many_as_are_up
from lab.errors import BadInput, choose_from
from lab.paths import LOCUSTFILES
from lab.scenario import scenario as scenarios
from lab.scenario.options import flags
from lab.scenario.overrides import override
from lab.scenario.scenario import Scenario

LOCUSTFILE = LOCUSTFILES / "rush.py"
# whoever reaches the page may press Start: what a machine can bear; the command line asks nobody
MOST = {"requests": 1_000_000, "users": 5000, "replicas": 32}
USERS = 100  # what the form says at first
SHOWN = 90  # letters of a stage's idea in the form: a longer line is not read there


@dataclass(frozen=True)
class RunRequest:
    """What a form asks for, checked; and the command that would run the same again."""

    stage: Stage
    scenario: Scenario
    command: str

    @property
    def introduction(self) -> str:
        """One line for the terminal."""
        scenario = self.scenario
        who = f"at {scenario.rate:g} a second" if scenario.rate else f"by {scenario.users} users"
        notes = "".join(f" ({note})" for note in scenario.notes)
        return f"{self.stage.name} under {scenario.name}: {scenario.requests} requests {who} …{notes}"


def read(form: Mapping[str, str], processes: int = 1) -> RunRequest:
    """Check a form as the page posts it: texts by field; of the numbers, empty or 0 is the scenario's own.

    The number of users is the form's, unless it is what the form says at first. processes: that send. Raises BadInput, with
    the names that would do.
    """
    shelf = stages()  # files are for the command line: what a web page may post must not choose code to run
    stage = shelf[choose_from("stage", _name(form, "stage"), shelf)]
    scenario = scenarios.load(choose_from("scenario", _name(form, "scenario"), scenario_names()))
    kinds: dict[str, Callable[[str], float]] = {"requests": int, "work_ms": int, "ttl_ms": int, "replicas": int, "rate": float}
    given = as_many_as_are_up({name: _number(name, kind, form.get(name, "")) or None for name, kind in kinds.items()})
    notes = []
    if given["rate"] or scenario.rate:
        notes.append("at a rate, requests arrive whatever the answers do: the page's users do not count")
    else:
        users = _number("users", int, form.get("user_count", ""))
        given["users"] = None if users == USERS else users  # nobody chose them: Locust's form cannot be empty there
        if users > (rate := _number("ramp up", float, form.get("spawn_rate", ""))):
            notes.append(f"the users were started at {rate:g} a second, not all at once")
    for name, most in MOST.items():
        if (asked := given.get(name) or 0) > most:
            raise BadInput(f"{name}: at most {most} from a page, not {asked:g}; `lab run` takes more")
    fitted = override(scenario, stage, given | {"processes": processes})
    given |= {"processes": processes} if processes > 1 else {}
    command = shlex.join(["lab", "run", scenario.name, "--stage", stage.name, *flags(given)])
    scenario = dataclasses.replace(fitted, notes=(*fitted.notes, *notes))
    return RunRequest(stage, scenario, f"{command}  # asked for in the page of lab ui")


def offered(stage: str = "none", scenario: str = "rush") -> dict[str, Any]:
    """What the form's drop-downs say: each name with what it is about; ``read`` takes it with that or without.

    stage, scenario: the lines that are chosen at first. Raises BadInput for a name that is not among them.
    """
    about = {name: one.story.idea for name, one in stages().items()}
    titles = {name: scenarios.load(name).title for name in scenario_names()}
    first = {"stage": _line(stage, about[choose_from("stage", stage, about)])}
    first |= {"scenario": _line(scenario, titles[choose_from("scenario", scenario, titles)])}
    return {"stages": _lines(about), "scenarios": _lines(titles)} | first


def scenario_names() -> list[str]:
    """The scenarios that the page's locustfile can drive."""
    return [name for name in scenarios.names() if scenarios.load(name).load == LOCUSTFILE.stem]


def _lines(about: Mapping[str, str]) -> list[str]:
    return [_line(name, text) for name, text in about.items()]


def _line(name: str, text: str) -> str:
    return f"{name}: {text if len(text) <= SHOWN else text[:SHOWN].rpartition(' ')[0] + ' …'}"


def _name(form: Mapping[str, str], field: str) -> str:
    return form.get(field, "").partition(":")[0].strip()


def _number(name: str, kind: Callable[[str], float], text: str) -> float:
    try:
        number = kind(text.strip() or "0")
        if math.isfinite(number):
            return number
    except ValueError:
        pass
    what = "a whole number" if kind is int else "a number"
    raise BadInput(f"{name} must be {what}, not {text!r}")

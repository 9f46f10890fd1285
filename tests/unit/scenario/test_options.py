"""One line in the table of scenario options reaches every place that lists options."""

import dataclasses
import re

import pytest

from app.locks import stages
from app.settings import Settings, SettingsError
from lab.errors import BadInput
from lab.paths import HOME
from lab.scenario import reader as scenarios
from lab.scenario.options import OPTIONS, Option, flags
from lab.scenario.scenario import Scenario, override
from lab.scenario.stages import find_stage
from lab.servers.cluster import replica_settings
from lab.ui import posted
from tests.every import every

RUSH = scenarios.load("rush")
MADE_UP = Option(
    name="nap_ms",
    help="Length of a nap.",
    unit="ms",
    least=2,
    most=90,
    most_from_page=50,
    is_in_form=True,
    reaches_replica=True,
    scales_with_ttl=True,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sleepy(Scenario):
    """A scenario with the made-up option's field: the one thing that the table cannot add by itself."""

    nap_ms: int = 10


SLEEPY = Sleepy(**vars(RUSH))


@pytest.fixture
def made_up(monkeypatch) -> None:
    """Add a line to the table."""
    monkeypatch.setitem(OPTIONS, MADE_UP.name, MADE_UP)
    monkeypatch.setattr(scenarios, "load", lambda name: Sleepy(**vars(RUSH) | {"name": name}))


def test_new_option_in_the_form(made_up):
    """A form with a new option is read, and its limits are checked."""
    form = {"stage": "lua", "scenario": "rush", "user_count": "100", "spawn_rate": "100"}

    order = posted.read(form | {"nap_ms": "7"})
    assert order.scenario.nap_ms == 7
    assert "--nap-ms 7" in order.command
    assert posted.read(form | {"nap_ms": "0"}).scenario.nap_ms == 10
    with pytest.raises(BadInput, match="nap_ms must be at most 50 in the form, not 51"):
        posted.read(form | {"nap_ms": "51"})


@pytest.mark.parametrize("wrong", [1, 91, 2.5, True, "3"])
def test_new_option_is_an_override(made_up, wrong):
    """A new option is an override with its limits."""
    assert override(SLEEPY, stages()["lua"], {"nap_ms": 20}).nap_ms == 20
    with pytest.raises(BadInput, match=re.escape(f"nap_ms must be a whole number, at least 2, at most 90, not {wrong!r}")):
        override(SLEEPY, stages()["lua"], {"nap_ms": wrong})


def test_new_option_has_a_flag(made_up):
    """A new option is a flag and a setting."""
    assert flags({"nap_ms": 5, "seed": None}) == ["--nap-ms", "5"]
    assert replica_settings(SLEEPY, "run", [stages()["lua"]])["nap_ms"] == "10"


@every("option", lambda: [option for option in OPTIONS.values() if option.reaches_replica])
def test_settings_of_a_replica(option):
    """A replica takes every setting that reaches it, and has the same lower limit."""
    read = Settings.read({}, **{option.name: option.least})

    assert getattr(read, option.name) == option.least
    with pytest.raises(SettingsError, match=option.name):
        Settings.read({}, **{option.name: option.least - 1})


def test_replica_looks_up_stages(tmp_path, monkeypatch):
    """A stage from a file carries its whole path to the replicas' settings: replicas run in another folder."""
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "mine.py"
    mine.write_text((HOME / "app" / "locks" / "lua.py").read_text(encoding="utf-8"), encoding="utf-8")
    served = [stages()["none"], find_stage("./mine.py")]

    settings = replica_settings(RUSH, "run", served)

    assert settings["stage"] == f"none,{mine}"
    assert [one.lock.__module__ for one in map(find_stage, Settings.read({}, stage=settings["stage"]).stage)] == [
        "app.locks.none",
        "mine",
    ]

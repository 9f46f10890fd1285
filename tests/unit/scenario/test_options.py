"""Test that the options of a scenario reach the form, the overrides and the replicas."""

import re

import pytest

from app.locks import stages
from app.settings import Settings, SettingsError
from lab.errors import BadInput
from lab.paths import HOME
from lab.scenario import reader as scenarios
from lab.scenario.options import OPTIONS
from lab.scenario.scenario import override
from lab.scenario.stages import find_stage
from lab.servers.cluster import replica_settings
from lab.ui import posted
from tests.every import every

RUSH = scenarios.load("rush")


def test_options_in_the_form():
    """A field of the form is read, and has its limit; an empty field keeps the scenario's value."""
    form = {"stage": "lua", "scenario": "rush", "user_count": "100", "spawn_rate": "100"}

    order = posted.read(form | {"work_ms": "7", "requests": ""})
    assert (order.scenario.work_ms, order.scenario.requests) == (7, RUSH.requests)
    assert "--work-ms 7" in order.command
    with pytest.raises(BadInput, match="requests must be at most 1\u2009000\u2009000 in the form, not 1000001"):
        posted.read(form | {"requests": "1000001"})


@pytest.mark.parametrize("wrong", [0, 2.5, True, "3"])
def test_option_is_an_override(wrong):
    """An option overrides a value of the scenario, and is refused outside its limits."""
    assert override(RUSH, stages()["lua"], {"requests": 200}).requests == 200
    with pytest.raises(BadInput, match=re.escape("requests must be a whole number, at least 1") + f".* not {wrong!r}"):
        override(RUSH, stages()["lua"], {"requests": wrong})


@every("option", lambda: [option for option in OPTIONS.values() if option.reaches_replica])
def test_settings_of_a_replica(option):
    """A replica takes every setting that reaches it, and has the same lower limit."""
    read = Settings.read({}, **{option.name: option.least})

    assert getattr(read, option.name) == option.least
    with pytest.raises(SettingsError, match=option.name):
        Settings.read({}, **{option.name: option.least - 1})


def test_replica_looks_up_its_stage(tmp_path, monkeypatch):
    """A replica gets the full path of a stage from a file, because replicas run in another folder."""
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "mine.py"
    mine.write_text((HOME / "app" / "locks" / "lua.py").read_text(encoding="utf-8"), encoding="utf-8")

    assert replica_settings(RUSH, "run", find_stage("./mine.py"))["stage"] == str(mine)

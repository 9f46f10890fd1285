"""Test the errors of a wrong scenario or option, and how a stage and the user change a scenario."""

import dataclasses

import pytest

from app.locks import stages
from lab.errors import BadInput
from lab.report.matrix import cell_requests
from lab.scenario import reader
from lab.scenario.scenario import override
from tests.every import every

LUA = stages()["lua"]


@every(
    "content, words",
    [
        (b"title = \xff", ["scenarios/made.toml", "UTF-8"]),
        (b"title = 'x'\nusers = 3\nusers = 4\n", ["scenarios/made.toml", "Cannot overwrite a value (at line 3"]),
        (b"title = 'x'\ntests exclusive", ["scenarios/made.toml", "Expected '=' after a key", "line 2"]),
        (None, ["scenarios/made.toml", "is a text file", "Is a directory"]),
    ],
)
def test_unreadable_scenario_file_is_refused(monkeypatch, tmp_path, content, words):
    """A scenario file that cannot be read is refused with its name and the line. None stands for a folder."""
    monkeypatch.setattr(reader, "SCENARIOS", tmp_path)
    made = tmp_path / "made.toml"
    made.mkdir() if content is None else made.write_bytes(content)

    with pytest.raises(BadInput) as refusal:
        reader.load("made")

    assert [word for word in words if word not in str(refusal.value)] == []


@every("name", reader.names)
def test_short_run_of_a_cell_can_meet_the_danger(name):
    """A cell of the matrix sends fewer requests than some scenarios, but enough to reach the danger."""
    one = reader.load(name)
    fitting = next(stage for stage in stages().values() if not one.misfit(stage))
    fitted = override(one, fitting, {"requests": cell_requests(one)})

    assert max((needed for measure, needed in fitted.danger.items() if "_percent" not in measure), default=0) <= fitted.requests


@every(
    "scenario, stage, given, fitted, noted",
    [
        ("rush", "lua", {}, {"ttl_ms": 3000}, []),  # a stage brings its own TTL
        ("rush", "watchdog", {}, {"ttl_ms": 30_000}, []),
        ("rush", "lua", {"ttl_ms": 500}, {"ttl_ms": 500}, []),
        ("rush", "setnx", {"ttl_ms": 500}, {}, ["not used"]),  # a note says that it is not used
        ("frozen_before_write", "zookeeper", {"work_ms": 7}, {"ttl_ms": 1000, "work_ms": 7}, ["instead of 300"]),
        ("rush", "lua", {"requests": 1}, {"users": 1}, ["1 user instead of 100: the run has only 1 request"]),
        ("try_lock", "lua", {"run_time": 5, "users": 400}, {"run_time": 5, "requests": 0, "users": 400}, []),
        ("convoy", "lua", {"load": "my.py", "users": 9}, {"own_load": "my.py", "requests": 0, "users": 9, "rate": None}, []),
    ],
)
def test_values_of_the_stage_and_the_user(scenario, stage, given, fitted, noted):
    """A run has the user's values, then the stage's, then the scenario's, and a note if a value is unexpected."""
    found = override(reader.load(scenario), stages()[stage], given)

    assert {name: getattr(found, name) for name in fitted} == fitted
    assert len(found.notes) == len(noted)
    assert all(words in note for words, note in zip(noted, found.notes, strict=True))


@every(
    "scenario, stage, given, why",
    [
        ("work_outlasts_ttl", "none", {}, "a lock that excludes other requests, and .*; the stage none does not have it"),
        ("rush", "etcd", {"ttl_ms": 1500}, "steps of 1000 ms; give ttl_ms=1000 or 2000 instead of 1500"),
        ("rush", "lua", {"run_time": 5, "requests": 9}, "requests and run_time exclude each other"),
        ("rush", "lua", {"load": "my.py", "requests": 9}, "requests has no effect with a load of your own: my.py decides"),
        ("rush", "lua", {"load": "my.py", "rate": 9.0}, "rate has no effect with a load of your own: my.py decides"),
    ],
)
def test_unfit_options_are_refused(scenario, stage, given, why):
    """A scenario that does not fit a stage, and an option that cannot apply, are refused with the reason."""
    with pytest.raises(BadInput, match=why):
        override(reader.load(scenario), stages()[stage], given)


def test_ttl_that_is_in_the_lock():
    """A lock whose TTL is in its code has it in every scenario, and the other times change in proportion."""
    fixed = dataclasses.replace(LUA, ttl_ms=3000, has_fixed_ttl=True)
    frozen, long = reader.load("frozen_holder"), reader.load("work_outlasts_ttl")

    fitted = override(frozen, fixed, {})

    assert fitted.ttl_ms == override(long, fixed, {}).ttl_ms == 3000
    assert fitted.faults[0].for_ms == round(frozen.faults[0].for_ms * 3000 / frozen.ttl_ms)
    assert "always has a TTL of 3000 ms" in fitted.notes[0]
    with pytest.raises(BadInput, match="always has a TTL of 3000 ms; leave out ttl_ms=500"):
        override(frozen, fixed, {"ttl_ms": 500})

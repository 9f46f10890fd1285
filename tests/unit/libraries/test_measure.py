"""Test ``lab libraries measure``: the libraries that it measures, leaves out and keeps. A stand-in does the measurement."""

import pytest

from app.foreign.library import ALL
from lab.errors import BadInput, ExitStatus
from lab.evidence.run_folder import as_json
from lab.interrupts import Interrupted
from lab.libraries import measure as command
from lab.libraries.measure import measure
from lab.libraries.scorecard import entries
from lab.libraries.shelf import load, names, scenarios_of
from lab.own_lock.page import TestedCell, TestedClaim, TestedLock
from lab.scenario import reader

CELL = TestedCell(stage="s", scenario="rush", claim="exclusive", verdict="KEPT", rounds={"KEPT": 3}, run="a-run")
TWO = ("pypi_redis", "pypi_etcd3gw")


@pytest.fixture
def tested(tmp_path, monkeypatch):
    """Return the tested libraries in order, the exit status of each test by name, and the folder of the results."""
    done, statuses = [], {}
    monkeypatch.setattr(command, "REPORTS", tmp_path / "reports")

    def test(words, home, within_s):
        name = home.name
        done.append(name)
        found = TestedLock(lock=words[1], stage=name, library=name, rounds=int(words[words.index("--repeat") + 1]))
        found.claims = [TestedClaim(claim="exclusive", cells=[CELL], schedule="orders/exclusive.svg")]
        (home / "test" / "orders").mkdir(parents=True)
        (home / "test" / "orders" / "exclusive.svg").write_text("<svg/>", encoding="utf-8")
        (home / "test" / "test.json").write_text(as_json(found), encoding="utf-8")
        return statuses.get(name, ExitStatus.GOOD), "", "why it is so"

    monkeypatch.setattr(command, "child_command", test)
    return done, statuses, tmp_path / "kept"


def test_kept_result_has_no_folder_of_runs(tested):
    """The verdicts and the schedule are kept; the folders of the runs are not kept, and not named."""
    _, _, folder = tested

    assert measure(["pypi_redis"], out=folder) == ExitStatus.GOOD

    (found,) = entries(folder)
    assert (found.tested.command, found.tested.rounds) == ("lab libraries measure pypi_redis --rounds 3", 3)
    assert found.tested.claims[0].cells[0].run == ""
    assert found.tested.claims[0].schedule == "pypi_redis-exclusive.svg"
    kept = ["index.html", "libraries.jsonl", "pypi_redis-exclusive.svg", "pypi_redis.html", "pypi_redis.zh.html"]
    assert sorted(path.name for path in folder.iterdir()) == kept


def test_interrupt_names_the_rest(tested, capsys):
    """After an interrupt in the second library, the first one is kept, and the command for the rest is printed."""
    _, statuses, folder = tested
    statuses["pypi_etcd3gw"] = ExitStatus.INTERRUPTED

    with pytest.raises(Interrupted):
        measure(TWO, out=folder)
    assert "lab libraries measure pypi_etcd3gw measures the rest" in capsys.readouterr().out
    assert [one.name for one in entries(folder)] == ["pypi_redis"]


def test_missing_environment_is_a_line(tested, capsys, monkeypatch):
    """A library whose environment is missing is left out, with the command that makes it, and the exit status is not GOOD."""
    done, _, folder = tested
    monkeypatch.setattr(command.environments, "is_made", lambda place: place != "node")

    status = measure(("npm_redlock_4", "pypi_redis"), out=folder)

    assert "npm_redlock_4: left out: node is not installed. Run: .venv/bin/lab libraries install node" in capsys.readouterr().out
    assert (done, status) == (["pypi_redis"], ExitStatus.CANNOT_RUN)


def test_library_that_cannot_be_tested_is_named(tested, capsys):
    """A library that cannot be tested is named and not kept; the others are still measured."""
    done, statuses, folder = tested
    statuses["pypi_redis"] = ExitStatus.BAD_INPUT

    assert measure(TWO, out=folder) == ExitStatus.CANNOT_RUN
    assert "pypi_redis: left out: why it is so" in capsys.readouterr().out
    assert (done, [one.name for one in entries(folder)]) == ([*TWO], ["pypi_etcd3gw"])


@pytest.mark.parametrize("part", [{"scenarios": ("rush",)}, {"rounds": 2}])
def test_part_is_not_kept_in_the_reference(part):
    """A measurement of some scenarios only, or of fewer than three rounds, needs --out: the reference must not have it."""
    with pytest.raises(BadInput, match="--out"):
        measure(TWO, **part)


def test_each_promise_meets_a_scenario():
    """Each promise of a library is tested by a scenario if there is one, and each further scenario tests a promise."""
    tests = {name: reader.load(name).tests for name in reader.names()}
    for lock in map(load, names()):
        chosen = scenarios_of(lock)
        further = set(chosen) - set(ALL) - set(lock.library.scenarios)

        assert chosen[: len(ALL)] == list(ALL)
        assert lock.stage.claims & set(tests.values()) <= {tests[one] for one in chosen}
        assert {tests[one] for one in further} <= lock.stage.claims

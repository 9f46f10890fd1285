"""Test that a user's own lock runs under every scenario that tests one of its claims."""

from dataclasses import replace

import pytest

from lab.own_lock import cells as own_lock
from lab.own_lock.cells import UNCLAIMED, UNFIT, OwnCell, conduct_rounds, plan, warning_of_long_ttl
from lab.paths import HOME
from lab.scenario import reader as scenarios
from lab.scenario.options import flags
from lab.scenario.stages import find_stage
from tests.corpus import EXPECTED

LUA = (HOME / "app" / "locks" / "lua.py").read_text(encoding="utf-8")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Return the path of a user's own lock, which is a copy of lua."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_lock.py").write_text(LUA, encoding="utf-8")
    text = 'title = "x"\ntests = "exclusive"\nrequests = 9\nusers = 3\ndanger.handovers = 1\n'
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    return "./my_lock.py"


@pytest.fixture
def conducted(monkeypatch):
    """Return the command lines of the runs, and the verdicts of the next runs by scenario, or else KEPT. No run is made."""
    lines: list[list[str]] = []
    given: dict[str, list[str]] = {}

    def judged(cell, scenario, stage, options, *about):
        lines.append([scenario, "--stage", stage, *flags(options)])
        cell.verdict = given[cell.scenario].pop(0) if given.get(cell.scenario) else "KEPT"
        cell.reason, cell.lost = "the reason", 3 * (cell.verdict == "BROKEN")
        cell.broken = [cell.claim] * (cell.verdict == "BROKEN")
        return cell, None

    monkeypatch.setattr(own_lock, "judged", judged)
    monkeypatch.setattr(own_lock, "in_parallel", lambda make, tasks, jobs: ((task, make(*about)) for task, about in tasks))
    return lines, given


def test_fewer_users_and_requests(mine):
    """The options lower the users and the requests of a run, but not the requests that its danger needs; they raise nothing."""
    less = [OwnCell(find_stage(mine), scenarios.load(name), name, most=200).given for name in ("rush", "patient_users")]
    assert less[0]["requests"] == 200
    assert "requests" not in less[1]

    rush = OwnCell(find_stage("redlock"), scenarios.load("rush"), "rush")
    assert "users" not in rush.given

    rush.users = 20
    assert rush.given["users"] == 20
    rush.users = 1000
    assert "users" not in rush.given

    at_a_rate = OwnCell(find_stage("redlock"), scenarios.load("node_down"), "node_down", users=20)
    assert "users" not in at_a_rate.given


def test_long_ttl_is_announced(mine):
    """If the TTL in the code of a lock makes the test long, a sentence says so before it starts."""
    stage = find_stage(mine)
    long = replace(stage, ttl_ms=900_000, has_fixed_ttl=True)

    assert warning_of_long_ttl(stage, plan(stage, ()), 2) == ""
    assert "Its TTL is 900 s" in warning_of_long_ttl(long, plan(long, ()), 2)
    assert warning_of_long_ttl(long, plan(long, ["rush"]), 2) == ""


def test_scenarios_of_the_claims_are_run(mine):
    """Each scenario that fits the lock and can break one of its claims runs; each other scenario has a reason not to run."""
    stage = find_stage(mine)
    tasks = {task.scenario.name: task for task in plan(stage, ())}

    assert tasks.keys() == set(scenarios.names())
    for name, task in tasks.items():
        one = scenarios.load(name)
        can_break = {one.tests.name, *(() if one.misfit(stage) else one.may_break)}
        assert (task.kind == UNCLAIMED) == can_break.isdisjoint(claim.name for claim in stage.claims), name
        assert bool(task.reason) == bool(task.kind), name
        if task.kind == UNFIT:
            assert one.misfit(stage)
    assert tasks["rush"].kind == ""
    assert tasks["fence_restart"].reason == "my_lock does not claim fence_outlives_restart"
    assert plan(stage, ["frozen_holder"])[0].kind == ""  # a scenario that is named is run, whatever it tests


def test_commands_of_the_runs(mine, conducted, tmp_path):
    """The command of a run has full paths, and as many requests as a cell of the matrix."""
    lines, _ = conducted

    conduct_rounds(plan(find_stage(mine), ["rush", "./own.toml"]), 2, 1, lambda task: None, tmp_path, draw=False)

    path, own = str(tmp_path / "my_lock.py"), str(tmp_path / "own.toml")
    assert lines == [
        ["rush", "--stage", path, "--requests", "1000"],
        [own, "--stage", path],
        ["rush", "--stage", path, "--requests", "1000"],
        [own, "--stage", path],
    ]


def rounds_of(stage, scenario, *rounds):
    """Return the outcomes of a scenario by claim. rounds: the verdict of each run, and the promises that it broke."""
    task = OwnCell(find_stage(stage), scenarios.load(scenario), scenario)
    for verdict, *broken in rounds:
        cell = task.cell()
        cell.verdict, cell.broken, cell.reason = verdict, broken, "the reason"
        task.rounds.append(cell)
    return {one.claim: one for one in task.outcomes("./it.py")}


def test_broken_promise_is_that_of_another_claim():
    """A run that broke a promise other than the tested one is BROKEN for that promise, and VOID for the tested one."""
    found = rounds_of("lua", "slow_holder", ("BROKEN", "exclusive"), ("KEPT",), ("BROKEN", "exclusive", "releases_only_its_own"))

    assert found["releases_only_its_own"].tally == {"VOID": 1, "KEPT": 1, "BROKEN": 1}
    assert found["exclusive"].tally == {"BROKEN": 2, "VOID": 1}
    assert found["exclusive"].command == "lab run slow_holder --stage ./it.py"


def test_no_promise_is_not_broken():
    """A claim that the lock does not make is never BROKEN: a run that broke it is ADMITTED."""
    found = rounds_of("lua", "work_outlasts_ttl", ("BROKEN", "held_to_the_end"), ("ADMITTED",), ("BROKEN", "exclusive"))

    assert found["held_to_the_end"].tally == {"ADMITTED": 2, "VOID": 1}
    assert found["exclusive"].tally == {"VOID": 2, "BROKEN": 1}
    assert rounds_of("lua", "rush") == {}
    aside = next(task for task in plan(find_stage("lua"), ()) if task.scenario.name == "work_outlasts_ttl")
    aside.rounds.append(aside.cell())
    assert aside.outcomes("./it.py") == []  # the scenario was run only for the promises that it can break


@pytest.mark.parametrize(
    ("given", "lines", "rounds"),
    [
        (["KEPT", "KEPT", "KEPT"], 3, {"KEPT": 3}),
        (["VOID", "KEPT", "BROKEN", "KEPT"], 4, {"BROKEN": 1, "KEPT": 2}),
        (["VOID", "KEPT", "KEPT", "VOID"], 4, {"KEPT": 2, "VOID": 1}),
        (["VOID", "VOID", "VOID"], 3, {"VOID": 3}),
    ],
)
def test_void_run_is_made_once_more(mine, conducted, tmp_path, given, lines, rounds):
    """If other runs of a scenario showed something, a VOID run is made once more, and the verdict of the new run counts."""
    made, verdicts_given = conducted
    verdicts_given["rush"] = list(given)
    tasks = plan(find_stage(mine), ["rush"])

    conduct_rounds(tasks, 3, 1, lambda task: None, tmp_path, draw=False)

    assert len(made) == lines
    assert tasks[0].outcomes("")[0].tally == rounds


def test_scenario_that_breaks_a_lock_of_the_corpus_is_run_for_its_promise():
    """Each scenario that breaks a lock of the corpus tests, or lists as breakable, a promise that this lock breaks."""
    for name, expected in EXPECTED.items():
        for one in (scenarios.load(run.split()[0]) for run in expected.get("runs", ()) if "breaks" in expected):
            assert {one.tests.name, *one.may_break} & {*expected["breaks"]}, (name, one.name)

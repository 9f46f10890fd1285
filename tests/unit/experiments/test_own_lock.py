"""A lock of the user's own runs under every scenario that tests a claim of it."""

from __future__ import annotations

import pytest

from app.lock import Claim
from lab import prerequisites
from lab.errors import BadInput, ExitStatus
from lab.experiments import own_lock
from lab.experiments.own_lock import MISSING, UNCLAIMED, UNFIT, OwnCell, conduct_rounds, figures, plan, run_own, verdicts
from lab.experiments.stage_file import roundest_ms
from lab.paths import HOME, REFERENCE
from lab.report.matrix import Cell, read
from lab.report.terminal import terminal
from lab.run import environment
from lab.scenario import reader as scenarios
from lab.scenario.stages import find_stage

LUA = (HOME / "app" / "locks" / "lua.py").read_text(encoding="utf-8")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The path of a lock of the user's own: a copy of lua."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_lock.py").write_text(LUA, encoding="utf-8")
    text = 'title = "x"\ntests = "exclusive"\nrequests = 9\nusers = 3\ndanger.handovers = 1\n'
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    return "./my_lock.py"


@pytest.fixture
def conducted(monkeypatch):
    """The command lines of the runs, none of which is made: each has the verdict of its scenario's name, or is KEPT."""
    lines: list[list[str]] = []
    given: dict[str, list[str]] = {}

    def judged(cell, words, reports, servers):
        lines.append(list(words))
        cell.verdict = given[cell.scenario].pop(0) if given.get(cell.scenario) else "KEPT"
        cell.reason, cell.lost = "the reason", 3 * (cell.verdict == "BROKEN")
        cell.broken = [cell.claim] * (cell.verdict == "BROKEN")
        return cell

    monkeypatch.setattr(own_lock, "judged", judged)
    return lines, given


@pytest.mark.parametrize(
    ("least_ms", "most_ms", "ttl_ms"),
    [(2999, 3001, 3000), (2840, 3010, 3000), (2499, 2501, 2500), (29_999, 30_000, 30_000), (118, 121, 120), (77, 79, 77)],
)
def test_ttl_in_the_code_of_a_lock_is_found(least_ms, most_ms, ttl_ms):
    """The TTL that a lock set is the roundest of those that it can have set."""
    assert roundest_ms(least_ms, most_ms) == ttl_ms


def test_fewer_users():
    """A run has as many users as its scenario, or fewer where so many are asked for, and never more."""
    rush = OwnCell(find_stage("redlock"), scenarios.load("rush"), "rush")
    assert "--users" not in rush.words

    rush.users = 20
    assert rush.words[-2:] == ["--users", "20"]
    rush.users = 1000
    assert "--users" not in rush.words


def test_what_a_lock_claims_is_run(mine):
    """Each scenario runs that tests a claim of the lock and fits it; each other has the reason why it does not run."""
    stage = find_stage(mine)
    tasks = {task.scenario.name: task for task in plan([stage], ())}

    assert tasks.keys() == set(scenarios.names())
    for name, task in tasks.items():
        one = scenarios.load(name)
        assert (task.kind == UNCLAIMED) == (one.tests not in stage.claims), name
        assert bool(task.reason) == bool(task.kind), name
        if task.kind == UNFIT:
            assert one.misfit(stage)
    assert tasks["rush"].kind == ""
    assert tasks["frozen_holder"].reason == "my_lock does not claim survives_a_freeze"


def test_explicit_lease_is_a_claim_of_its_own():
    """A stage that keeps a lock to the end of the work need not claim it for a lease that the request has set."""
    stage = find_stage("watchdog")
    task = next(task for task in plan([stage], ["explicit_lease"]))

    assert Claim.held_to_the_end in stage.claims
    assert (task.kind, task.reason) == (UNCLAIMED, "watchdog does not claim held_past_an_explicit_lease")


def test_commands_of_the_runs(mine, conducted, tmp_path):
    """A run names the stage and an own scenario by whole paths, and sends as many requests as a cell of the matrix."""
    lines, _ = conducted

    run_own([mine], ["rush", "./own.toml"], jobs=1, repeat=2, out=tmp_path / "m")

    path, own = str(tmp_path / "my_lock.py"), str(tmp_path / "own.toml")
    assert lines == [
        ["rush", "--stage", path, "--requests", "1000"],
        [own, "--stage", path],
        ["rush", "--stage", path, "--requests", "1000", "--no-draw"],
        [own, "--stage", path, "--no-draw"],
    ]


@pytest.mark.parametrize(
    ("rounds", "status", "words"),
    [
        ({}, ExitStatus.GOOD, ["rush", "KEPT", "lost 0", "the reason"]),
        ({"rush": ["BROKEN", "BROKEN"]}, ExitStatus.BROKEN, ["BROKEN 2 of 2", "lost 3"]),
        ({"rush": ["KEPT", "BROKEN"]}, ExitStatus.BROKEN, ["BROKEN 1 of 2, KEPT 1 of 2", "lost 3"]),
        ({"rush": ["UNSEEN", "KEPT"]}, ExitStatus.NOTHING_SHOWN, ["UNSEEN 1 of 2"]),
        ({"rush": ["VOID", "VOID"]}, ExitStatus.NOTHING_SHOWN, ["VOID 2 of 2"]),
    ],
)
def test_worst_round_counts(mine, conducted, capsys, monkeypatch, tmp_path, rounds, status, words):
    """The exit status is 1 if any round is BROKEN, and the table shows the worst round with its figures and its reason."""
    monkeypatch.setenv("COLUMNS", "300")
    conducted[1].update(rounds)

    found = run_own([mine], ["rush"], jobs=1, repeat=2 if rounds else 1, out=tmp_path / "m")

    out = capsys.readouterr().out
    assert found == status
    assert [word for word in words if word not in out] == []
    assert f"{tmp_path}/m/index.html" in out


def test_result_has_its_own_place(mine, conducted, tmp_path):
    """The result has a folder of its own, and a page that expects nothing of the lock."""
    run_own([mine], ["rush"], jobs=1, repeat=1, out=None)

    (folder,) = (tmp_path / "reports").glob("matrix-my_lock-*")
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "my_lock under the scenarios that test a claim" in page
    assert "expected" not in page
    assert read(folder).origin.judge == environment.fingerprint(environment.JUDGE)
    assert "prove nothing" not in page


def test_reference_is_never_written_over(mine, conducted, tmp_path):
    """A place in the reference, and a folder with a matrix, are refused before the first run."""
    (tmp_path / "matrix.json").write_text("[]", encoding="utf-8")

    for out in (REFERENCE / "matrix", REFERENCE, tmp_path):
        with pytest.raises(BadInput, match="--out"):
            run_own([mine], ["rush"], jobs=1, repeat=1, out=out)
    assert conducted[0] == []


def test_what_is_left_out_is_printed(mine, conducted, capsys, monkeypatch):
    """The scenarios that are left out are printed with why; where none is left to run, the status is 3."""
    monkeypatch.setattr("lab.scenario.scenario.Scenario.misfit", lambda one, stage: "no" if one.name == "rush" else None)

    status = run_own([mine], ["rush", "frozen_holder"], jobs=1, repeat=1, out=None)

    out = capsys.readouterr().out
    assert status == ExitStatus.NOTHING_SHOWN
    assert f"my_lock: left out, because they {UNCLAIMED}: frozen_holder" in out
    assert f"my_lock: left out, because they {UNFIT}: rush" in out
    assert "rush: no" in out
    assert "nothing ran" in out


def test_missing_program_is_printed(mine, conducted, capsys, monkeypatch):
    """A scenario that needs a missing program is left out with how to install it, and the status is 4."""
    monkeypatch.setattr(prerequisites.SystemProgram, "found", lambda program: None)

    status = run_own([mine], ["rush"], jobs=1, repeat=1, out=None)

    out = capsys.readouterr().out
    assert status in (ExitStatus.CANNOT_RUN, ExitStatus.NOTHING_SHOWN)
    assert MISSING in out
    assert "redis-server is not installed" in out
    assert "nstall" in out


def test_own_lock_next_to_a_stage(mine, conducted, capsys):
    """A stage of the lab can run next to the own lock, and the table names the stage of each line."""
    run_own([mine, "lua"], ["rush"], jobs=1, repeat=1, out=None)

    out = capsys.readouterr().out
    assert [words[2].rpartition("/")[2] for words in conducted[0]] == ["my_lock.py", "lua"]
    assert "my_lock  KEPT" in out
    assert "lua      KEPT" in out


def test_figures_of_a_cell():
    """The figures of a cell are the counts that are not zero."""
    cell = Cell(stage="s", scenario="s", claim="c", verdict="BROKEN", lost=3, failed=2, rounds={"KEPT": 2, "BROKEN": 1})

    assert figures(cell) == "lost 3, failed 2"
    assert verdicts(cell) == "BROKEN 1 of 3, KEPT 2 of 3"


def test_losses_by_another_cause_are_marked():
    """A promise that was kept next to losses by another cause is no plain KEPT."""
    cell = Cell(stage="s", scenario="s", claim="c", verdict="KEPT", lost=3)

    assert verdicts(cell) == "KEPT, 3 lost otherwise"
    assert figures(cell) == "lost 3"


def test_what_is_wanted_is_run(mine):
    """A scenario that is wanted runs also where the lock does not claim what it tests."""
    (task,) = plan([find_stage(mine)], ["frozen_holder"], also=["frozen_holder"])

    assert task.kind == ""


def rounds_of(stage, scenario, *rounds):
    """A scenario whose runs had these verdicts, and broke these promises."""
    task = OwnCell(find_stage(stage), scenarios.load(scenario), scenario)
    for verdict, *broken in rounds:
        cell = task.cell()
        cell.verdict, cell.broken, cell.reason = verdict, broken, "the reason"
        task.rounds.append(cell)
    return {one.claim: one for one in task.outcomes("lab run it")}


def test_broken_promise_is_that_of_another_claim():
    """A run that broke another promise than the one under test says nothing of that one, and counts for the other."""
    found = rounds_of("lua", "slow_holder", ("BROKEN", "exclusive"), ("KEPT",), ("BROKEN", "exclusive", "releases_only_its_own"))

    assert found["releases_only_its_own"].tally == {"VOID": 1, "KEPT": 1, "BROKEN": 1}
    assert found["exclusive"].tally == {"BROKEN": 2, "VOID": 1}
    assert found["exclusive"].command == "lab run it"


def test_no_promise_is_not_broken():
    """A claim that the lock does not make is never broken, also where its answers contradict what was done."""
    found = rounds_of("lua", "work_outlasts_ttl", ("BROKEN", "held_to_the_end"), ("ADMITTED",), ("BROKEN", "exclusive"))

    assert found["held_to_the_end"].tally == {"ADMITTED": 2, "VOID": 1}
    assert found["exclusive"].tally == {"VOID": 2, "BROKEN": 1}
    assert rounds_of("lua", "rush") == {}


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
    """A run that showed nothing is made once more, but only where others show something; its verdict is not chosen."""
    made, verdicts_given = conducted
    verdicts_given["rush"] = list(given)
    tasks = plan([find_stage(mine)], ["rush"])

    conduct_rounds(tasks, 3, 1, terminal(), tmp_path, draw=False)

    assert len(made) == lines
    assert tasks[0].outcomes("")[0].tally == rounds

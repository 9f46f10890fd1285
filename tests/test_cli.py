"""The command line, as far as nothing has to be started: listings, refusals, exit statuses."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from app.locks import stages
from lab import cli, prerequisites
from lab.scenario.scenario import names


@pytest.fixture
def said(monkeypatch, capsys, tmp_path):
    """Call the console script in this process; returns (exit status, output, errors)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "500")

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lab", *words])
        with pytest.raises(SystemExit) as ending:
            cli.main()
        captured = capsys.readouterr()
        return ending.value.code, captured.out, captured.err

    return call


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "rush", "--stage", "lau"), ["no stage 'lau'", "Did you mean 'lua'", "watchdog"]),
        (("run", "rsh", "--stage", "lua"), ["no scenario 'rsh'", "Did you mean 'rush'", "one_replica"]),
        (("rnu",), ["no command 'rnu'", "Did you mean 'run'", "ladder"]),
        (("run", "rush", "--stag", "lua"), ["--stag", "--stage"]),
        (("run", "rush"), ["--stage"]),
        (("run", "rush", "--stage", "lua", "--requests", "0"), ["requests", "at least 1"]),
        (("run", "rush", "--stage", "lua", "--requests", "many"), ["--requests", "many"]),
        (("run", "rush", "--stage", "nowhere.py"), ["nowhere.py", "watchdog"]),
        (("run", "rush", "--stage", ""), ["no stage was named", "STAGE=lua"]),
        (("diff", "ttl", "uid"), ["no stage 'uid'", "Did you mean 'uuid'"]),
        (("diff", "none"), ["follows no other stage"]),
        (("check", "yesterday"), ["no run 'yesterday'"]),
        (("report", "yesterday"), ["no run 'yesterday'"]),
        (("report", "yesterday", "--out", "there"), ["--out", "several runs"]),
        (("compare", "yesterday", "today"), ["no run 'yesterday'", "'latest'"]),
        (("compare",), ["two or more"]),
        (("sweep", "rety"), ["no sweep 'rety'", "Did you mean 'retry'", "ttl"]),
        (("sweep", "ttl", "--stage", "lau"), ["no stage 'lau'", "Did you mean 'lua'"]),
        (("sweep", "ttl", "--stage", "none"), ["a time to live", "none has none"]),
        (("sweep", "retry", "--values", "1,two"), ["--values", "'two'"]),
        (("sweep", "retry", "--values", "0.5"), ["retry_ms", "whole number"]),
        (("sweep", "retry", "--values", "9000"), ["ttl_ms=3000", "retry_ms=9000"]),
        (("sweep", "retry", "--repeats", "0"), ["--repeats", "0"]),
        (("bench", "speed"), ["no measurement 'speed'", "journals"]),
        (("clean", "--keep", "-1"), ["--keep", "-1"]),
        (("up", "--stage", "lua,lau"), ["no stage 'lau'"]),
    ],
)
def test_what_cannot_be_meant_is_refused_with_status_2_and_the_choices(said, words, told):
    status, out, err = said(*words)

    assert (status, out) == (2, "")
    for text in told:
        assert text in err
    assert "Traceback" not in err


def test_a_missing_program_is_named_with_how_to_install_it_and_status_4(said, monkeypatch, tmp_path):
    monkeypatch.setattr(prerequisites, "search_path", lambda: str(tmp_path))

    status, _, err = said("run", "rush", "--stage", "lua")

    assert status == 4
    assert "redis-server is not on this machine" in err
    assert "nstall" in err
    assert list(tmp_path.glob("reports/runs/*")) == []


def test_a_missing_statistics_package_is_named_before_a_sweep_begins(said, monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    status, out, err = said("sweep", "retry")

    assert (status, out) == (4, "")
    assert "scipy is not installed" in err
    assert list(tmp_path.iterdir()) == []


def test_the_ladder_lists_every_stage_with_its_idea(said):
    status, out, _ = said("stages")

    assert status == 0
    for stage in stages().values():
        assert stage.name in out
        assert stage.story.idea in out


def test_the_diff_of_two_stages_shows_the_lines_that_matter(said):
    _, out, _ = said("diff", "uuid", "lua")

    assert "+        self.release_script([self.key], [self.token])" in out
    assert "-        if self.store.get(self.key) == self.token:" in out
    assert said("diff", "lua")[1] == out


def test_every_scenario_is_listed_with_its_danger(said):
    _, out, _ = said("scenarios")

    for name in names():
        assert name in out
    assert "handovers between replicas ≥ 100" in out


def test_the_doctor_says_what_is_there(said):
    _, out, _ = said("doctor")

    assert "redis-server" in out
    assert "nginx" in out


def test_help_imports_nothing_heavy():
    heavy = ("matplotlib", "locust", "redis", "rich", "flask", "numpy")
    code = f"import sys; from lab import cli; print([name for name in {heavy} if name in sys.modules])"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_matrix_shows_a_stage_without_its_server_as_not_run(said, monkeypatch, tmp_path):
    monkeypatch.setattr(prerequisites.Program, "found", lambda program: None if program.name == "mariadbd" else "/somewhere")

    status, out, _ = said("matrix", "--stage", "mysql_insert", "--out", str(tmp_path / "m"))

    table = (tmp_path / "m" / "matrix.md").read_text(encoding="utf-8")
    assert status == 4
    assert "for want of mariadbd" in out
    assert "nstall" in out
    assert table.count("| not run |") > 5
    assert "kept" not in table


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ('claims("exclusiv")', ["no claim 'exclusiv'", "Did you mean 'exclusive'"]),
        ("1 / 0", ["cannot be read", "ZeroDivisionError"]),
        ("1 +", ["holds no stage", "invalid syntax"]),
        ("pass", ["no STAGE"]),
    ],
)
def test_a_mistake_in_somebodys_own_stage_is_bad_input_and_not_a_broken_lock(said, tmp_path, wrong, words):
    (tmp_path / "mine.py").write_text(f"from app.lock import claims\n{wrong}\n", encoding="utf-8")

    status, _, errors = said("run", "rush", "--stage", "./mine.py")

    assert status == 2
    assert [word for word in words if word not in errors] == []


def test_the_ladder_is_listed_with_nothing_cut_off(said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    _, out, _ = said("stages")

    told = " ".join(out.replace("│", " ").split())
    for stage in stages().values():
        assert " ".join(stage.story.idea.split()[:6]) in told
        assert [claim.name for claim in stage.claims if claim.name not in told] == []

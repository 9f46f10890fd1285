"""Test the command line without servers: its lists, its refusals and its exit statuses."""

import errno
import json
import runpy
import socket
import subprocess
import sys
from dataclasses import replace

import click
import pytest

from app.locks import stages
from lab import cli, prerequisites
from lab.errors import MEANINGS, ExitStatus
from lab.experiments import experiment
from lab.interrupts import Interrupted
from lab.paths import HOME
from lab.report import matrix
from lab.run import environment
from lab.scenario.fault import kind_of
from lab.scenario.options import OPTIONS
from lab.scenario.reader import load, names
from lab.scenario.requirements import MEASURES
from lab.scenario.stages import find_stage
from tests.builders import made_run
from tests.command import lab as started
from tests.every import every


@pytest.fixture
def run_lab(monkeypatch, capsys, tmp_path):
    """Return a function that calls the console script in this process, and returns (exit status, output, errors)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "500")

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lab", *words])
        with pytest.raises(SystemExit) as ending:
            cli.main()
        captured = capsys.readouterr()
        return ending.value.code, captured.out, captured.err

    return call


@every(
    "words, expected",
    [
        (("run", "rush", "--stage", "lau"), ["there is no stage 'lau'. Did you mean 'lua'? `lab list stages` lists all.\n"]),
        (("run", "rsh", "--stage", "lua"), ["no scenario 'rsh'. Did you mean 'rush'? `lab list scenarios` lists all.\n"]),
        (("run", "split_vote", "--stage", "lua"), ["error: there is no scenario 'split_vote'. The nearest: "]),
        (("stages",), ["error: there is no command 'stages'. The nearest: list stages, "]),
        (("rnu",), ["error: there is no command 'rnu'. Did you mean 'run'? `lab --help` lists all.\n"]),
        (("run", "rush", "--stage", "lua", "--requests", "0"), ["requests", "at least 1"]),
        (("run", "rush", "--stage", "nowhere.py"), ["nowhere.py", "`lab list stages`"]),
        (("run", "rush", "--stage", ""), ["no stage was named", "STAGE=lua"]),
        (("test", "nopackage:Lock"), ["nopackage cannot be imported: ModuleNotFoundError"]),
        (("test", "app.lock:Lock"), ["the lab has a package 'app' of its own"]),
        (("test", "./none.py"), ["there is no file './none.py'"]),
        (("test", "lua", "--claims", "exclusive"), ["lua has its claims in its STAGE"]),
        (("ui", "--port", "0", "--stage", "lau"), ["no stage 'lau'", "Did you mean 'lua'"]),
        (("diff", "ttl", "uid"), ["no stage 'uid'", "Did you mean 'uuid'"]),
        (("diff", "none"), ["follows no other stage"]),
        (("check", "yesterday"), ["no run 'yesterday'"]),
        (("report", "yesterday"), ["no run 'yesterday'", "latest"]),
        (("experiment", "rety"), ["no command 'rety'. Did you mean 'retry'? `lab experiment --help` lists all.\n"]),
        (("experiment", "ttl", "--stage", "none"), ["a lock with a time to live", "the stage none does not have it"]),
        (("experiment", "retry", "--values", "1,two"), ["--values", "'1,two'"]),
        (("experiment", "locks", "--values", "one clint"), ["--values", "'one clint'", "'one client'"]),
        (("experiment", "locks", "--stage", "redis-py"), ["compares with 'redis-py'"]),
        (("experiment", "locks", "--stage", "none"), ["the stage none has no store"]),
        (("experiment", "retry", "--values", "0.5"), ["retry_ms", "whole number"]),
        (("experiment", "retry", "--values", "9000"), ["ttl_ms = 3000", "retry_ms = 9000"]),
        (("run", "rush", "--stge", "lua"), ["error: there is no option '--stge'. Did you mean '--stage'?"]),
        (("--xyz",), ["error: there is no option '--xyz'.", "`lab --help` lists all"]),
        (("run", "rush"), ["error: --stage is missing. `lab run --help`"]),
        (("run", "rush", "more", "--stage", "lua"), ["error: Got unexpected extra argument (more). `lab run --help`"]),
        (("run", "rush", "--stage", "lua", "--ttl-ms", "1.5"), ["error: --ttl-ms must be a whole number, at least 1", "not 1.5"]),
        (
            ("run", "rush", "--stage", "lua", "--run-time", "5x"),
            ["error: --run-time must be a time such as 30s, 2m or 1h30m", "not 5x"],
        ),
        (("run", "rush", "--stage", "lua", "--run-time", "25h"), ["error: --run-time must be a time", ", not 25h"]),
        (("run", "rush", "--stage", "lua", "--load", "nowhere.py"), ["error: --load: there is no file 'nowhere.py'"]),
        (("explore", "lua", "--clients", "99"), ["error: --clients must be a whole number, at least 1, at most 8, not 99\n"]),
        (("explore",), ["no stage was named"]),
        (("libraries", "install", "redis"), ["no library 'redis'", "`lab libraries` lists all"]),
        (("up", "--stage", "lau"), ["no stage 'lau'"]),
        (("experiment", "ladder", "--out", str(HOME / "LICENSE" / "below")), [f"--out: {HOME / 'LICENSE'} is a file"]),
        (
            ("run", "rush", "--stage", "lua", "--replicas", "100000"),
            ["--replicas must be at most", "on this machine", "not 100000"],
        ),
        (("run", "rush", "--stage", "lua", "--ttl-ms", "\u0663\u0660"), ["--ttl-ms must be written with the digits 0 to 9"]),
        (("run", "./nowhere.toml", "--stage", "lua"), ["no file 'nowhere.toml'", "`lab list scenarios`"]),
        (("experiment", "matrix", "--stage", "./mine.py"), ["--stage ./mine.py: the matrix has the", "`lab test ./mine.py`"]),
        (("experiment", "matrix", "--stage", "lua", "--scenario", "rsh"), ["no scenario 'rsh'", "'rush'"]),
        (("check",), ["there is no run yet", ".venv/bin/lab run rush --stage lua"]),
        (("check", str(HOME)), [f"{HOME} is not a run: it has no run.json"]),
        (("run", "rush", "--stage", "lua", "--rate", "1e-9"), ["--rate must be a number, above 0.5", "not 1e-9"]),
        (("explore", "--replay", ""), ["'' is not a schedule; write STAGE:EVENTS"]),
        (("experiment", "matrix", "--out", "/proc/x"), ["--out: the folder /proc cannot be written to"]),
        (("explore", "--replay", "none:AB", "--pauses", "1", "lua"), ["--replay does not go with STAGE, --pauses\n"]),
        (("explore", "--keep", "--json"), ["--keep does not go with --json\n"]),
        (("experiment", "--json", "ladder"), ["--json is of the list, and not of `lab experiment ladder`\n"]),
        (("ui", "--host", "999.1.1.1"), ["--host: there is no address 999.1.1.1"]),
        (("ui", "--host", "192.0.2.1"), ["--host: this machine does not have the address 192.0.2.1"]),
    ],
)
def test_bad_input_has_status_2(run_lab, words, expected):
    """Wrong input is refused in one line with status 2, and with the nearest choice or the command that lists the choices."""
    status, out, err = run_lab(*words)

    assert (status, out) == (2, "")
    for text in expected:
        assert text in err
    assert (err.count("\n"), "Traceback" in err) == (1, False)


@pytest.mark.parametrize("command", ["serve", "ui"])
def test_taken_port(run_lab, command):
    """A port that is taken is named with the option for another one."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, err = run_lab(command, "--port", str(port))

    assert status == 2
    assert f"port {port} of 127.0.0.1 is not available: address already in use" in err
    assert "--port" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("retry.csv", "", ["folder is not a run: it has no run.json"]),
        ("run.json", "{", ["run.json cannot be read"]),
        ("run.json", "\xff", ["run.json cannot be read"]),
        ("run.json", '{"schema": 1}', ["run.json cannot be read", "`run`"]),
        (
            "run.json",
            '{"schema": 9, "run": "", "scenario": {}, "stage": {}, "command": "", "commit": "", "started_utc": ""}',
            ["run.json has the schema 9", "reads schema 1"],
        ),
    ],
)
def test_check_of_no_run(run_lab, tmp_path, file, content, words):
    """A folder that is no run, or whose record cannot be read, is refused with status 2 and the reason."""
    path = tmp_path / "folder" / file
    path.parent.mkdir(parents=True)
    path.write_text(content, encoding="latin-1")

    status, out, err = run_lab("check", "folder")

    assert (status, out) == (2, "")
    assert [word for word in words if word not in err] == []


def test_check_without_writing(run_lab, tmp_path):
    """A run in a place that cannot be written is judged all the same, and the command reports that it wrote nothing."""
    folder = made_run(tmp_path / "made")
    expected = run_lab("check", "made")
    (folder / "losses.jsonl").unlink()
    (folder / "losses.jsonl").mkdir()  # root may write to a read-only folder, but not to this

    status, out, err = run_lab("check", "made")

    assert (status, out) == expected[:2]
    assert err == f"note: nothing was written: {folder}/losses.jsonl: Is a directory\n"
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_error_of_the_lab_is_not_broken(run_lab, monkeypatch):
    """An error in the lab itself has a sentence, and a status of its own: status 1 means a broken promise and nothing else."""
    monkeypatch.setattr("lab.commands.check.check_again", lambda *given: {}["gone"])

    status, _, err = run_lab("check")

    assert status == ExitStatus.LAB_FAILED
    assert err.endswith("error: the lab itself failed: KeyError: 'gone'; this says nothing about a stage\n")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "reports/a"), "reports/a: No space left on device"),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system"),
        (FileExistsError(errno.EEXIST, "File exists", "reports"), "reports: File exists"),
    ],
)
def test_place_that_cannot_be_written(run_lab, monkeypatch, error, sentence):
    """A place that cannot be written gives one sentence without a traceback, and a status of its own."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("lab.commands.check.check_again", fail)

    assert run_lab("check") == (ExitStatus.CANNOT_WRITE, "", f"error: {sentence}\n")


def test_missing_program_has_status_4(run_lab, monkeypatch, tmp_path):
    """A missing program is named with the command that installs it, and the status is 4."""
    monkeypatch.setattr(prerequisites, "search_path", lambda: str(tmp_path))

    status, _, err = run_lab("run", "rush", "--stage", "lua")

    assert status == 4
    assert "redis-server is not installed" in err
    assert "nstall" in err
    assert list(tmp_path.glob("reports/runs/*")) == []


def test_stages_a_line_each(run_lab):
    """``lab list stages`` prints one line for each stage, of at most 80 columns, and cuts no title in the middle of a clause."""
    status, out, _ = run_lab("list", "stages")

    assert status == 0
    for stage in stages().values():
        (line,) = [line for line in out.splitlines() if line.split()[:1] == [stage.name]]
        assert line.split()[1] == stage.story.title.split()[0]
        assert not line.endswith("…")
    assert max(map(len, out.splitlines())) <= 80


@every("name", stages)
def test_one_stage(run_lab, name):
    """``lab list stages NAME`` prints everything that the stage's docstring holds, in lines of at most 80 columns."""
    status, out, _ = run_lab("list", "stages", name)

    stage, expected = stages()[name], " ".join(out.split())
    assert status == 0
    for text in (stage.story.title, stage.story.problem, stage.story.idea, *stage.story.still, *stage.story.see_it):
        assert " ".join(text.split()) in expected
    assert [claim for claim in stage.claims if f"{claim.name}: {claim.value}" not in expected] == []
    assert max(map(len, out.splitlines())) <= 80


def test_diff_of_two_stages(run_lab):
    """The diff shows the changed lines of two stages; with one name, it compares with the stage that this one follows."""
    _, out, _ = run_lab("diff", "uuid", "lua")

    assert "+        self.release_script([self.key], [self.token])" in out
    assert "-        if self.store.get(self.key) == self.token:" in out
    assert run_lab("diff", "lua")[1] == out


def test_scenarios_a_line_each(run_lab):
    """``lab list scenarios`` prints one line for each scenario, with its whole title, of at most 80 columns."""
    _, out, _ = run_lab("list", "scenarios")

    lines = [line.split(maxsplit=1) for line in out.splitlines()[: len(names())]]
    assert lines == [[name, load(name).title] for name in names()]
    assert max(map(len, out.splitlines())) <= 80


@every("name", names)
def test_one_scenario(run_lab, name):
    """``lab list scenarios NAME`` prints its title, claim, faults and danger, in lines of at most 80 columns."""
    _, out, _ = run_lab("list", "scenarios", name)

    one, expected = load(name), " ".join(out.split())
    danger = [f"{name} ≥ {least} ({MEASURES[name]})" for name, least in one.danger.items()]
    faults = [f"{kind_of(fault)} at {fault.at}" for fault in one.faults]
    for text in (one.title, one.tests.name, one.tests.value, *danger, *faults):
        assert " ".join(text.split()) in expected
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(("lacking", "words"), [((), "every stage can run"), (("mysql",), "all there for locks in Redis")])
def test_the_doctor_says_all_there(run_lab, monkeypatch, lacking, words):
    """The doctor lists programs. If all are installed it says so, and also if only servers of another store are missing."""
    monkeypatch.setattr("lab.commands.doctor.missing", lambda stores=(): [one for one in lacking if one in stores])
    env, none = (prerequisites.SystemProgram(name, {}, "a test") for name in ("env", "nothing-like-this"))
    monkeypatch.setattr(prerequisites, "PROGRAMS", [env, none, replace(none, files=(str(HOME / "LICENSE"),))])

    out = run_lab("doctor")[1].splitlines()

    assert [line.split()[:2] for line in out[2:8:2]] == [["env", "env"], [none.name, "missing"], [none.name, "present"]]
    assert words in out[-1]
    assert [one["found"].split()[0] for one in json.loads(run_lab("doctor", "--json")[1])[1:]] == ["env", "missing", "present"]


@every(
    ("line", "names"),
    [
        (("run", "rush", "--stage", "zook"), "zookeeper"),
        (("run", "ru"), "rush"),
        (("expl",), "explore"),
        (("list", "stages", "zook"), "zookeeper"),
    ],
)
def test_the_shell_completes_names(tmp_path, line, names):
    """A shell that completes a word gets the names of commands, scenarios and stages, and nothing else."""
    words = {"COMP_WORDS": " ".join(("lab", *line)), "COMP_CWORD": str(len(line)), "_LAB_COMPLETE": "bash_complete"}
    done = started(cwd=tmp_path, env=words)

    assert (done.status, done.err, done.out.splitlines()[0]) == (0, "", f"plain,{names}")


def test_help_lists_the_experiments(run_lab):
    """Each experiment is in the help of its command and in its list, with its question."""
    titles = {name: experiment.load(name).en.title for name in experiment.names()}
    for words in (["--help"], []):
        found = " ".join(run_lab("experiment", *words)[1].split())
        assert [name for name, title in titles.items() if f"{name} {title}" not in found] == []
    assert titles.items() <= {one["name"]: one["title"] for one in json.loads(run_lab("experiment", "--json")[1])}.items()


@every("words", [("list", "stages"), ("list", "scenarios"), ("experiment",), ("libraries",), ("libraries", "failures")])
def test_each_list_is_json_too(run_lab, words):
    """Each list is also printed as JSON, with the same names in the same order."""
    listed = [line.split()[0] for line in run_lab(*words)[1].splitlines() if line.strip()]
    names = [one["name"] for one in json.loads(run_lab(*words, "--json")[1])]

    assert len(names) > 5
    assert [name for name in listed if name in names] == names


def test_a_group_without_a_command(run_lab):
    """`lab` and `lab list` without a command print their help as an error, with status 2."""
    for words in ((), ("list",)):
        status, out, err = run_lab(*words)
        assert (status, out, err.startswith(f"Usage: {' '.join(('lab', *words))} [OPTIONS] COMMAND")) == (2, "", True)


def test_matrix_without_a_server(run_lab, monkeypatch, tmp_path):
    """The matrix shows a stage whose server is missing as not run."""
    monkeypatch.setattr(
        prerequisites.SystemProgram, "found", lambda program: None if program.name == "mariadbd" else "/somewhere"
    )
    monkeypatch.setattr(environment, "versions", dict)
    status, out, _ = run_lab("experiment", "matrix", "--stage", "mysql_insert", "--out", str(tmp_path / "m"))

    cells = matrix.read(tmp_path / "m").cells
    assert status == 4
    assert "because mariadbd is missing" in out
    assert "nstall" in out
    assert sum(matrix.in_short(cell) == "not run" for cell in cells) > 5
    assert {cell.verdict for cell in cells} == {""}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ('claims("exclusiv")', ["no claim 'exclusiv'", "Did you mean 'exclusive'"]),
        ('Stage(Lock, follows="lua", gains="fiar")', ["no claim 'fiar'", "Did you mean 'fair'"]),
        ("1 / 0", ["./mine.py cannot be loaded: line 2: ZeroDivisionError"]),
        ("1 +", ["./mine.py cannot be loaded: line 2: invalid syntax"]),
        ("import nowhere", ["./mine.py cannot be loaded: line 2: ModuleNotFoundError", "nowhere"]),
        ('{}["exclusive"]', ["./mine.py cannot be loaded: line 2: KeyError"]),
        ("pass", ["error: ./mine.py is not a stage: no STAGE = Stage(…) in it"]),
        ("STAGE = Stage(lock=Lock, store='rdis')", ["error: ./mine.py is not a stage: store = 'rdis'", "mean 'redis'"]),
        ("raise SystemExit(0)", ["error: ./mine.py cannot be loaded: line 2: SystemExit: 0\n"]),
        ("raise KeyboardInterrupt", ["./mine.py cannot be loaded: line 2: KeyboardInterrupt:"]),
        ("raise BaseException('odd')", ["./mine.py cannot be loaded: line 2: BaseException: odd"]),
        ("raise ValueError('two\\nlines')", ["./mine.py cannot be loaded: line 2: ValueError: two\n"]),
    ],
)
def test_error_in_an_own_stage(run_lab, tmp_path, wrong, words):
    """An error in a user's own stage is bad input and not a broken lock, even if it would end the lab with status 0."""
    (tmp_path / "mine.py").write_text(f"from app.lock import Lock, Stage, claims\n{wrong}\n", encoding="utf-8")

    status, out, errors = run_lab("run", "rush", "--stage", "./mine.py")

    assert (status, out) == (2, "")
    assert [word for word in words if word not in errors] == []
    assert errors.count("mine.py") == 1
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("my lock.py", "the file's name is the name of the stage; use at most 64 letters"),
        ("lua.py", "the lab has a stage 'lua' of its own"),
    ],
)
def test_name_of_an_own_stage(run_lab, tmp_path, name, words):
    """A file whose name cannot be the name of a stage is refused."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text((HOME / "app" / "locks" / "lua.py").read_text(encoding="utf-8"), encoding="utf-8")

    status, _, errors = run_lab("run", "rush", "--stage", f"./{name}")

    assert status == 2
    assert words in errors


def test_stage_of_the_shelf_that_ends_the_lab(run_lab, monkeypatch, tmp_path):
    """If a file in the folder of the stages would end the lab, the error names this file."""
    file = tmp_path / "zz.py"
    file.write_text("\nraise SystemExit(0)\n", encoding="utf-8")
    monkeypatch.setattr("lab.scenario.stages.SHELF", tmp_path)
    monkeypatch.setattr("lab.commands.listing.print_stages", lambda *_: runpy.run_path(str(file)))

    assert run_lab("list", "stages") == (2, "", f"error: {file} cannot be loaded: line 2: SystemExit: 0\n")


def test_print_of_an_own_stage(tmp_path):
    """A stage file that prints while it is read does not write to the standard output, which may be JSON."""
    text = (HOME / "app" / "locks" / "lua.py").read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(f"print('hello')\n{text}", encoding="utf-8")
    find = "from lab.scenario.stages import find_stage; find_stage('./mine.py'); print('{}')"

    done = subprocess.run([sys.executable, "-c", find], capture_output=True, text=True, check=True, cwd=tmp_path)

    assert done.stdout == "{}\n"
    assert "hello" in done.stderr


def test_ctrl_c_while_a_stage_is_read(monkeypatch):
    """An interrupt of the user while a stage file is read is no error of the file."""

    def interrupted(name: str) -> None:
        raise Interrupted("SIGINT")

    monkeypatch.setattr("app.locks.stage", interrupted)

    with pytest.raises(Interrupted):
        find_stage("./mine.py")


def test_exit_statuses(run_lab):
    """The exit statuses have the numbers on which scripts rely; the help of a run and the documents list them."""
    status, out, _ = run_lab("run", "--help")

    assert {status.name: int(status) for status in ExitStatus} == {
        "GOOD": 0,
        "BROKEN": 1,
        "BAD_INPUT": 2,
        "NOTHING_SHOWN": 3,
        "CANNOT_RUN": 4,
        "CANNOT_WRITE": 5,
        "LAB_FAILED": 6,
        "INTERRUPTED": 130,
        "OUTPUT_CLOSED": 141,
    }
    assert set(MEANINGS) == set(ExitStatus)
    assert status == 0
    for status, meaning in MEANINGS.items():
        assert f"{status:<5}{meaning}" in out


def words_of_commands(group, before=()):
    """Yield the words that call each command, and each command of a group."""
    for name in group.list_commands(None):
        yield (*before, name)
        if isinstance(inner := group.get_command(None, name), click.Group):
            yield from words_of_commands(inner, (*before, name))


def test_help_is_one_screen(run_lab, monkeypatch):
    """The help has each command once, in one screen."""
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run_lab("--help")

    assert [title for title in cli.GROUPS if f"\n{title}:\n" in out] == list(cli.GROUPS)
    assert sorted(cli.lab.list_commands(None)) == sorted((*cli.lab.commands, *cli.ELSEWHERE))
    assert [name for name in cli.lab.list_commands(None) if out.count(f"\n  {name}  ") != 1] == []
    assert len(out.splitlines()) <= 45


def test_help_fits_eighty_columns(run_lab, monkeypatch):
    """The help of every command fits 80 columns, and its first sentence is not cut."""
    monkeypatch.setenv("COLUMNS", "80")

    for words in ((), *words_of_commands(cli.lab)):
        _, text, _ = run_lab(*words, "--help")
        assert [line for line in text.splitlines() if len(line) > 80] == []
        assert "..." not in text.partition("Options:")[2].replace("[ARGS]...", "")


def test_up_has_no_option_of_the_load(run_lab):
    """``lab up`` has no option of the load, because it sends none."""
    _, out, _ = run_lab("up", "--help")

    found = {name for name, option in OPTIONS.items() if option.flag in out}
    assert found == {"replicas", "ttl_ms", "work_ms", "stock", "retry_ms", "wait_ms"}

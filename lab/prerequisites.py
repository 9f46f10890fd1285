"""Find the installed programs and their versions, and tell how to install missing ones. Standard library only, for the set-up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.errors import MissingPackage, MissingProgram

# folders of servers; Debian has one for each version of PostgreSQL, and the newest version comes first
POSTGRESQL = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), key=lambda name: (len(name), name), reverse=True)
SERVER_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin", *POSTGRESQL)


@dataclass(frozen=True)
class SystemProgram:
    """A program of the system that the lab needs."""

    name: str
    # the package, by package manager
    packages: dict[str, str]
    # its use, in words
    needed_for: str
    # the flag that prints its version
    version_flag: str = "--version"
    # only stages with this store need it; empty if all need it
    store: str = ""
    # its path on each system, if it is not a command (a Java archive, a package of Debian)
    files: tuple[str, ...] = ()

    def found(self) -> str | None:
        """Return the path of the program; None if it is not installed."""
        return next((file for file in self.files if os.path.exists(file)), None) or shutil.which(self.name, path=search_path())  # noqa: PTH110 - as which does


def _everywhere(package: str, **exceptions: str) -> dict[str, str]:
    return {manager: exceptions.get(manager, package) for manager in ("apt", "dnf", "brew")}


ZOOKEEPER_JARS = ("/usr/share/java/zookeeper.jar", "/opt/homebrew/opt/zookeeper/libexec/lib/zookeeper.jar")
FAKETIMES = tuple(
    f"/usr/lib/{place}/libfaketime.so.1" for place in ("x86_64-linux-gnu/faketime", "aarch64-linux-gnu/faketime", "faketime")
)
UNSYNCED_PAGES = "cachestat"  # scenarios with a loss of power need it: a system call, not a program
CLOCKS = "clocks"  # in place of a store, for programs of scenarios with clocks that jump
LANGUAGES = "languages"  # for programs of the tests of workers
PHP = "php"  # for programs of the PHP locks in libraries/
BROWSER = "browser"  # for programs of the tests of the lab's pages
PROGRAMS = (
    SystemProgram("redis-server", _everywhere("redis", apt="redis-server"), "the store of the lock and of the counter"),
    SystemProgram("nginx", _everywhere("nginx"), "the load balancer in front of the replicas", version_flag="-v"),
    SystemProgram(
        "mariadbd", _everywhere("mariadb-server", brew="mariadb"), "the stages whose lock is in a database", store="mysql"
    ),
    SystemProgram(  # on Debian with initdb and pg_stat_statements
        "postgres",
        _everywhere("postgresql", dnf="postgresql-server postgresql-contrib", brew="postgresql@15"),
        "the locks of libraries in PostgreSQL",
        store="postgresql",
    ),
    SystemProgram("etcd", _everywhere("etcd", apt="etcd-server"), "the stages whose lock is in etcd", store="etcd"),
    SystemProgram(
        "java",
        _everywhere("java-17-openjdk-headless", apt="default-jre-headless", brew="openjdk"),
        "ZooKeeper, which runs on Java",
        store="zookeeper",
    ),
    SystemProgram(
        "zookeeper.jar",
        _everywhere("zookeeper", apt="libzookeeper-java"),
        "the stages whose lock is in ZooKeeper",
        store="zookeeper",
        files=ZOOKEEPER_JARS,
    ),
    SystemProgram(
        "libfaketime.so.1", _everywhere("libfaketime"), "the scenarios in which clocks jump", store=CLOCKS, files=FAKETIMES
    ),
    SystemProgram("node", _everywhere("nodejs", brew="node"), "locks in JavaScript", store=LANGUAGES),
    SystemProgram("php", _everywhere("php-cli", brew="php"), "locks in PHP", store=LANGUAGES),
    *(
        SystemProgram(name, {"apt": name}, "locks of libraries in PHP", store=PHP, files=(f"/var/lib/dpkg/info/{name}.list",))
        for name in ("php-cli", "php-redis", "php-symfony-lock", "php-illuminate-cache", "php-illuminate-redis")
    ),
    SystemProgram(  # on Debian also the one without windows, in which the tests take less time
        "chromium", _everywhere("chromium", apt="chromium chromium-headless-shell"), "the tests in a real browser", store=BROWSER
    ),
)

EXTRAS = {  # the packages that a plain `lab test` does not need, by their extra in pyproject.toml
    "charts": ("matplotlib",),
    "class": ("segno",),
    "stores": ("etcd3gw", "kazoo", "psycopg", "pymysql", "requests", "sqlalchemy"),
}


def lacking(error: BaseException) -> MissingPackage | None:
    """Return an error for the user if an import of a package of an extra failed; None for any other error."""
    for extra, packages in EXTRAS.items():
        if isinstance(error, ModuleNotFoundError) and error.name in packages:
            return MissingPackage(f"the package {error.name} is not installed. Install it with: pip install 'lock-lab[{extra}]'")
    return None


def search_path() -> str:
    """Return the folders in which programs are searched: this Python's folder, the folders of PATH, and folders of servers."""
    own = str(Path(sys.executable).parent)
    return os.pathsep.join([own, os.environ.get("PATH", os.defpath), *SERVER_FOLDERS])


def program(name: str) -> str:
    """Return the path of a program. Raises MissingProgram, with how to install it."""
    path = shutil.which(name, path=search_path())
    if path is None:
        raise MissingProgram(f"{name} is not installed. {how_to_install(name)}")
    return path


def manager() -> str | None:
    """Return the system's package manager: apt, dnf or brew; None if none of them is installed."""
    managers = {"apt": "apt-get", "dnf": "dnf", "brew": "brew"}
    return next((name for name, program in managers.items() if shutil.which(program, path=search_path())), None)


def install_line(programs: list[str]) -> str:
    """Return the command that installs these programs here, or on Debian if the package manager is unknown."""
    by = manager() or "apt"
    by_name = {program.name: program for program in PROGRAMS}
    packages = " ".join(by_name[name].packages[by] if name in by_name else name for name in programs)
    sudo = "" if by == "brew" or os.geteuid() == 0 else "sudo "
    lean = "-y --no-install-recommends " if by == "apt" else "-y " if by == "dnf" else ""
    return f"{sudo}{by if by != 'apt' else 'apt-get'} install {lean}{packages}"


def how_to_install(name: str) -> str:
    """Return one sentence, for an error message, on how to install a program."""
    if name == UNSYNCED_PAGES:
        return "It is a system call of Linux 6.5 or newer, for files on the file system of a disk: not on tmpfs, not on overlay."
    known = next((program for program in PROGRAMS if program.name == name), None)
    if known is None:
        by_hand = f"'{sys.executable} -m pip install {name}'"
        return f"It is one of the lab's Python packages: run 'make setup' in a clone of the project, or {by_hand}."
    if (by := manager()) is not None and by not in known.packages:
        return "It is a package of Debian and Ubuntu."
    if manager() is None:
        return f"Install it with your system's package manager (Debian, Ubuntu: {install_line([name])})."
    return f"Install it with: {install_line([name])}"


def missing(stores: Iterable[str] = ()) -> list[str]:
    """Return the missing programs that every stage needs, or that stages with one of these stores need."""
    return [program.name for program in PROGRAMS if (not program.store or program.store in stores) and not program.found()]


def examine() -> list[tuple[str, str, str]]:
    """Return each program's name, its version (or ``missing``), and its use or how to install it."""
    rows = [("python", sys.version.split()[0], "at least 3.11")]
    for program in PROGRAMS:
        path = program.found()
        if path is None:
            rows.append((program.name, "missing", f"needed for {program.needed_for}. {how_to_install(program.name)}"))
        else:
            version = "present" if path in program.files else printed_version(path, program.version_flag)
            rows.append((program.name, version, program.needed_for))
    return rows


def printed_version(path: str, flag: str) -> str:
    """Return the first line that a program prints about its version."""
    done = subprocess.run([path, flag], capture_output=True, text=True, check=False, timeout=10)
    words = (done.stdout + done.stderr).strip().splitlines()
    return words[0] if words else "present"

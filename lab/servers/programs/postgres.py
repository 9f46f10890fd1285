"""A PostgreSQL server with its data in the run's folder, and no file or socket anywhere else.

The server refuses to run as root. Then it runs as the user that Debian's package made for it, or else as nobody. That user may
not enter the folder of a run, which is root's. So it keeps one right of root: it may read and write each file.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from lab.errors import NotReady
from lab.prerequisites import program as found
from lab.servers.process import ServerProgram, last_words
from lab.servers.server import LOOPBACK

USER, DATABASE = "lab", "postgres"
OWN = "-c pg_stat_statements.track=none"  # the server does not count the lab's own statements
GONE_WITHIN_S = 20.0  # processes of a server that was killed
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # none: the path of a socket may have at most 107 characters
    "max_connections": 500,
    "shared_buffers": "32MB",
    "dynamic_shared_memory_type": "mmap",  # files in its folder: a server that is killed leaves none elsewhere
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.save": "off",
    "autovacuum": "off",  # the tables of a run are small
    "lc_messages": "C",
}
# a server that was killed syncs its files before it serves; a thousand fsyncs, one a file, take longer than a run on a slow disk
if sys.platform == "linux":
    OPTIONS["recovery_init_sync_method"] = "syncfs"


@dataclass(frozen=True)
class Postgres(ServerProgram):
    """A server in which each COMMIT is on disk before it is answered (synchronous_commit=on, the default)."""

    name: str = "postgresql"
    # kills its processes, and removes the shared memory that a SIGKILL would leave behind
    stop_signal = signal.SIGQUIT

    @property
    def executable(self) -> str:
        """Return the program that is started: as root one that becomes another user, and then the server."""
        return "setpriv" if _is_root() else "postgres"

    def argv(self, port: int, folder: Path) -> list[str]:
        data = folder / "data"
        if data.exists():
            _wait_until_left(data)
        else:
            self._make_data(data)
        options = [f"{name}={value}" for name, value in (OPTIONS | {"port": port}).items()]
        words = [found("postgres"), "-D", str(data), *(word for option in options for word in ("-c", option))]
        return [*_as_user(), *words] if _is_root() else words[1:]

    def _make_data(self, data: Path) -> None:
        if _is_root():
            data.mkdir()
            shutil.chown(data, _user())
        words = ["-D", str(data), "-U", USER, "--auth=trust", "--no-sync", "--no-instructions", "--wal-segsize=1"]
        command = [found("initdb"), *words, "--encoding=UTF8", "--no-locale"]
        with (data.parent / "log").open("ab") as log:
            whole = [found("setpriv"), *_as_user(), *command] if _is_root() else command
            done = subprocess.run(whole, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        if done.returncode:
            raise NotReady(f"{self.name} could not make its data; the end of its log:\n{last_words(data.parent / 'log')}")

    def ready(self, port: int, pid: int) -> bool:
        ask(port, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        data = Path(str(ask(port, "SELECT current_setting('data_directory')")[0][0]))
        return int((data / "postmaster.pid").read_text(encoding="utf-8").partition("\n")[0]) == pid


def _is_root() -> bool:
    return os.geteuid() == 0


def _user() -> str:
    return next((one.pw_name for one in pwd.getpwall() if one.pw_name == "postgres"), "nobody")


def _as_user() -> list[str]:
    """Return the options of setpriv. A process that becomes another user no longer ends with its parent, unless it asks again."""
    rights = ["--inh-caps=-all,+dac_override", "--ambient-caps=-all,+dac_override", "--pdeathsig=KILL"]
    user = pwd.getpwnam(_user())
    return [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *rights]


def _wait_until_left(data: Path) -> None:
    """Wait until no process of a killed server works in its folder any more: a new one would refuse to start."""
    until = time.monotonic() + GONE_WITHIN_S
    while any(one.info["cwd"] == str(data.resolve()) for one in psutil.process_iter(["cwd"])) and time.monotonic() < until:
        time.sleep(0.01)


def ask(
    port: int, statement: str, values: tuple[object, ...] = (), host: str = LOOPBACK, password: str = ""
) -> list[tuple[Any, ...]]:
    """Execute a statement of the lab, and return its rows. Raises OSError when the server does not answer."""
    import psycopg

    try:
        with psycopg.connect(
            host=host,
            port=port,
            user=USER,
            password=password,
            dbname=DATABASE,
            connect_timeout=2,
            autocommit=True,
            options=f"{OWN} -c statement_timeout=2000 -c client_min_messages=warning",
        ) as connection:
            done = connection.execute(statement.encode(), values or None)
            return done.fetchall() if done.description else []
    except psycopg.Error as error:
        raise OSError(str(error)) from error

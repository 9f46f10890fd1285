"""A MariaDB server (InnoDB) with its data in the run's folder, and no file or socket anywhere else; also with a shifted clock.

Its folder is not made by ``mariadb-install-db``, which takes several seconds and a hundred
megabytes for tables of privileges. The lab needs none: on loopback, in a server of its own without
privileges, every client is root.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import NotReady
from lab.prerequisites import program as found
from lab.servers.process import ServerProgram, last_words
from lab.servers.server import LOOPBACK
from lab.servers.shifted_clock import CLOCK, Shifted

TABLES = """
CREATE TABLE IF NOT EXISTS lab.lock_table (lock_name VARCHAR(190) NOT NULL PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE IF NOT EXISTS lab.counter (
  name VARCHAR(190) NOT NULL PRIMARY KEY,
  value BIGINT NOT NULL DEFAULT 0,
  overwrote BIGINT NOT NULL DEFAULT 0,
  version BIGINT NOT NULL DEFAULT 0
) ENGINE=InnoDB;
"""
SCHEMA = "CREATE DATABASE lab;" + TABLES


@dataclass(frozen=True)
class MariaDB(ServerProgram):
    """A server in which each COMMIT is on disk before it is answered
    (innodb_flush_log_at_trx_commit=1, the default).
    """

    name: str = "mariadb"
    executable = "mariadbd"

    def argv(self, port: int, folder: Path) -> list[str]:
        options = _options(folder) | {
            "port": port,
            "bind-address": "127.0.0.1",
            "socket": "",  # none: the path of a socket may have at most 107 characters
            "pid-file": folder / "pid",
            "skip-name-resolve": "ON",
            "max-connections": 1000,
            "table-open-cache": 64,  # else the server needs more open files than it may have, and warns
        }
        if not (folder / "data").exists():
            self._make_data(folder)
        return _flags(options)

    def _make_data(self, folder: Path) -> None:
        """Make the tables by a server that ends regularly: a server killed in its first moments
        cannot recover them.
        """
        (folder / "data").mkdir()
        with (folder / "log").open("ab") as log:
            command = [found(self.executable), *_flags(_options(folder)), "--bootstrap"]
            done = subprocess.run(command, input=SCHEMA.encode(), stdout=log, stderr=log, check=False)
        if done.returncode:
            raise NotReady(f"{self.name} could not create its tables; the end of its log:\n{last_words(folder / 'log')}")

    def ready(self, port: int, pid: int) -> bool:
        pid_file = Path(str(ask(port, "SELECT @@pid_file")[0][0]))
        return int(pid_file.read_text(encoding="ascii")) == pid


def _options(folder: Path) -> dict[str, object]:
    """Return the options that are also needed while the tables are made."""
    options: dict[str, object] = {
        "datadir": folder / "data",
        "tmpdir": "..",  # from the data; an absolute path with a colon would be two folders
        "skip-grant-tables": "ON",
        "skip-log-bin": "",
        "performance-schema": "OFF",
        "default-storage-engine": "InnoDB",
        "innodb-flush-log-at-trx-commit": 1,
        "innodb-buffer-pool-size": "32M",
        "innodb-log-file-size": "8M",
        "innodb-lock-wait-timeout": 120,  # seconds; a stage sets its own limit in milliseconds, in its statement
    }
    return options | ({"user": "root"} if os.geteuid() == 0 else {})  # it refuses to run as root without this option


def _flags(options: dict[str, object]) -> list[str]:
    return ["--no-defaults", *(f"--{name}={value}" if name != "skip-log-bin" else f"--{name}" for name, value in options.items())]


def ask(port: int, statement: str, host: str = LOOPBACK, password: str = "") -> list[tuple[Any, ...]]:
    """Execute a statement of the lab, and return its rows. Raises OSError when the server does not answer."""
    import pymysql

    try:
        connection = pymysql.connect(
            host=host,
            port=port,
            user="root",
            password=password,
            connect_timeout=2,
            read_timeout=2,
            autocommit=True,
            ssl_disabled=True,
        )
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())
    except pymysql.MySQLError as error:
        raise OSError(str(error)) from error


@dataclass(frozen=True)
class ShiftedMariaDB(Shifted, MariaDB):
    """A MariaDB server with an adjustable clock."""

    clock = f"../{CLOCK}"  # it works in the folder of its data

    def clock_ms(self, port: int) -> float:
        return 1000 * float(ask(port, "SELECT UNIX_TIMESTAMP(NOW(3))")[0][0])

"""``lab doctor``: which programs are on this machine, and the installation of the servers of a store."""

from __future__ import annotations

import sys

from lab import bootstrap
from lab.errors import ExitStatus, choose_from
from lab.evidence.run_folder import as_json
from lab.paths import COMMAND
from lab.prerequisites import BROWSER, CLOCKS, PROGRAMS, examine, missing

REDIS = "redis"  # every run needs it, whatever its lock is in: the counter is in it
STORES = (REDIS, *dict.fromkeys(one.store for one in PROGRAMS if one.store not in ("", CLOCKS, BROWSER)))


def list_programs(is_json: bool = False) -> ExitStatus:
    """Print the installed programs. The status says whether the programs that every run needs are among them."""
    rows = examine()
    status = ExitStatus.CANNOT_RUN if missing() else ExitStatus.GOOD  # a missing store is an error only of a stage that needs it
    wide = max(len(name) for name, *_ in rows) + 2
    if is_json:
        sys.stdout.write(as_json([dict(zip(("name", "found", "remark"), row, strict=True)) for row in rows]))
        return status
    for name, found, remark in rows:
        sys.stdout.write(f"{name:{wide}}{found}\n{'':{wide}}{remark}\n")
    if not missing(STORES):
        sys.stdout.write("\nall there: every stage can run\n")
    elif not missing():
        sys.stdout.write(f"\nall there for locks in Redis; `{COMMAND} doctor --install STORE` installs the servers of STORE\n")
    return status


def install_servers(store: str) -> None:
    """Install the programs of runs whose lock is in this store. Raises BadInput, and MissingProgram if the user has to do it."""
    bootstrap.install_servers({choose_from("store", store, STORES)})

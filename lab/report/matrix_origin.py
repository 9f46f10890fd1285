"""The origin of a matrix: the judge, the commit and the programs with which its cells were measured.

Cells of different origins cannot be compared, so one matrix holds cells of one origin.
"""

from __future__ import annotations

import re

import msgspec

UNKNOWN = "unknown"
SERVERS = ("redis-server", "mariadbd", "etcd", "zookeeper")  # the stores, by their names among the versions
VERSION = re.compile(r"\d+(?:\.\d+)+")


class Origin(msgspec.Struct, kw_only=True, frozen=True):
    """Where the cells of a matrix are from. Each field is empty where nobody recorded it."""

    # the fingerprint of the judge's code
    judge: str = ""
    # the fingerprint of all code and scenarios that decide a cell
    code: str = ""
    # the commit of the lab, with a + where files differed from it
    commit: str = ""
    # the versions of the programs and libraries
    versions: dict[str, str] = {}
    # when the first run began
    started_utc: str = ""
    # by scenario, the later commit with which it was measured again: the scenario itself was mended
    later: dict[str, str] = {}

    def differences(self, other: Origin) -> list[str]:
        """Return in what the cells of two origins differ; nothing where they can stand in one matrix."""
        judges, commits = (self.judge, other.judge), (self.commit, other.commit)
        found = [f"the judge is {_named(other.judge)}, and was {_named(self.judge)}"] if _differ(*judges) else []
        if _differ(*(commit.removesuffix("+") for commit in commits)):
            found.append(f"the commit is {_named(other.commit)}, and was {_named(self.commit)}")
        elif _differ(self.code, other.code) and not _differ(*judges):
            found.append(f"files of the lab, the locks or the scenarios have changed since, both at commit {_named(self.commit)}")
        stores = [(name, self.store(name), other.store(name)) for name in SERVERS]
        found += [f"{name} is {new}, and was {old}" for name, old, new in stores if old and new and old != new]
        return found

    def store(self, name: str) -> str:
        """Return the version of a store's server in short; empty where it was not installed."""
        found = VERSION.search(self.versions.get(name, ""))
        return found[0] if found else ""

    @property
    def sentence(self) -> str:
        """Return the line below the matrix: the commit, the judge, the day and the versions of the stores."""
        dirty = " (with changes that were not committed)" if self.commit.endswith("+") else ""
        day = f" on {self.started_utc[:10]}" if self.started_utc else ""
        stores = ", ".join(f"{name} {self.store(name)}" for name in SERVERS if self.store(name))
        return (
            f"Measured{day} at commit {_named(self.commit)}{dirty}, by the judge {_named(self.judge)}. {self._measured_again}"
            f"Stores: {stores or UNKNOWN}."
        )

    @property
    def _measured_again(self) -> str:
        """Return the sentence about scenarios that were mended and measured again; empty where there are none."""
        scenarios = {commit: [name for name, of in self.later.items() if of == commit] for commit in self.later.values()}
        return "".join(
            f"Mended since, and measured again at commit {commit}: {', '.join(sorted(names))}. "
            for commit, names in scenarios.items()
        )


def _differ(one: str, other: str) -> bool:
    """Return whether two values differ. An unknown value differs from every other: nobody can compare it."""
    return not one or one != other


def _named(value: str) -> str:
    return value or UNKNOWN

"""List the scenario options: the values that a user can change of a scenario for one run.

Everything that lists options reads this table: the command line (``lab/commands/options.py``), the page's form
(``lab/ui/locust_plugin.py``), overrides and their limits (``scenario.py``), the labels of compared runs
(``lab/report/run_data.py``), the settings of replicas (``lab/servers/cluster.py``), and the flags of a command that repeats
a run.

To add an option, add its line to the table. ``tests/unit/scenario/test_options.py`` checks that it also has:

- its words in the label of a run, in the table ``conditions`` of ``lab/story/words.toml``;
- a field of the same name in ``Scenario`` (``scenario.py``), with the default value, and the place that uses the value;
- if it reaches the replica, a field of the same name in ``app/settings.py``.

Standard library only, so that ``lab --help`` is quick.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lab.text import thousands

LONGEST_MS = 86_400_000  # a day: a longer time is a typing error
MOST = 1_000_000_000  # limit of all other numbers
SHOWN = 60  # how many characters of a refused value a message shows
MOST_USERS = 20_000  # nginx has 40960 connections in a run: a request takes two. Linux gives 28232 ports to one destination
REPLICA_MIB, REPLICAS_A_CORE = 77, 50  # of gunicorn's two processes (docs/scale.md); how many a core starts in time


@dataclass(frozen=True, kw_only=True)
class Option:
    """Describe one scenario option."""

    name: str  # the key of a scenario file, and the field of Scenario
    help: str  # one sentence for --help and for the form
    kind: type[int | float] = int  # the type of the value
    is_span: bool = False  # whether it is a time in seconds, which the command line takes in Locust's notation: 90, 90s, 1m30s
    unit: str = ""  # unit of the value, for --help and for the form; empty for a plain number
    least: float  # for kind int, the smallest value; for kind float, the limit that the value must exceed
    most: float = math.inf  # the largest value
    most_here: Callable[[], float] = lambda: math.inf  # the largest value that this machine can start
    # the largest value from the form: every visitor can press Start, and this machine has to carry the run
    most_from_page: float = math.inf
    is_in_form: bool = False  # whether the form of Locust's page has a field for it
    reaches_replica: bool = False  # whether each replica gets the value as a setting of the same name
    scales_with_ttl: bool = False  # whether the value is a time that grows in proportion when the TTL is rounded up

    @property
    def flag(self) -> str:
        """Return the option on the command line: ``--work-ms``."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def limits(self) -> str:
        """Return the limits in words: ``at least 1``."""
        lower = f"at least {self.least}" if self.kind is int else f"above {self.least}"
        return lower if self.most == math.inf else f"{lower}, at most {thousands(self.most)}"

    def refusal(self, value: Any, name: str = "", typed: str = "") -> str | None:
        """Return why the option cannot have this value; None if it can.

        name: the name of the option in the message, by default its key. typed: the value as the user wrote it.
        """
        fits = type(value) is int if self.kind is int else type(value) in (int, float)
        if fits and self.least <= value <= self.most and (self.kind is int or value > self.least):
            here = self.most_here()
            words = f"at most {thousands(here)} on this machine, for its memory and its cores"
            return None if value <= here else f"{name or self.name} must be {words}, not {typed or shown(value)}"
        number = "a time such as 30s, 2m or 1h30m" if self.is_span else "a whole number" if self.kind is int else "a number"
        return f"{name or self.name} must be {number}, {self.limits}, not {typed or shown(value)}"


def _replicas_here() -> float:
    """Return how many replicas the memory and the cores of this machine carry; no limit if they run in containers."""
    if os.environ.get("LAB_ENGINE", "") not in ("", "local"):
        return math.inf
    memory_mib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return max(16, min(memory_mib // REPLICA_MIB, (os.cpu_count() or 1) * REPLICAS_A_CORE))


# The order is the order of --help, of the form, and of the parameters in a label.
OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option(
            name="replicas",
            help="Number of replicas behind nginx.",
            least=1,
            most_here=_replicas_here,
            most_from_page=32,
            is_in_form=True,
        ),
        Option(
            name="users",
            help="Number of users that send requests; each user waits for its answer.",
            least=1,
            most=MOST_USERS,
        ),
        Option(
            name="think_ms",
            help="Pause of each user between an answer and its next request. It keeps its connection.",
            unit="ms",
            least=0,
            most=LONGEST_MS,
            is_in_form=True,
        ),
        Option(
            name="spawn_rate",
            help="Number of users that start each second. Without it, all start at once.",
            unit="per second",
            least=1,
            most=MOST_USERS,
        ),
        Option(
            name="rate",
            help="Requests that arrive per second, even if answers are slow (open loop). Replaces --users.",
            kind=float,
            unit="per second",
            least=0.5,  # at a lower rate no two requests meet
            most=1_000_000,
            is_in_form=True,
        ),
        Option(
            name="connections",
            help="With --rate: requests on their way at most. When all wait for answers, the next is sent late (closed loop).",
            least=1,
            most=MOST_USERS,
        ),
        Option(
            name="requests",
            help="Number of requests to send, over all users.",
            least=1,
            most=100_000_000,  # for a run of a day, with 100 GiB of evidence
            most_from_page=1_000_000,
            is_in_form=True,
        ),
        Option(
            name="run_time",
            help="Time after which the load ends, as in 30s or 1h30m. Replaces --requests. Requests still open then are unknown.",
            is_span=True,
            unit="s",
            least=1,
            most=86_400,
        ),
        Option(
            name="ttl_ms",
            help="Time to live (TTL) of the lock.",
            unit="ms",
            least=1,
            most=LONGEST_MS,
            is_in_form=True,
            reaches_replica=True,
        ),
        Option(
            name="work_ms",
            help="Duration of the work, between reading the counter and writing it.",
            unit="ms",
            least=0,
            most=LONGEST_MS,
            is_in_form=True,
            reaches_replica=True,
            scales_with_ttl=True,
        ),
        Option(
            name="stock",
            help="Number of items to sell: a request buys one, unless nothing is left. Without it, the counter only grows.",
            least=1,
            most=MOST,
            is_in_form=True,
            reaches_replica=True,
        ),
        Option(
            name="retry_ms",
            help="Pause of a waiter between two tries.",
            unit="ms",
            least=1,
            most=LONGEST_MS,
            reaches_replica=True,
        ),
        Option(
            name="wait_ms",
            help="Longest time that a request waits for the lock before it is refused.",
            unit="ms",
            least=0,
            most=LONGEST_MS,
            reaches_replica=True,
            scales_with_ttl=True,
        ),
        Option(
            name="processes",
            help="Number of Locust processes that send the load.",
            least=1,
            most=64,
        ),
        Option(
            name="seed",
            help="With --rate: seed of the random arrival times.",
            least=0,
            most=MOST,
        ),
    )
}


def shown(value: object) -> str:
    """Return a value as a message shows it: in one line, cut to SHOWN characters."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]} …"


def form_options() -> list[Option]:
    """Return the options that have a field in the form. The number of users is a field of Locust's own."""
    return [option for option in OPTIONS.values() if option.is_in_form]


def flags(given: Mapping[str, Any]) -> list[str]:
    """Return values by name as words of a command line: ``{"work_ms": 5}`` as ``--work-ms 5``. None means not given."""
    return [word for name, value in given.items() if value is not None for word in (f"--{name.replace('_', '-')}", str(value))]

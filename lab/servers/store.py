"""A store as the lab runs it: which servers, where clients find them, and what they tell of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from lab.evidence.fault_record import FaultRecord
from lab.scenario.scenario import Scenario
from lab.servers.process import Program
from lab.servers.server import Reachable, Server


class EventRecorder(Protocol):
    """Somebody who writes down what a store tells, until closed."""

    def close(self) -> None: ...


class Store(Protocol):
    """A file of ``lab/servers/stores``, named as the client in ``app/stores`` is, with these functions."""

    def programs(self, scenario: Scenario) -> list[Program]:
        """The servers to start for a scenario, side by side."""

    def url(self, running: Sequence[Reachable]) -> str:
        """Where clients find them, as ``app/endpoint.py`` reads it."""

    def commands(self, running: Sequence[Server]) -> dict[str, int]:
        """How often each command ran on them since they started, the lab's own left out. Raises OSError."""

    def joined(self, running: Sequence[Server]) -> AbstractContextManager[None]:
        """While the block runs, they know of each other. A store of one server can leave it out. Raises NotReady."""

    def end_session(self, running: Sequence[Server], record: FaultRecord) -> int:
        """End the sessions of the replica. Return how many. A store without such sessions leaves it out."""

    def leader(self, running: Sequence[Server]) -> Server:
        """The one that leads the others. A store without a leader leaves it out. Raises OSError when none does."""

    def event_recorders(self, running: Sequence[Server], path: Path) -> list[EventRecorder]:
        """Those who append what happens to keys to the file at ``path``; none where the store tells nothing."""

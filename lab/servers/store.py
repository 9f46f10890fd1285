"""A store as the lab runs it: its servers, its address for clients, its command counts and its events."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lab.evidence.fault_record import FaultRecord
from lab.scenario.scenario import Scenario
from lab.servers.process import ServerProgram
from lab.servers.server import Reachable, Server

if TYPE_CHECKING:
    from lab.servers.replication_link import ReplicationLink


class EventRecorder(Protocol):
    """Record the reports of a store in a thread, until it is closed."""

    @property
    def failure(self) -> OSError | None:
        """Return why an event could not be written; None if all were."""

    @property
    def is_silenced(self) -> bool:
        """Return whether a client has made the store report fewer events. False if the store does not answer."""

    def ask_to_end(self) -> None:
        """Let the thread end, and do not wait: several end at the same time."""

    def close(self) -> None:
        """End the recorder, and wait until all that it has received is written."""


def addresses(running: Sequence[Reachable]) -> str:
    """Return the address of servers of which a client knows each, in the form that ``app/settings.py`` parses."""
    return ",".join(one.address for one in running)


class StoreServers(Protocol):
    """A file of ``lab/servers/stores`` with these functions. It has the name of its client in ``app/stores``."""

    def programs(self, scenario: Scenario) -> list[ServerProgram]:
        """Return the servers to start for a scenario. They start at the same time."""

    def url(self, running: Sequence[Reachable]) -> str:
        """Return the address for clients, in the form that ``app/settings.py`` parses."""

    def commands(self, running: Sequence[Server]) -> dict[str, int]:
        """Return how often each command ran on the servers since they started, without the lab's
        own. Raises OSError.
        """

    def joined(self, running: Sequence[Server]) -> AbstractContextManager[Sequence[ReplicationLink]]:
        """Connect the servers to each other for the duration of the block. Yield the links to replicas. Raises NotReady.

        Only a store has it whose servers do not know each other from their start.
        """

    def end_session(self, running: Sequence[Server], record: FaultRecord) -> int:
        """End the sessions of the faulted replica, and return how many. Only called if the store has sessions."""

    def leader(self, running: Sequence[Server]) -> Server:
        """Return the leader of the servers. Only called if the store has a leader. Raises
        OSError when there is none.
        """

    def event_recorders(self, running: Sequence[Server], path: Path) -> list[EventRecorder]:
        """Start recorders that append key events to the file at ``path``. Only a store has it that reports events."""

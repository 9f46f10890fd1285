"""Run a lock of this process whose client the lab cannot see: its client connects to the ports of a lane, which sees it.

A request has a lane of its own, from its beginning until its client has closed its connections. So a thread that goes on after
the answer, as a watchdog does, is never counted for the next request.
"""

from __future__ import annotations

import contextlib
import queue
from dataclasses import replace
from functools import partial
from typing import Any

from app.foreign.wire.lane import LOOPBACK, WireLane, renewal, servers
from app.lock import Grant, NotAcquired, NotOwner, Result, Stage, Work
from app.request.context import CURRENT, CurrentRequest
from app.settings import Address, Settings
from app.stores import lock_store


class ClientFailed(Exception):  # noqa: N818 - an event
    """The lock has raised an error that is no answer. The message has its name and its text."""


class LaneLock:
    """One request's lock, with a lane of its own. Commands of the lane during the work are renewals."""

    def __init__(self, stage: Stage, settings: Settings, store: Any, *words: Any, **lease: Any) -> None:
        """store: the replica's client, for the addresses behind the lane. words, lease: the lock's further arguments."""
        self.stage, self.settings, self.servers = stage, settings, servers(store)
        self.words, self.lease = words, lease

    def run(self, work: Work[Result]) -> Result:
        """Run the stage's lock. Raises the errors of failpoints in the lane, and ClientFailed."""
        lane = WireLane(self.servers)
        lane.place = place = CURRENT.get()
        try:
            return self.stage.lock(self._store(lane), *self.words, **self.lease).run(partial(_do_work, lane, place, work))
        except (NotAcquired, NotOwner):
            raise
        except Exception as error:
            raise ClientFailed(f"{type(error).__name__}: {error}") from error
        finally:
            lane.place = renewal(place)
            lane.retire()
            with contextlib.suppress(queue.Empty):  # a failpoint's error: the lock saw only lost connections
                raise lane.answers.get_nowait()

    def _store(self, lane: WireLane) -> Any:
        """Return the client that the lock gets as its store. Its lane counts the commands, so the client does not."""
        url = f"{self.stage.store}_url"
        addresses = tuple(Address(LOOPBACK, port) for port in lane.ports)
        by_lane = replace(getattr(self.settings, url), addresses=addresses, scheme="")
        return lock_store(self.stage.store, replace(self.settings, **{url: by_lane}))


def _do_work(lane: WireLane, place: CurrentRequest | None, work: Work[Result], grant: Grant) -> Result:
    """Do the work; meanwhile, the commands of the lane are renewals."""
    lane.place = renewal(place)
    try:
        return work(grant)
    finally:
        lane.place = place

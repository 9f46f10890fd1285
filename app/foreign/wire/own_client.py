"""A lock in this process whose client the lab does not see: it finds its store at the ports of a lane, and is seen there.

A request has a lane of its own, from its beginning until its client has closed its connections. So a thread that goes on after
the answer, as a watchdog does, is never taken for the next request.
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


class ClientFailed(Exception):  # noqa: N818 - names what happened
    """The lock has raised an error that is no answer. The message has its name and its text."""


class LaneLock:
    """One request's lock, made for a lane. What the lane carries during the work is a renewal."""

    def __init__(self, stage: Stage, settings: Settings, store: Any, *words: Any, **lease: Any) -> None:
        """Take the store as the replica knows it: a lane leads there. words, lease: what its lock gets after the store."""
        self.stage, self.settings, self.servers = stage, settings, servers(store)
        self.words, self.lease = words, lease

    def run(self, work: Work[Result]) -> Result:
        """Run the stage's lock. Raises what a failpoint raises in the lane, and ClientFailed."""
        lane = WireLane(self.servers)
        lane.place = place = CURRENT.get()
        try:
            return self.stage.lock(self._store(lane), *self.words, **self.lease).run(partial(_aside, lane, place, work))
        except (NotAcquired, NotOwner):
            raise
        except Exception as error:
            raise ClientFailed(f"{type(error).__name__}: {error}") from error
        finally:
            lane.place = renewal(place)
            lane.retire()
            with contextlib.suppress(queue.Empty):  # whatever the lock made of it: its client has only lost its connections
                raise lane.answers.get_nowait()

    def _store(self, lane: WireLane) -> Any:
        """Return the client that the lock gets as its store. It is not counted: its lane is."""
        url = f"{self.stage.store}_url"
        addresses = tuple(Address(LOOPBACK, port) for port in lane.ports)
        by_lane = replace(getattr(self.settings, url), addresses=addresses, scheme="")
        return lock_store(self.stage.store, replace(self.settings, **{url: by_lane}))


def _aside(lane: WireLane, place: CurrentRequest | None, work: Work[Result], grant: Grant) -> Result:
    """Do the work, and let the lane carry renewals meanwhile."""
    lane.place = renewal(place)
    try:
        return work(grant)
    finally:
        lane.place = place

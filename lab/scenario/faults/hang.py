"""Hang the holder's thread: no exception, no release, and its process lives on. When the hang is over, the request fails.

The request hangs for ``for_ms``: longer than all other requests of the run need.
"""

from lab.evidence.fault_record import Effect
from lab.scenario import fault


class Fault(fault.Fault, frozen=True):
    effect = Effect.REQUEST_HANGS
    action = "hang"

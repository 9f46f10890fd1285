"""Make one request's work take longer than planned."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault


class Fault(fault.Fault, frozen=True):
    effect = Effect.REQUEST_WAITS

"""Make one request's work take longer than planned."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.fault import Target


class Fault(fault.Fault, frozen=True):
    target = Target.REPLICA
    effect = Effect.REQUEST_WAITS

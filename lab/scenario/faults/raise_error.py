"""Fail the request with an exception at the failpoint. Its thread and its process live on."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.fault import Target
from lab.scenario.toml_types import Text, Time


class Fault(fault.Fault, frozen=True):
    target = Target.REPLICA
    effect = Effect.REQUEST_FAILS
    action = "raise"

    for_ms: Time = 0  # the fault is over at once
    at: Text = "read.before"

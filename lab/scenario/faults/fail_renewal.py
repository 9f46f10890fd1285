"""Fail one renewal of a lock with the error of the store's client, and send nothing. The store itself is well."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.fault import Target
from lab.scenario.toml_types import Text, Time


class Fault(fault.Fault, frozen=True):
    target = Target.REPLICA
    effect = Effect.RENEWAL_FAILS
    action = "fail"

    for_ms: Time = 0  # the fault is over at once
    at: Text = "renew.before"

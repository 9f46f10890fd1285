"""Fail one renewal of a lock with the error of the store's client, and send nothing. The store itself is well."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.toml_types import Text


class Fault(fault.AtOnce, frozen=True):
    effect = Effect.RENEWAL_FAILS
    action = "fail"

    at: Text = "renew.before"

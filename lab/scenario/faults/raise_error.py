"""Fail the request with an exception at the failpoint. Its thread and its process live on."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.toml_types import Text


class Fault(fault.AtOnce, frozen=True):
    effect = Effect.REQUEST_FAILS
    action = "raise"

    at: Text = "read.before"

"""Hold a request at a failpoint until its lock has expired and another request has it: for_ms is longer than the TTL."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.toml_types import Text


class Fault(fault.Fault, frozen=True):
    effect = Effect.REQUEST_WAITS

    at: Text = "release.before_last"

    @property
    def awaits_grant(self) -> bool:
        return True

"""Kill the replica at the failpoint (SIGKILL). Gunicorn starts another process, which knows nothing of the first."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.fault import Target
from lab.scenario.toml_types import Text, Time


class Fault(fault.Fault, frozen=True):
    target = Target.REPLICA
    effect = Effect.PROCESS_DIES
    action = "kill"

    for_ms: Time = 0  # the fault is over at once
    at: Text = "read.before"

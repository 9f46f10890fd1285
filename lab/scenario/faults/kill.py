"""Kill the replica at the failpoint (SIGKILL). Gunicorn starts a new process, which knows nothing of the killed one."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.toml_types import Text


class Fault(fault.AtOnce, frozen=True):
    effect = Effect.PROCESS_DIES
    action = "kill"

    at: Text = "read.before"

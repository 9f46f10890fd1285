"""Drop a reply: the store carries a command out, and the client gets an error instead of the reply. It sends nothing again."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.fault import Target
from lab.scenario.toml_types import Text, Time


class Fault(fault.Fault, frozen=True):
    target = Target.REPLICA
    effect = Effect.REPLY_DROPPED
    action = "drop_reply"

    for_ms: Time = 0  # the fault is over at once
    at: Text = "release.after_first"  # ``after_first`` of a phase: only there an answer has just arrived

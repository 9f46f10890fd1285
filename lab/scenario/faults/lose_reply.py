"""The store carries a command out, its reply is lost, and the client sends the command again."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.fault import Target
from lab.scenario.toml_types import Text, Time


class Fault(fault.Fault, frozen=True):
    target = Target.REPLICA
    effect = Effect.REPLY_LOST
    action = "lose_reply"

    for_ms: Time = 0  # the fault is over at once
    at: Text = "acquire.after_first"

"""Lose a reply: the store carries a command out, and the client, which gets no reply, sends the command again."""

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

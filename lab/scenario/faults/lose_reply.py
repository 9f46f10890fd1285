"""Lose a reply: the store carries a command out, and the client, which gets no reply, sends the command again."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.toml_types import Text


class Fault(fault.AtOnce, frozen=True):
    effect = Effect.REPLY_LOST
    action = "lose_reply"

    at: Text = "acquire.after_first"

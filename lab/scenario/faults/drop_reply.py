"""Drop a reply: the store carries a command out, and the client gets an error instead of the reply. It sends nothing again."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.toml_types import Text


class Fault(fault.AtOnce, frozen=True):
    effect = Effect.REPLY_DROPPED
    action = "drop_reply"

    at: Text = "release.after_first"  # ``after_first`` of a phase: only there an answer has just arrived

"""Fail one command of a request with the error of the store's client, and send nothing. The store itself is well."""

from lab.evidence.fault_record import Effect
from lab.scenario import fault
from lab.scenario.toml_types import Text


class Fault(fault.AtOnce, frozen=True):
    effect = Effect.COMMAND_FAILS
    action = "fail"

    at: Text = "release.before_last"  # ``before_last`` of a phase: only there a command is about to be sent

"""Record a fault that was injected: its effect, its request and its times, as one line of ``faults.jsonl``.

The replica writes the first part, at the failpoint. The injector adds the rest, and writes the line after the recovery. The
consequences of the fault are not in it: the judge computes them (``lab/judge/faults.py``).
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from app.journal import Number


class Effect(StrEnum):
    """The effect of a fault. Each comment describes the time from the injection to the recovery.

    Each fault on the shelf ``lab/scenario/faults`` declares its effect, and the injector writes it into the fault record. The
    judge works from the run folder alone, and may not import the shelf. So it never reads the name of a fault's file: it judges
    two faults with the same effect alike, and a new fault needs no line in the judge.
    """

    # The replica's process is gone. Gunicorn starts another one.
    PROCESS_DIES = "process_dies"
    # The replica's process is stopped, and continues later.
    PROCESS_STOPS = "process_stops"
    # The request fails with an exception. Its thread and its process live on. (The value is an older word for it.)
    REQUEST_FAILS = "thread_dies"
    # The request stops at the failpoint without an exception, and does nothing more. Its process lives on.
    REQUEST_HANGS = "request_hangs"
    # The request waits at the failpoint, and continues later.
    REQUEST_WAITS = "request_waits"
    # One renewal fails at the client, before it is sent. The store is well, and later renewals succeed.
    RENEWAL_FAILS = "renewal_fails"
    # The store carried a command out, and the client sends it again because the reply is lost.
    REPLY_LOST = "reply_lost"
    # One command fails at the client, before it is sent. The store is well, and later commands succeed.
    COMMAND_FAILS = "command_fails"
    # The store carried a command out, and the client got an error instead of the reply.
    REPLY_DROPPED = "reply_dropped"
    # A write to the counter is delayed in the network. Its sender lives on.
    WRITE_DELAYED = "write_delayed"
    # A replica and the lock's store cannot reach each other.
    CUT_OFF = "cut_off"
    # The lock's store has ended the sessions of a replica.
    SESSION_ENDS = "session_ends"
    # The whole lock store takes commands and answers none.
    STORE_SILENT = "store_silent"
    # The whole lock store is killed, and is started again with the data on its disk.
    STORE_RESTARTS = "store_restarts"
    # The whole lock store loses its power: it forgets all data that it had not synced to disk, and is started again.
    POWER_LOST = "power_lost"
    # Servers of the lock's store are gone until the end of the run. Their replicas may take their places.
    PRIMARY_DIES = "primary_dies"
    # The old primary serves one replica only. For all others a standby has taken its place.
    STORE_SPLIT = "store_split"
    # The leader of the lock's store is gone until the end of the run. The remaining servers elect a new leader.
    LEADER_DIES = "leader_dies"
    # The replica of the lock's store receives nothing from its primary any more.
    REPLICA_LAGS = "replica_lags"
    # Some servers of the lock's store are gone.
    SERVERS_DIE = "servers_die"
    # Some servers of the lock's store take commands and answer none.
    SERVERS_SILENT = "servers_silent"
    # Some servers of the lock's store are killed, and are started again with the data on their disks.
    SERVERS_RESTART = "servers_restart"
    # The wall clocks of some servers of the lock's store are ahead.
    CLOCKS_JUMP = "clocks_jump"
    # The wall clocks of some servers of the lock's store are behind.
    CLOCKS_BACK = "clocks_back"
    # No other effect fits, and no mechanism explains a loss by this fault.
    OTHER = "other"


# These faults can take away the lock of any replica.
AT_THE_STORE = frozenset(
    {
        Effect.STORE_SILENT,
        Effect.STORE_RESTARTS,
        Effect.POWER_LOST,
        Effect.PRIMARY_DIES,
        Effect.LEADER_DIES,
        Effect.SERVERS_DIE,
        Effect.SERVERS_RESTART,
        Effect.CLOCKS_JUMP,
    }
)
# These faults can end a lock at its store, which reports no deletion.
OF_THE_STORE = AT_THE_STORE | {Effect.STORE_SPLIT}


class FaultRecord(msgspec.Struct):
    """A fault that was injected. Times are CLOCK_MONOTONIC in nanoseconds."""

    # Written by the replica: the kind and its number in the run, for example freeze-1.
    name: str
    # the replica whose request reached the failpoint
    replica: str
    # the process of that replica
    pid: Number
    # the request that reached the failpoint
    request: str
    # when the request reached the failpoint
    at_ns: Number
    # Written by the injector: the kind, a module of lab/scenario/faults.
    kind: str = ""
    # the failpoint, phase.moment
    failpoint: str = ""
    # when the recovery was complete; 0 before
    recovered_ns: Number = 0
    # how many servers' clocks the fault moved
    clocks_moved: Number = 0
    # when the recovery began
    recovering_ns: Number = 0
    # how many of the replica's sessions the lock's store ended
    sessions_ended: Number = 0
    # how many writes reached the counter late
    late_writes: Number = 0
    # the effect of the fault
    effect: Effect = Effect.OTHER
    # when the lab had finished its part of the fault, later on a busy machine; ``at_ns`` if it has no part; 0 before
    injected_ns: Number = 0
    # when the fault was done, so that the request at the failpoint could go on; 0 if it does not wait for that
    done_ns: Number = 0
    # Written by the replica: the keys of the command to the lock's store at which the fault was injected; empty if it was not
    # injected at a command.
    keys: list[str] = []

    @property
    def began_ns(self) -> int:
        """Return when the fault began, in nanoseconds: at the failpoint, or when the lab had done its part."""
        return max(self.at_ns, self.injected_ns)

    @property
    def phase(self) -> str:
        """Return the phase of the request in which the fault was injected."""
        return self.failpoint.partition(".")[0]

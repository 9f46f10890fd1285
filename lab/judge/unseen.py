"""What the lock's store carried out and no replica has sent: then a client is at work that the lab does not see.

The store counts each command, those inside scripts included, and the replicas journal how often they sent each. What the store
ran more often came from another client: one of a library of its own, a bare socket, another process. Of a command that a script
may run, nothing can be said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from app.journal import Sent, Started
from lab.evidence.history import History
from lab.evidence.run_folder import RunRecord
from lab.evidence.run_tables import ClientFacts

# of a store whose servers follow no other: a replica carries out what its primary does
SERVERS = {"redis": 1, "redis_nodes": 5, "postgresql": 1}
# what clients of Redis send to introduce themselves, and to look after a connection
CONNECTING = frozenset({"select", "auth", "quit", "reset", "readonly", "command", "client", "hello", "ping", "info"})
# what the lab sends where a scenario shifts a clock or moves data: none of it takes or frees a lock
OF_THE_LAB = frozenset({"time", "scan", "dump"})
FEW, SHARE = 1, 0.02  # so many may have been sent between the two counts


class Unseen(NamedTuple):
    """What the replicas did not send."""

    # by command, how often the store ran it without them
    commands: dict[str, int]
    # who else was connected when the run ended
    clients: tuple[ClientFacts, ...]


def unseen(record: RunRecord, history: History) -> Unseen | None:
    """Return what the lab did not see of the lock's commands; None where it saw all of them, or nobody knows."""
    store = record.stage.get("store")
    ran = record.commands.get("lock", {})
    if record.clients is None or store not in SERVERS or not ran:
        return None
    sent = _Sent(history.sent())
    # a process that ends by itself takes its last counts with it
    may_have_died = sent.starts > record.scenario["replicas"] + len(record.scenario.get("faults", ()))
    is_lone = record.lock_servers == SERVERS[store]
    missing = {}
    for name, times in ran.items():
        without = times - sent.counts[name]
        is_about_locks = store == "postgresql" or name not in CONNECTING | OF_THE_LAB  # SELECT is a connection's in Redis alone
        is_known = is_about_locks and (is_lone or not sent.counts) and not sent.may_be_in_a_script(name)
        if is_known and without > FEW + SHARE * times and (not sent.counts[name] or not may_have_died):
            missing[name] = without
    if not missing:
        return None
    return Unseen(missing, tuple(client for client in record.clients if client.port not in sent.ports))


class _Sent:
    """What all replicas have sent."""

    def __init__(self, events: Iterable[Sent | Started]) -> None:
        self.counts: Counter[str] = Counter()
        self.ports: set[int] = set()
        self.starts = 0  # of processes
        ran: set[str] = set()
        scripts: dict[str, list[str]] = {}
        for event in events:
            if isinstance(event, Started):
                self.starts += 1
                continue
            self.counts.update(event.counts)
            self.ports |= set(event.ports)
            ran |= set(event.ran)
            scripts |= event.scripts
        self._inside = {command for script in ran for command in scripts.get(script, ["*"])}

    def may_be_in_a_script(self, name: str) -> bool:
        """Return whether a script may have run the command, as far as the texts of the scripts are known."""
        is_outermost = name in ("eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro")
        return not is_outermost and (name in self._inside or "*" in self._inside)

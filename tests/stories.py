"""A schedule with every kind of mark, and a search, as the explorer keeps them: no server is needed to draw them."""

from __future__ import annotations

from lab.explore.story.scene import Doing, Held, Scene, Story

RUNS, WORKS, LATE, PAUSED, OVER = (
    Doing("runs", ""),
    Doing("runs", "entitled"),
    Doing("runs", "late"),
    Doing("paused", "late"),
    Doing("over", ""),
)
A, B = (Held("L", "A", 3000),), (Held("L", "B", 6000),)
WHILE = "while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):"
WORK = "result = work(Grant(self.key))"


def scene(event, who, what, reply, deed, now_ms, lock, counter, clients, **more):
    source = WHILE if what.startswith("SET L") else WORK if reply else ""
    return Scene(event, who, what, reply, "uuid.py:39" if source else "", source, deed, now_ms, lock, counter, clients, **more)


LOST = Story(
    stage="uuid", schedule="A2BpAt3000B3rAA", faults="1 pause", ttl_ms=3000, work_ms=0, start=(RUNS, RUNS), has_lock=True,
    claim="survives_a_late_freeze", scenes=(
        scene("A", "A", "SET L A’s token NX PX 3000", "OK", "gets the lock", 0, A, 0, (WORKS, RUNS)),
        scene("A", "A", "GET n", "nil", "reads 0", 0, A, 0, (WORKS, RUNS)),
        scene("B", "B", "SET L B’s token NX PX 3000", "nil", "waits for the lock", 0, A, 0, (WORKS, RUNS)),
        scene("pA", "A", "is paused", "", "is paused", 0, A, 0, (Doing("paused", "entitled"), RUNS)),
        scene("t3000", "", "time passes: …", "", "at 3\u00a0s, A’s lock expires", 3000, (), 0, (PAUSED, RUNS)),
        scene("B", "B", "SET L B’s token NX PX 3000", "OK", "gets the lock", 3000, B, 0, (PAUSED, WORKS)),
        scene("B", "B", "GET n", "nil", "reads 0", 3000, B, 0, (PAUSED, WORKS)),
        scene("B", "B", "SET n 1 GET", "nil", "writes 1", 3000, B, 1, (PAUSED, RUNS)),
        scene("rA", "A", "is resumed", "", "is resumed", 3000, B, 1, (LATE, RUNS)),
        scene("A", "A", "SET n 1 GET", "1", "writes 1 over B’s 1", 3000, B, 1, (RUNS, RUNS), claims=("survives_a_late_freeze",),
              breaks=("one increment is lost: A worked after a pause between its last look at the lock and its write",)),
    ),
)  # fmt: skip


def kept_search(schedules, breaks=(), holds=(), faults=(), **about):
    """What is kept of a search of two replicas that is decided. about: what differs."""
    found = {"replicas": 2, "at_once": 1, "in_turn": 1, "nested": False, "ends": False, "work_ms": 0, "wait_ms": None}
    found |= {"nap_ms": 100, "faults": dict(faults), "until_ms": 7000, "needed": True, "decided": True, "cut": 0}
    return found | {"schedules": schedules, "breaks": dict(breaks), "holds": list(holds)} | about


def breaks(schedules, schedule="A"):
    """What is kept of a claim that so many schedules break."""
    return {"harm": "lost", "events": 10, "schedule": schedule, "why": "paused_late", "schedules": schedules}

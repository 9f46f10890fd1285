"""A schedule with every kind of mark, and a search, as the explorer keeps them. No server is needed to draw them."""

from lab.story.happening import Doing, Happening, Held, Kind, Scene, Story

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


def scene(event, row, did, now_ms, lock, counter, clients, **more):
    """Return an event. row: the command, or the happening; did: the acts of a client, as kinds with their figures."""
    who = event[-1] if event.isalpha() else ""
    if isinstance(row, str):
        source = WHILE if row.startswith("SET L") else WORK
        more = {"reply": "nil", "source": source} | more
        row = Happening(Kind.COMMAND, now_ms, who, place="uuid.py:39", code=row)
    did = tuple(Happening(kind, now_ms, who, **about) for kind, about in did)
    return Scene(event, row, did, lock, counter, clients, **more)


def does(kind, **about):
    return ((kind, about),)


LOST = Story(
    stage="uuid", schedule="A2BpAt3000B3rAA", faults={"pauses": 1}, ttl_ms=3000, work_ms=0, start=(RUNS, RUNS), has_lock=True,
    claim="survives_a_late_freeze", scenes=(
        scene("A", "SET L A’s token NX PX 3000", does(Kind.GRANTED), 0, A, 0, (WORKS, RUNS), reply="OK"),
        scene("A", "GET n", does(Kind.READ), 0, A, 0, (WORKS, RUNS)),
        scene("B", "SET L B’s token NX PX 3000", does(Kind.WAITED), 0, A, 0, (WORKS, RUNS)),
        scene("pA", Happening(Kind.PAUSED, actor="A"), does(Kind.PAUSED), 0, A, 0, (Doing("paused", "entitled"), RUNS)),
        scene("t3000", Happening(Kind.CLOCK, 3000), does(Kind.LOCK_EXPIRED, others=("A",)), 3000, (), 0, (PAUSED, RUNS)),
        scene("B", "SET L B’s token NX PX 3000", does(Kind.GRANTED), 3000, B, 0, (PAUSED, WORKS), reply="OK"),
        scene("B", "GET n", does(Kind.READ), 3000, B, 0, (PAUSED, WORKS)),
        scene("B", "SET n 1 GET", does(Kind.WROTE, value=1), 3000, B, 1, (PAUSED, RUNS)),
        scene("rA", Happening(Kind.RESUMED, 3000, "A"), does(Kind.RESUMED), 3000, B, 1, (LATE, RUNS)),
        scene("A", "SET n 1 GET", does(Kind.OVERWROTE, value=1, over=1, others=("B",)), 3000, B, 1, (RUNS, RUNS), reply="1",
              claims=("survives_a_late_freeze",), breaks=(Happening(Kind.LOST, 3000, "A", value=1, why="paused_late"),)),
    ),
)  # fmt: skip


def kept_search(schedules, breaks=(), holds=(), faults=(), **about):
    """Return the kept facts of a decided search of two replicas. about: the differences."""
    found = {"replicas": 2, "at_once": 1, "in_turn": 1, "nested": False, "ends": False, "work_ms": 0, "wait_ms": None}
    found |= {"nap_ms": 100, "faults": dict(faults), "needed": True, "decided": True}
    return found | {"schedules": schedules, "breaks": dict(breaks), "holds": list(holds)} | about


def breaks(schedules, schedule="A"):
    """Return the kept facts of a claim that this many schedules break."""
    return {"harm": "lost", "events": 10, "schedule": schedule, "why": "paused_late", "schedules": schedules}

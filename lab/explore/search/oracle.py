"""Find out whether a fresh client would get the lock in a state of the store, by the stage's own code and the real Redis.

A fresh client is an extra replica. It runs alone from that state, and no time passes at the store. A key is free if the client is
granted the key before it must wait. Some locks sleep before their first command, or before they check a key that they have set:
for them the client begins earlier by the time of these sleeps. So the owner of a lock follows from the behaviour of the lock, not
from the names of keys.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lab.explore.code.operation import Granted
from lab.explore.code.program import Program, Task
from lab.explore.code.tree import Tree
from lab.explore.model import GRID_MS
from lab.explore.search import ghosts
from lab.explore.search.event import CHOICE, NONE
from lab.explore.search.state import RUNS, Marked, State
from lab.explore.search.transitions import possible, settled
from lab.explore.search.world import World
from lab.explore.store.table import Table

FRESH = 99  # the number of the fresh client: no replica of a search has this number
MOST_STEPS = 2000  # the steps of the fresh client from one state, in all branches
FAR_MS = 10_000_000


class Probe:
    """The oracle of one stage: it tells which keys a fresh client would get, and keeps its answers."""

    def __init__(self, program: Program, lock: Any, counter: Table) -> None:
        task = Task(program.task.ttl_ms)
        self.program = Program(program.stage, task, program.servers)
        self.program.drawing.tokens = program.drawing.tokens
        self.lock = lock
        self.counter = counter
        self.sleeps_ms = 0  # how long a client that is alone sleeps before it is granted the lock of an empty store
        self.free, self.free_at_ms = cache(self._granted), cache(self._free_at_ms)
        self._worlds: dict[int, World] = {}

    def close(self) -> None:
        """End all fresh clients."""
        for world in self._worlds.values():
            world.close()

    def known(self) -> frozenset[str]:
        """Return the keys that a client is granted on an empty store, and learn how long it sleeps before that."""
        while not (keys := self._granted(self.lock.empty, 0)) and self.sleeps_ms < self.program.task.ttl_ms:
            self.sleeps_ms += GRID_MS
        if not keys:
            self.sleeps_ms = 0
        return keys

    def _free_at_ms(self, lock: int, now_ms: int, key: str) -> int | None:
        """Return the moment at which a fresh client would be granted a key if no other client acted; None for never."""
        while True:
            if key in self.free(lock, now_ms):
                return now_ms
            expires_in_ms = self.lock.expires_in_ms(lock)
            then_ms = now_ms + (FAR_MS if expires_in_ms is None else expires_in_ms)
            if key in self.free(lock, then_ms - GRID_MS):  # free without expiry: the code or a script compares the time
                return self._first_ms(lock, now_ms, then_ms - GRID_MS, key)
            if expires_in_ms is None:
                return None
            lock, now_ms = self.lock.later(lock, expires_in_ms), then_ms

    def _first_ms(self, lock: int, taken_ms: int, free_ms: int, key: str) -> int:
        """Return the first moment at which a key is free. taken_ms, free_ms: moments at which it is taken, and free."""
        while free_ms - taken_ms > GRID_MS:
            middle_ms = (taken_ms + free_ms) // 2 // GRID_MS * GRID_MS
            if key in self.free(lock, middle_ms):
                free_ms = middle_ms
            else:
                taken_ms = middle_ms
        return free_ms

    def _granted(self, lock: int, now_ms: int) -> frozenset[str]:
        """Return the keys that a fresh client would be granted if it ran alone from this state of the store."""
        begins_ms = max(0, now_ms - self.sleeps_ms)
        if begins_ms not in self._worlds:
            self._worlds[begins_ms] = World(self.program, [Tree(self.program, FRESH, begins_ms)], self.lock, self.counter)
        world = self._worlds[begins_ms]
        keys: set[str] = set()
        # a stage without a store is in its work at once
        keys.update(mark.key for _, mark in world.trees[0].nodes[0].marks if isinstance(mark, Granted) and mark.key)
        todo = [State((0,), (RUNS,), lock, 0, begins_ms, NONE, ghosts.beginning(1))]
        steps, until_ms = 0, begins_ms + self.sleeps_ms
        while todo and steps < MOST_STEPS:
            state = todo.pop()
            can_happen = possible(world, state, state.now_ms)
            draws = bool(can_happen) and can_happen[0].event.kind is CHOICE
            for after in [move.state for move in (can_happen if draws else can_happen[:1])] or _wake(world, state, until_ms):
                steps += 1
                marks = [event.mark for event in after.happened if isinstance(event, Marked)]
                granted = [mark.key for mark in marks if isinstance(mark, Granted)]
                keys.update(filter(None, granted))
                if not granted:
                    todo.append(after._replace(happened=()))
        return frozenset(keys)


def _wake(world: World, state: State, until_ms: int) -> list[State]:
    """Return the state in which a client wakes, or nothing if it sleeps beyond ``until_ms``. No time passes at the store."""
    sleeps = (wait.at_ms for *_, wait in world.sleeping(state) if wait.at_ms is not None)
    at_ms = min((at_ms for at_ms in sleeps if at_ms > state.now_ms), default=FAR_MS)
    return [settled(world, state, state._replace(now_ms=at_ms))] if at_ms <= until_ms else []

"""Would a fresh client get the lock now? The stage's own code and the real Redis decide it, for each state of the store.

A fresh client is a replica that no search has: it runs alone from that state, nobody else does anything, and at the store no
time passes. What it is granted before it must wait is free. Some locks sleep before they ask, or before they look again at what
they have set: then the client begins so much earlier. So whose the lock is follows from what the lock does, and not from the
names of keys.
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

FRESH = 99  # the number of the fresh client: no replica of a search has it
MOST_STEPS = 2000  # of all its ways from one state
FAR_MS = 10_000_000


class Probe:
    """The oracle of one stage. What it has found out is kept."""

    def __init__(self, program: Program, lock: Any, counter: Table) -> None:
        task = Task(program.task.ttl_ms)
        self.program = Program(program.stage, task, program.other_servers or None)
        self.program.drawing.tokens = program.drawing.tokens
        self.lock = lock
        self.counter = counter
        self.sleeps_ms = 0  # for how long a client that is alone sleeps before it is granted an empty store's lock
        self.free, self.free_at_ms = cache(self._granted), cache(self._free_at_ms)
        self._worlds: dict[int, World] = {}

    def close(self) -> None:
        """End all fresh clients."""
        for world in self._worlds.values():
            world.close()

    def known(self) -> frozenset[str]:
        """Return what a client is granted where the store is empty, and learn for how long it sleeps before."""
        while not (found := self._granted(self.lock.empty, 0)) and self.sleeps_ms < self.program.task.ttl_ms:
            self.sleeps_ms += GRID_MS
        if not found:
            self.sleeps_ms = 0
        return found

    def _free_at_ms(self, lock: int, now_ms: int, key: str) -> int | None:
        """Return when a fresh client would be granted a key, if nobody did anything; None for never."""
        while True:
            if key in self.free(lock, now_ms):
                return now_ms
            expires_in_ms = self.lock.expires_in_ms(lock)
            then_ms = now_ms + (FAR_MS if expires_in_ms is None else expires_in_ms)
            if key in self.free(lock, then_ms - GRID_MS):  # a moment that the code or a script compares with the clock
                return self._first_ms(lock, now_ms, then_ms - GRID_MS, key)
            if expires_in_ms is None:
                return None
            lock, now_ms = self.lock.later(lock, expires_in_ms), then_ms

    def _first_ms(self, lock: int, taken_ms: int, free_ms: int, key: str) -> int:
        """Return the first moment at which a key is free that is taken at one moment, and free at another."""
        while free_ms - taken_ms > GRID_MS:
            middle_ms = (taken_ms + free_ms) // 2 // GRID_MS * GRID_MS
            if key in self.free(lock, middle_ms):
                free_ms = middle_ms
            else:
                taken_ms = middle_ms
        return free_ms

    def _granted(self, lock: int, now_ms: int) -> frozenset[str]:
        """Return the keys that a fresh client would be granted, if it ran alone from this state of the store."""
        begins_ms = max(0, now_ms - self.sleeps_ms)
        if begins_ms not in self._worlds:
            self._worlds[begins_ms] = World(self.program, [Tree(self.program, FRESH, begins_ms)], self.lock, self.counter)
        world = self._worlds[begins_ms]
        found: set[str] = set()
        # a stage without a store is in its work at once
        found.update(mark.key for _, mark in world.trees[0].nodes[0].marks if isinstance(mark, Granted) and mark.key)
        todo = [State((0,), (RUNS,), lock, 0, begins_ms, NONE, ghosts.beginning(1))]
        steps, until_ms = 0, begins_ms + self.sleeps_ms
        while todo and steps < MOST_STEPS:
            state = todo.pop()
            can_happen = possible(world, state, state.now_ms)
            draws = bool(can_happen) and can_happen[0].event.kind is CHOICE
            for after in [move.state for move in (can_happen if draws else can_happen[:1])] or _woken(world, state, until_ms):
                steps += 1
                granted = [one.mark.key for one in after.happened if isinstance(one, Marked) and isinstance(one.mark, Granted)]
                found.update(filter(None, granted))
                if not granted:
                    todo.append(after._replace(happened=()))
        return frozenset(found)


def _woken(world: World, state: State, until_ms: int) -> list[State]:
    """Return the state in which a client wakes up, if it does so until then. At the store, no time has passed."""
    sleeps = (one.at_ms for *_, one in world.sleeping(state) if one.at_ms is not None)
    at_ms = min((one for one in sleeps if one > state.now_ms), default=FAR_MS)
    return [settled(world, state, state._replace(now_ms=at_ms))] if at_ms <= until_ms else []

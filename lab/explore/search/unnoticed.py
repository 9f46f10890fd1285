"""Commands to one of several servers that nobody can notice: such a server executes them at once.

A release reaches a server that does not have the client's vote: it changes nothing, and nothing that others do before can change
its answer. So all orders that differ in the moment of such a command only are the same. A search follows one of them, and
counts it once. What others can do is not guessed: all states of the server to which their commands and time can lead are looked
at, in the table of the real Redis.

The last command of a fan-out always has a moment of its own, because its client continues then. Source: partial-order reduction
by ample sets (Clarke, Grumberg and Peled, "Model Checking").
"""

from __future__ import annotations

from lab.explore.model import GRID_MS
from lab.explore.store.resp import Words
from lab.explore.store.table import Table

MOST_STATES = 500  # of a server whose state decides the answer of a command; with more, others may notice it


class NewCommand(Exception):  # noqa: N818 - states what happened
    """A client sends a command that was not known when others were looked at. The search begins again."""


class Unnoticed:
    """Decides which commands nobody can notice."""

    def __init__(self, table: Table, clients: int) -> None:
        """Take the table of a server. What each client sends is learned."""
        self.table = table
        self._sent: list[set[Words]] = [set() for _ in range(clients)]
        self._found: dict[tuple[int, int, Words], bool] = {}

    def sends(self, client: int, words: Words) -> None:
        """Remember what a client can send to a server. Raises NewCommand."""
        if words not in self._sent[client]:
            self._sent[client].add(words)
            if self._found:
                self._found.clear()
                raise NewCommand

    def is_unnoticed(self, state: int, client: int, words: Words, now_ms: int) -> bool:
        """Return whether a command changes nothing in a state of a server, and has the same answer whatever others do before."""
        if self.table.real.needs_clock(words):
            return False
        key = state, client, words
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._is_unnoticed(*key)
        return found

    def _is_unnoticed(self, state: int, client: int, words: Words) -> bool:
        first = self.table.answer(state, words)
        others = [one for number, sent in enumerate(self._sent) if number != client for one in sent]
        if any(map(self.table.real.needs_clock, others)):
            return False
        seen, todo = {state}, [state]
        while todo:
            now = todo.pop()
            answer = self.table.answer(now, words)
            if answer.state != now or answer.reply != first.reply or answer.published or len(seen) > MOST_STATES:
                return False
            after = {self.table.answer(now, one).state for one in others} | {self.table.later(now, GRID_MS)}
            todo += after - seen
            seen |= after
        return True

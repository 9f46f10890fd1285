"""One order of events in place of all, where nobody can notice the difference.

Sources: partial-order reduction by ample sets (Clarke, Grumberg and Peled, "Model Checking"), and persistent sets (Godefroid,
"Partial-Order Methods for the Verification of Concurrent Systems").

*A command whose moment nobody can notice* is sent at once. A session is kept alive by a thread of its client: as long as its
lease lives, a renewal changes nothing for others, and they change nothing for it. A watch that begins at a revision reports what
came after it, whenever it is sent; and the event of a watch reaches its client when it happens. A release reaches a server that
does not have the client's vote: it changes nothing, and nothing that others do before can change its answer. What others can do
there is not guessed: all states of the server to which their commands and time can lead are looked at, in the table of the real
Redis. That a reply is lost, or the command itself, is still decided. A renewal of a lease that has ended is a command like
others. The last command of a fan-out always has a moment of its own, because its client continues then.

*Steps at two servers, of which neither notices the other*, are tried in one order. The search continues at a few servers, and
the others follow later. The few are such that every client that has commands on their way has one there: so nobody can come back
to one of these servers, with another command, before a step at them. No fault may be left, for a fault at another server would
be no independent step.
"""

from __future__ import annotations

from itertools import combinations

from lab.explore.code.operation import LOCK, CommandSent, FanOut, Operation
from lab.explore.model import GRID_MS, Memo
from lab.explore.search import fan_out, one_server
from lab.explore.search.event import NONE
from lab.explore.search.state import Move, State
from lab.explore.search.world import World
from lab.explore.store.resp import Words
from lab.explore.store.table import Table

Able = list[tuple[int, int, Operation]]


def unnoticed(world: World, state: State) -> list[Move]:
    """Return what can happen to a command whose moment nobody can notice; nothing where there is none."""
    for client, thread, operation in world.threads(state):
        found: list[Move] = []
        if isinstance(operation, FanOut) and (node := _unnoticed_at(world, state, client, thread, operation)):
            found = list(fan_out.dids(world, state, client, thread, operation, (node,)))
        elif (
            isinstance(operation, CommandSent)
            and operation.server == LOCK
            and not world.is_blocked(state, client, thread)
            and world.lock.is_prompt(state.lock, operation.words)
        ):
            found = list(one_server.dids(world, state, client, thread, operation))
        if found:
            return [one._replace(alone=True) for one in found]
    return []


def _unnoticed_at(world: World, state: State, client: int, thread: int, operation: FanOut) -> int:
    """Return the server at which nobody can notice a command; 0 without one, and where only one server has not answered yet."""
    known, left = world.unnoticed, fan_out.unanswered(state, client, thread, operation)
    for command in left if known is not None and len(left) > 1 else ():
        known.sends(client, command.words)
        if known.is_unnoticed(world.lock.each[state.lock][command.node - 1], client, command.words, state.now_ms):
            return command.node
    return 0


def servers(world: World, state: State, able: Able) -> tuple[int, ...] | None:
    """Return at which of several servers a search continues; None for all of them."""
    if world.unnoticed is None or state.left != NONE:
        return None
    asking = [
        {one.node for one in fan_out.unanswered(state, client, thread, operation)}
        for client, thread, operation in able
        if isinstance(operation, FanOut)
    ]
    everywhere = list(world.servers(state))
    for number in range(1, len(everywhere)) if asking else ():
        hitting = [few for few in combinations(everywhere, number) if all(set(few) & one for one in asking)]
        if hitting:
            return min(hitting, key=lambda few: sum(len(set(few) & one) for one in asking))
    return None


MOST_STATES = 500  # of a server whose state decides the answer of a command; with more, others may notice it


class NewCommand(Exception):  # noqa: N818 - states what happened
    """A client sends a command that was not known when others were looked at. The search begins again."""


class Unnoticed:
    """Decides which commands nobody can notice."""

    def __init__(self, table: Table, clients: int) -> None:
        """Take the table of a server. What each client sends is learned."""
        self.table = table
        self._sent: list[set[Words]] = [set() for _ in range(clients)]
        self._found = Memo[tuple[int, int, Words], bool](self._is_unnoticed)

    def sends(self, client: int, words: Words) -> None:
        """Remember what a client can send to a server. Raises NewCommand."""
        if words not in self._sent[client]:
            self._sent[client].add(words)
            if self._found:
                self._found.clear()
                raise NewCommand

    def is_unnoticed(self, state: int, client: int, words: Words, now_ms: int) -> bool:
        """Return whether a command changes nothing in a state of a server, and has the same answer whatever others do before."""
        return not self.table.real.needs_clock(words) and self._found[state, client, words]

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

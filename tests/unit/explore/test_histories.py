"""A store whose states are reached by histories: a dictionary stands for the server."""

import pytest

from lab.explore.model import NotExplored
from lab.explore.store.histories import EXPIRE, LEFT, Done, Histories, Item, Lease, RealStore, Shape, StorePlace
from lab.explore.store.resp import Reply

TTL_MS = 3000
OK = Reply(b"OK", b"OK")


class Place(StorePlace):
    """Keys, each with a lease or without one, and the leases by name."""

    def __init__(self, sent: list[tuple[bytes, ...]], drifts: list[bytes]) -> None:
        super().__init__()
        self.sent = sent
        self.keys: dict[bytes, bytes] = {}
        self.leases: dict[bytes, int] = {}
        self.drifts = drifts

    def do(self, command):
        self.sent.append(command)
        match command:
            case (b"Grant", client):
                name = b"%x" % self.new_lease(int(client))
                self.leases[name] = int(client)
                return Done(Reply(name, name))
            case (b"Ping", name):
                return Done(OK, (name,) if name in self.leases else ())
            case (b"Put", key, lease):
                self.keys[key] = lease
            case (name, lease) if name == EXPIRE:
                self.leases.pop(lease)
                self.keys = {key: its for key, its in self.keys.items() if its != lease}
        return Done(OK)

    def read(self):
        items = [Item(key, b"", lease) for key, lease in sorted(self.keys.items())]
        leases = [Lease(name, TTL_MS, client) for name, client in sorted(self.leases.items())]
        return Shape(tuple(items), tuple(leases), b"".join(self.drifts))

    def close(self):
        """Leave nothing behind."""


class Store(RealStore):
    """A server with room for one place."""

    most_places, version = 1, "a dictionary"

    def __init__(self) -> None:
        self.made = 0
        self.sent: list[tuple[bytes, ...]] = []
        self.drifts: list[bytes] = []

    def place(self):
        self.made += 1
        return Place(self.sent, self.drifts)

    def close(self):
        """There is no connection."""


@pytest.fixture
def table():
    return Histories(Store())


def granted(table, client=0):
    """Return the state in which a client has a lease and a key with it, and the name of the lease."""
    lease = table.answer(0, (b"Grant", b"%d" % client))
    return table.answer(lease.state, (b"Put", b"L", lease.reply.value)).state, lease.reply.value


def test_time_of_a_lease(table):
    """A lease has its whole time after the grant and each renewal; when it is over, its keys are gone."""
    state, lease = granted(table)
    passed = table.later(state, 1000)
    renewed = table.answer(passed, (b"Ping", lease)).state

    assert (table.expires_in_ms(state), table.expires_in_ms(passed), table.expires_in_ms(renewed)) == (3000, 2000, 3000)
    assert renewed == state
    assert table.is_renewal(passed, renewed)
    assert not table.is_renewal(state, table.answer(state, (b"Put", b"other", b"")).state)
    assert table.later(passed, 2000) == table.answer(state, (EXPIRE, lease)).state
    assert not [key for key in table.contents[table.later(passed, 2000)] if key.name == b"L"]


def test_last_renewal(table):
    """The lease of a client was renewed so long ago as it has less than its whole time; of others nothing is known."""
    state, _ = granted(table)

    assert table.renewed_ms(state, 0, 500) == 500
    assert table.renewed_ms(table.later(state, 1000), 0, 1500) == 500
    assert table.renewed_ms(state, 1, 500) is None


def test_without_the_leases_of_others(table):
    """The keys of some clients are gone as if their leases had ended."""
    state, lease = granted(table, client=1)

    assert table.without_leases(state, {0}) == state
    assert table.without_leases(state, {1}) == table.answer(state, (EXPIRE, lease)).state


def test_moment_that_nobody_notices(table):
    """A renewal of a lease that lives has no moment of its own; that of one that has ended has one."""
    state, lease = granted(table)

    assert table.is_prompt(state, (b"Ping", lease))
    assert not table.is_prompt(0, (b"Ping", lease))
    assert table.is_prompt(state, (b"WatchEvent", lease, b"/L"))
    assert not table.is_prompt(state, (b"Put", b"L", lease))


def test_connection_that_breaks(table):
    """Where the store keeps nothing for a connection, nothing changes with it; the store learns of a process that dies."""
    state, _ = granted(table)

    assert table.disconnected(state, 0, (b"Put", b"L")) == state
    table.left_by(state, 0)
    assert table.real.sent[-1] == (LEFT, b"0", b"0")


def test_history_is_sent_again(table):
    """With room for one place, an older state is reached again by its history."""
    state, lease = granted(table)
    table.answer(state, (EXPIRE, lease))
    made = table.real.made

    assert table.answer(state, (b"Put", b"again", b"")).reply == OK
    assert table.real.made == made + 1


def test_store_that_does_not_repeat(table):
    """Where a history leads somewhere else than before, nothing is decided."""
    state, lease = granted(table)
    table.answer(state, (EXPIRE, lease))
    table.real.drifts.append(b"drifted")

    with pytest.raises(NotExplored, match="not repeatable"):
        table.answer(state, (b"Put", b"again", b""))


def test_live_history(table):
    """A schedule on a fresh place has the numbers of the table."""
    state, lease = granted(table)
    live = table.live()

    assert granted(live) == (state, lease)
    assert live.later(state, 1000) == table.later(state, 1000)

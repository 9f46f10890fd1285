"""Test the clocks of containers: they are measured, because two clocks can have the same boot id."""

from lab.containers.agent import Agent, app_of
from lab.containers.clocks import MORE_TRIES, TRIES, ClockWatch, Reading, read
from tests.every import every

MS = 1_000_000
HERE = "one boot"


class Host:
    """A host whose clock is ahead. The round trips take these times in turn."""

    def __init__(self, ahead_ms: float, trips_ms: list[float], boot: str = "one boot") -> None:
        self.ahead_ns, self.boot = int(ahead_ms * MS), boot
        self.trips_ms = trips_ms
        self.asked = 0
        self.now_ns = 1_000 * MS

    def now(self) -> int:
        return self.now_ns

    def ask(self) -> dict[str, object]:
        half_ns = int(self.trips_ms[self.asked % len(self.trips_ms)] * MS / 2)
        self.asked += 1
        self.now_ns += 2 * half_ns
        return {"clock": self.boot, "monotonic_ns": self.now_ns - half_ns + self.ahead_ns}

    @property
    def name(self) -> str:
        return f"host-{id(self)}"

    def clock(self) -> Reading:
        return read(self.ask, self.now)


@every(
    "ahead_ms, trips_ms, boot, clocks",
    [
        (0, [1], "one boot", 1),
        (0, [80, 30, 4, 60, 90], "one boot", 1),  # the shortest round trip counts
        (100_000_000, [1], "one boot", 2),  # a time namespace, or a machine that was resumed from a snapshot
        (-100_000_000, [1], "one boot", 2),
        (20, [1], "one boot", 2),
        (20, [400, 4], "one boot", 2),
        (20, [90], "one boot", 1),  # within the error of the reading
        (0, [400], "one boot", 2),  # so slow that the reading proves nothing: it counts as a clock of its own
        (0, [1], "another boot", 2),
    ],
)
def test_clock_is_compared_within_the_round_trip(ahead_ms, trips_ms, boot, clocks):
    """A clock is another one if it differs by more than the error of a reading, which is half of the round trip."""
    assert ClockWatch(HERE, [Host(ahead_ms, trips_ms, boot)]).number == clocks


def test_several_hosts():
    """Containers whose clocks agree count as one clock, and others as several, although all report the same boot id."""
    hosts = [Host(ahead_ms, [1]) for ahead_ms in (0, 0, 5_000, 5_000, 90_000)]

    watch = ClockWatch(HERE, hosts)
    watch.look_again()

    assert watch.number == 3
    assert [watch.clock_of[host.name] for host in hosts] == ["", "", hosts[2].name, hosts[2].name, hosts[4].name]
    assert [reading.ahead_ns // MS for reading in watch.readings[hosts[4].name]] == [90_000, 90_000]


def test_slow_host_is_asked_more_often():
    """A host with long round trips is asked more often; the error of a reading is half of its round trip."""
    quick, slow = Host(0, [1]), Host(0, [50])

    assert (quick.clock().error_ns, slow.clock().error_ns) == (MS // 2, 25 * MS)
    assert (quick.asked, slow.asked) == (TRIES, MORE_TRIES)


def test_agent_reports_its_clock(tmp_path):
    """An agent on this machine has this machine's clock, and answers an order that fails with its error."""
    agent = app_of(Agent("replica", None, tmp_path)).test_client()  # type: ignore[arg-type] # it starts nothing here
    state = agent.get("/").json

    taken = read(lambda: agent.get("/").json)

    assert (taken.boot, taken.may_be(Reading(state["clock"], 0, 0))) == (state["clock"], True)
    failed = agent.put("/order", json={"settings": {}})
    assert (failed.status_code, failed.text) == (500, "KeyError: 'name'")

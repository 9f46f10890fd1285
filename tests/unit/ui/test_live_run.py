"""Test the figures of the live page from growing files, the predictions, and the refusals, without a server or a browser."""

import threading

import msgspec
import pytest
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request as Asked

from app.journal import Wrote
from app.origin import foreign
from lab.evidence.history import Outcome, Request
from lab.ui import live_run
from lab.ui.both_sides import LOOPBACK
from lab.ui.event_stream import BEHIND, EventStream
from lab.ui.live_run import LiveRun, Tail
from lab.ui.predictions import Predictions
from tests.every import every

MS = 1_000_000
AHEAD_NS = 100_000_000 * MS  # of the second replica's clock
QUESTION = ("none", "rush")


def wrote(request: str, at_ns: int, value: int, part: str = "") -> Wrote:
    return Wrote(request=request, writing_ns=at_ns, wrote_ns=at_ns, value=value, overwrote=value - 1, part=part)


def answered(number: int, at_ns: int, outcome: Outcome = Outcome.ACKNOWLEDGED) -> Request:
    return Request(f"r{number}", at_ns, at_ns, at_ns, outcome, 200, "replica-1")


def append(path, *items) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("ab") as file:
        file.write(msgspec.json.Encoder().encode_lines(items))


class Clock:
    """Time that a test lets pass."""

    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def run(tmp_path):
    clock = Clock()
    live = LiveRun(tmp_path, {"requests": 100, "replicas": 2}, {"replica-2": AHEAD_NS}, clock)

    def look(at_ms: int):
        clock.now_ns = at_ms * MS
        return live.look()

    yield tmp_path, live, look
    live.close()


def test_tail_reads_each_byte_once(tmp_path):
    """Each byte is read once, and a line without its end is read when it is complete."""
    path, tail = tmp_path / "growing", Tail(tmp_path / "growing")

    assert tail.lines() == b""
    path.write_bytes(b"one\ntw")
    assert tail.lines() == b"one\n"
    with path.open("ab") as file:
        file.write(b"o\nthree\n")
    path.rename(tmp_path / "published")
    assert tail.lines() == b"two\nthree\n"
    assert tail.lines() == b""
    tail.close()


def test_gap_of_the_counter(run):
    """The figures have the acknowledged increments and the increments in the counter, whose difference is the gap."""
    folder, _, look = run
    append(folder / "journal" / "replica-1.jsonl", wrote("r0", 1 * MS, 1), wrote("r1", 3 * MS, 2))
    append(folder / "journal" / "replica-2.jsonl", wrote("r2", AHEAD_NS + 2 * MS, 2), wrote("r3", AHEAD_NS + 4 * MS, 2))
    append(folder / "requests.jsonl", *(answered(number, 5 * MS) for number in range(4)), answered(4, 6 * MS, Outcome.UNKNOWN))

    state = look(100)

    assert (state["acknowledged"], state["unknown"], state["failed"], state["counter"]) == (4, 1, 0, 2)
    # a counter in parts is their sum, each as it was last written
    append(folder / "journal" / "replica-1.jsonl", wrote("r5", 5, 5, "a"), wrote("r6", 6, 7, "b"), wrote("r7", 7, 6, "a"))
    later = look(3000)
    assert (later["counter"], later["idle_s"]) == (2 + 13, 3.0)


def test_live_state_is_bounded(run, monkeypatch):
    """The live state does not grow with the run."""
    monkeypatch.setattr(live_run, "POINTS", 60)
    folder, live, look = run
    sizes = []
    for number in range(130):
        append(folder / "requests.jsonl", answered(number, number * 100 * MS))
        sizes.append(len(msgspec.json.encode(look(number * 100))))

    assert max(sizes) <= 2 * sizes[10]
    assert 30 <= len(live.points) <= 60
    assert live.points[-1][1] >= 120
    assert live.over is False  # the last look found something


def test_speed_of_the_last_second(run):
    """An increment that was acknowledged and is not in the counter adds nothing to the speed."""
    folder, _, look = run
    append(folder / "requests.jsonl", *(answered(number, 0) for number in range(50)))
    append(folder / "journal" / "replica-1.jsonl", wrote("r1", 1, 30))
    look(0)
    append(folder / "requests.jsonl", *(answered(number, 0) for number in range(50)))
    append(folder / "journal" / "replica-1.jsonl", wrote("r2", 2, 50))

    assert look(500)["kept_per_s"] == 40
    assert look(2500)["kept_per_s"] == 0


def test_fault_is_shown_while_it_lasts(run):
    """A fault is shown while it lasts, and afterwards with its end."""
    folder, _, look = run
    (folder / "faults").mkdir()
    record = {"name": "freeze-1", "replica": "replica-2", "pid": 7, "request": "r9", "at_ns": 200 * MS}
    (folder / "faults" / "freeze-1.reached").write_bytes(msgspec.json.encode(record))

    kind = {"en": "freeze", "zh": "停顿"}
    assert look(300)["faults"] == [{"kind": kind, "replica": "replica-2", "from_s": 0.2, "until_s": None}]
    append(folder / "faults.jsonl", record | {"recovered_ns": 450 * MS})
    assert look(500)["faults"][0]["until_s"] == 0.45


NONE, SOME = 0, 1  # the two choices of the question


def test_predictions_are_counted():
    """A prediction counts for the next run that begins, and the settled ones are counted as right or wrong."""
    class_ = Predictions()
    class_.predict("1", QUESTION, SOME)
    class_.predict("2", QUESTION, SOME)
    class_.predict("2", QUESTION, NONE)  # this voter changes the choice

    assert class_.voted(QUESTION) == 2
    assert class_.begin(QUESTION, 2) == [1, 1]
    class_.predict("2", QUESTION, SOME)  # too late for this run
    class_.settle(SOME)

    assert class_.tally() == {"right": 1, "wrong": 1}
    assert class_.begin(QUESTION, 2) == [0, 1]


def test_slow_reader_is_dropped():
    """Events reach every reader, and a reader that is too slow is dropped."""
    news = EventStream()
    quick, slow = news.listen(), news.listen()
    for number in range(BEHIND + 1):
        news.publish(number=number)
        assert quick.get_nowait() == b'data: {"number":%d}\n\n' % number
    assert slow.get_nowait() is None
    for one in (quick, slow):
        news.leave(one)
    news.publish(number=0)
    assert quick.empty()


def test_end_of_events_wakes_readers():
    """The end of the events wakes the readers that wait for them."""
    news, heard = EventStream(), []
    ready = threading.Event()

    def listen() -> None:
        mine = news.listen()
        ready.set()
        heard.append(mine.get(timeout=10))

    waiting = threading.Thread(target=listen)
    waiting.start()
    ready.wait(10)
    news.end()
    waiting.join(10)
    assert heard == [None]


def asked(method: str, headers: dict[str, str], names: list[str] | None) -> Asked:
    """Return a request with these headers, to a server with these names."""
    request = Asked(EnvironBuilder(method=method, headers=headers).get_environ())
    request.trusted_hosts = names
    return request


HERE = {"Host": "127.0.0.1:8089"}
OTHER = "made by a page of another site"


@every(
    "method, said, why",
    [
        ("POST", {"Origin": "http://evil.example"}, OTHER),
        ("POST", {"Origin": "null"}, OTHER),
        ("POST", {"Origin": "http://127.0.0.1:9000"}, OTHER),
        ("POST", {"Sec-Fetch-Site": "cross-site"}, OTHER),
        ("POST", {"Sec-Fetch-Site": "same-site"}, OTHER),
        ("POST", {"Origin": "http://["}, OTHER),
        ("POST", {"Origin": "http://127.0.0.1:8089@evil.example"}, OTHER),
        ("POST", {}, ""),  # a tool that is no browser
        ("POST", {"Origin": "http://127.0.0.1:8089", "Sec-Fetch-Site": "same-origin"}, ""),
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, ""),  # a link
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, OTHER),
        *(("GET", {"Host": host}, "the Host must be") for host in ("[", "", "127.0.0.1.evil.example", "127.0.0.1@evil.example")),
        ("GET", {"Host": "evil.example:8089"}, "the Host must be"),  # another site's name that leads to this machine
    ],
)
def test_requests_of_another_site(method, said, why):
    """A page of another site may have a link here, but it can change nothing and read nothing."""
    found = foreign(asked(method, HERE | said, list(LOOPBACK)))

    assert why in found
    assert bool(found) == bool(why)

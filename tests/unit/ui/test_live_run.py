"""The live page's figures from growing files, who is inside, predictions, and what is refused: without a server or a browser."""

from __future__ import annotations

import threading

import msgspec
import pytest

from app.journal import Got, Released, Started, Wrote
from lab.evidence.history import Outcome, Request
from lab.evidence.tail import Tail
from lab.ui import ladder_panel
from lab.ui.event_stream import BEHIND, EventStream
from lab.ui.live_run import LiveRun
from lab.ui.lock_holders import BIN_NS, LockHolders
from lab.ui.predictions import VISITORS, Full, Predictions
from lab.ui.same_origin import LOOPBACK, foreign

MS = 1_000_000
QUESTION = ("none", "rush")


def got(request: str, at_ns: int, key: str = "lock", turn: int = 1) -> Got:
    return Got(request=request, turn=turn, key=key, asked_ns=at_ns, got_ns=at_ns, commands=1)


def released(request: str, at_ns: int, turn: int = 1) -> Released:
    return Released(request=request, turn=turn, releasing_ns=at_ns, released_ns=at_ns, result="ok", commands=1)


def wrote(request: str, at_ns: int, value: int, part: str = "") -> Wrote:
    return Wrote(request=request, wrote_ns=at_ns, value=value, overwrote=value - 1, part=part)


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
    live = LiveRun(tmp_path, {"requests": 100}, 2, clock)

    def look(at_ms: int):
        clock.now_ns = at_ms * MS
        return live.look()

    yield tmp_path, live, look
    live.close()


def test_tail_reads_each_byte_once(tmp_path):
    """Each byte is read once, and a torn line when it is complete."""
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
    """The gap is what was acknowledged and is not in the counter."""
    folder, _, look = run
    append(folder / "journal" / "replica-1.jsonl", wrote("r0", 1 * MS, 1), wrote("r1", 3 * MS, 2))
    append(folder / "journal" / "replica-2.jsonl", wrote("r2", 2 * MS, 2), wrote("r3", 4 * MS, 2))
    append(folder / "requests.jsonl", *(answered(number, 5 * MS) for number in range(4)), answered(4, 6 * MS, Outcome.UNKNOWN))

    state = look(100)

    assert (state["acknowledged"], state["unknown"], state["failed"], state["counter"]) == (4, 1, 0, 2)
    assert state["oldest_ns"] == 5 * MS


def test_a_counter_in_parts_is_their_sum(run):
    folder, _, look = run
    append(folder / "journal" / "replica-1.jsonl", wrote("r0", 1, 5, "a"), wrote("r1", 2, 7, "b"), wrote("r2", 3, 6, "a"))

    assert look(100)["counter"] == 13


def test_live_state_is_bounded(run):
    """The live state does not grow with the run."""
    folder, live, look = run
    sizes = []
    for number in range(2000):
        append(folder / "requests.jsonl", answered(number, number * 100 * MS))
        sizes.append(len(msgspec.json.encode(look(number * 100))))

    assert max(sizes) <= 2 * sizes[10]
    assert len(live.points) <= 600
    assert live.points[-1][1] >= 1990
    assert live.over is False  # the last look found something


def test_speed_is_that_of_the_last_second(run):
    folder, _, look = run
    append(folder / "requests.jsonl", *(answered(number, 0) for number in range(50)))
    look(0)
    append(folder / "requests.jsonl", *(answered(number, 0) for number in range(50)))

    assert look(500)["per_s"] == 100
    assert look(2500)["per_s"] == 0


def test_fault_is_shown_while_it_lasts(run):
    """A fault is shown while it lasts, and afterwards with its end."""
    folder, _, look = run
    (folder / "gates").mkdir()
    record = {"name": "freeze-1", "replica": "replica-2", "pid": 7, "request": "r9", "at_ns": 200 * MS}
    (folder / "gates" / "freeze-1.struck").write_bytes(msgspec.json.encode(record))

    assert look(300)["faults"] == [{"kind": "freeze", "replica": "replica-2", "from_s": 0.2, "until_s": None}]
    append(folder / "faults.jsonl", record | {"healed_ns": 450 * MS})
    assert look(500)["faults"][0]["until_s"] == 0.45


def test_one_holder_inside():
    """A single holder is inside for as long as it was."""
    holders = LockHolders(["a", "b"], 0)
    for event in (got("r1", 0), released("r1", BIN_NS)):
        holders.feed("a", event)

    assert holders.until(3 * BIN_NS) == {"first": 0, "held": {"a": "900", "b": "000"}, "crowded": {"a": "000", "b": "000"}}
    assert holders.until(4 * BIN_NS)["first"] == 3


@pytest.mark.parametrize(("key", "crowded"), [("lock", "9"), ("another", "0")])
def test_two_holders_of_one_key(key, crowded):
    """Two holders at once count as a crowd only where both hold the same key."""
    holders = LockHolders(["a", "b"], 0)
    holders.feed("a", got("r1", 0))
    holders.feed("b", got("r2", 0, key))

    assert holders.until(BIN_NS)["crowded"] == {"a": crowded, "b": crowded}


def test_reentry_is_no_crowd():
    """A holder that enters again is no crowd, and is out after its last release."""
    holders = LockHolders(["a"], 0)
    for event in (got("r1", 0), got("r1", 1, turn=2), released("r1", BIN_NS, turn=2), released("r1", 2 * BIN_NS)):
        holders.feed("a", event)

    state = holders.until(3 * BIN_NS)
    assert (state["held"]["a"], state["crowded"]["a"]) == ("990", "000")


def test_killed_replica_holds_nothing():
    """A holder in a replica that was killed is not inside any more."""
    holders = LockHolders(["a"], 0)
    holders.feed("a", got("r1", 0))
    holders.feed("a", Started(request="", started_ns=BIN_NS, pid=2))

    assert holders.until(2 * BIN_NS)["held"] == {"a": "90"}


def test_late_line_counts():
    """A line that comes a little late still counts where it belongs."""
    holders = LockHolders(["a", "b"], 0)
    holders.feed("a", released("r1", BIN_NS))
    holders.feed("a", got("r1", 0))

    assert holders.until(2 * BIN_NS)["held"]["a"] == "90"


def test_predictions_are_counted():
    """Predictions count from the next run on, and are tallied."""
    class_ = Predictions()
    class_.predict("1", "Ann", QUESTION, loses=True)
    class_.predict("2", "  Bob \n ", QUESTION, loses=True)
    class_.predict("2", "Bob", QUESTION, loses=False)  # he changed his mind

    assert class_.begin(QUESTION) == {"some": 1, "none": 1}
    class_.predict("2", "Bob", QUESTION, loses=True)  # too late for this run
    class_.settle(lost=True)

    assert class_.tally() == {
        "right": 1,
        "wrong": 1,
        "names": [{"name": "Ann", "right": 1, "wrong": 0}, {"name": "Bob", "right": 0, "wrong": 1}],
    }
    assert class_.begin(QUESTION) == {"some": 1, "none": 0}


def test_void_run_keeps_predictions():
    """A run that proves nothing leaves the predictions as they are."""
    class_ = Predictions()
    class_.predict("1", "Ann", QUESTION, loses=True)
    class_.begin(QUESTION)
    class_.settle(lost=None)

    assert (class_.tally()["right"], class_.tally()["wrong"]) == (0, 0)
    assert class_.of("1", QUESTION) is True
    class_.begin(QUESTION)
    class_.settle(lost=True)
    assert class_.tally()["right"] == 1


def test_there_is_an_end_to_how_many_predict():
    class_ = Predictions()
    for number in range(VISITORS):
        class_.predict(str(number), "", QUESTION, loses=True)

    with pytest.raises(Full):
        class_.predict("one more", "", QUESTION, loses=True)


def test_reference_is_shown_afterwards():
    """The reference's result is shown to a reader that predicted it, and to all after a run."""
    class_ = Predictions()
    class_.predict("1", "", QUESTION, loses=True)

    assert class_.may_see("1", QUESTION)
    assert not class_.may_see("2", QUESTION)
    class_.begin(QUESTION)
    class_.settle(lost=True)
    assert class_.may_see("2", QUESTION)


def test_ladder_hides_results():
    """The ladder begins with the core, and hides results that may not be seen yet."""
    state = ladder_panel.rungs("rush", lambda name: name == "none")

    assert [one["stage"] for one in state[:8]] == list(ladder_panel.CORE)
    assert state[0]["cell"]["verdict"] == "ADMITTED"
    assert {one["cell"] is None for one in state[1:]} == {True}


def test_slow_reader_is_dropped():
    """Events reach every reader, and a reader that is too slow is dropped."""
    news = EventStream()
    with news.listening() as quick, news.listening() as slow:
        for number in range(BEHIND + 1):
            news.publish(number=number)
            assert quick.get_nowait() == b'data: {"number":%d}\n\n' % number
        assert slow.get_nowait() is None
    assert not news.has_listeners


def test_end_of_events_wakes_readers():
    """The end of the events wakes the readers that wait for them."""
    news, heard = EventStream(), []
    ready = threading.Event()

    def listen() -> None:
        with news.listening() as mine:
            ready.set()
            heard.append(mine.get(timeout=10))

    waiting = threading.Thread(target=listen)
    waiting.start()
    ready.wait(10)
    news.end()
    waiting.join(10)
    assert heard == [None]


HERE = {"Host": "127.0.0.1:8089"}


@pytest.mark.parametrize(
    "said",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"Origin": "http://["},
    ],
)
def test_other_site_may_change_nothing(said):
    """A page of another site may change nothing."""
    assert foreign("POST", HERE | said, LOOPBACK)


@pytest.mark.parametrize("said", [{}, {"Origin": "http://127.0.0.1:8089", "Sec-Fetch-Site": "same-origin"}])
def test_own_page_may_change_things(said):
    """The lab's own page may change things, and so may a tool that is no browser."""
    assert foreign("POST", HERE | said, LOOPBACK) == ""


@pytest.mark.parametrize(("mode", "refused"), [("navigate", False), ("cors", True), ("no-cors", True)])
def test_other_site_may_only_link(mode, refused):
    """A page of another site may link here and may not read."""
    assert bool(foreign("GET", HERE | {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode}, LOOPBACK)) == refused


def test_bad_host_is_refused():
    """A host that cannot be parsed is refused."""
    assert "cannot be parsed" in foreign("GET", {"Host": "["}, LOOPBACK)


def test_rebound_name_is_refused():
    """A name that was made to point to this machine is refused."""
    assert foreign("GET", {"Host": "evil.example:8089"}, LOOPBACK)
    assert foreign("GET", {"Host": "lab.example"}) == ""

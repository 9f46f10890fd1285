"""The live page's figures from growing files, who is inside, predictions, and what is refused: without a server or a browser."""

import threading

import msgspec
import pytest

from app.journal import Got, Released, Started, Wrote
from app.locks import stages
from lab.evidence.history import Outcome, Request
from lab.scenario import reader as scenarios
from lab.ui import ladder_panel, live_run
from lab.ui.both_sides import LOOPBACK, foreign
from lab.ui.event_stream import BEHIND, EventStream
from lab.ui.live_run import LiveRun, Tail
from lab.ui.live_state import LiveState
from lab.ui.lock_holders import BIN_NS, KEPT, LAYERS, LockHolders
from lab.ui.predictions import Predictions
from lab.ui.run_form import RunRequest
from tests.every import every

MS = 1_000_000
QUESTION = ("none", "rush")


def got(request: str, at_ns: int, key: str = "lock", turn: int = 1) -> Got:
    return Got(request=request, turn=turn, key=key, asked_ns=at_ns, got_ns=at_ns, commands=1)


def released(request: str, at_ns: int, turn: int = 1) -> Released:
    return Released(request=request, turn=turn, releasing_ns=at_ns, released_ns=at_ns, result="ok", commands=1)


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
    # a counter in parts is their sum, each as it was last written
    append(folder / "journal" / "replica-1.jsonl", wrote("r5", 5, 5, "a"), wrote("r6", 6, 7, "b"), wrote("r7", 7, 6, "a"))
    assert look(200)["counter"] == 2 + 13


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


def test_speed_is_what_was_kept_in_the_last_second(run):
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

    assert look(300)["faults"] == [{"kind": "freeze", "replica": "replica-2", "from_s": 0.2, "until_s": None}]
    append(folder / "faults.jsonl", record | {"recovered_ns": 450 * MS})
    assert look(500)["faults"][0]["until_s"] == 0.45


def shown(holders: LockHolders, *horizons_ns: int) -> dict[str, dict[str, str]]:
    """The strip as a page has it that took all answers up to these moments."""
    lanes: dict[str, dict[str, list[str]]] = {layer: {name: [] for name in holders.replicas} for layer in LAYERS}
    for horizon_ns in horizons_ns:
        bins = holders.until(horizon_ns)
        for layer, by_replica in lanes.items():
            for name, digits in by_replica.items():
                digits[bins["first"] :] = bins[layer][name]
    return {layer: {name: "".join(digits) for name, digits in by_replica.items()} for layer, by_replica in lanes.items()}


def fed(*events, to="a", names="ab") -> LockHolders:
    """Holders of these replicas, of which one has written these events."""
    holders = LockHolders([*names], 0)
    for event in events:
        holders.feed(to, event)
    return holders


def test_one_holder_inside():
    """A single holder is inside for as long as it was."""
    holders = fed(got("r1", 0), released("r1", BIN_NS))

    empty = {"a": "000", "b": "000"}
    assert holders.until(3 * BIN_NS) == {
        "first": 0,
        "locked": True,
        "held": {"a": "900", "b": "000"},
        "pale": empty,
        "crowded": empty,
    }
    assert holders.until(4 * BIN_NS)["first"] == 3


@pytest.mark.parametrize(("keys", "crowded"), [(("lock", "lock"), "9"), (("lock", "another"), "0"), (("", ""), "0")])
def test_two_holders_of_one_key(keys, crowded):
    """Two holders at once are a crowd only where both held one key; a stage without a lock has requests at work."""
    holders = LockHolders(["a", "b"], 0)
    for replica, request, key in zip("ab", ("r1", "r2"), keys, strict=True):
        holders.feed(replica, got(request, 0, key))
        holders.feed(replica, released(request, BIN_NS))

    bins = holders.until(BIN_NS)
    assert (bins["held"], bins["crowded"]) == ({"a": "9", "b": "9"}, {"a": crowded, "b": crowded})
    assert bins["locked"] is any(keys)


def test_late_release_accuses_nobody():
    """The releases of a sound lock arrive half a second late: no bin is ever called a crowd, and in the end all is right."""
    holders = LockHolders(["a", "b"], 0)
    late_ns = 500 * MS
    turns = [("ab"[number % 2], f"r{number}", number * BIN_NS, (number + 1) * BIN_NS - MS) for number in range(80)]
    lines = [(since_ns, replica, got(request, since_ns)) for replica, request, since_ns, _ in turns]
    lines += [(until_ns + late_ns, replica, released(request, until_ns)) for replica, request, _, until_ns in turns]
    page: dict[str, list[str]] = {"a": [], "b": []}

    for now_ns in range(0, 120 * BIN_NS, BIN_NS):
        for _, replica, event in [line for line in lines if now_ns <= line[0] < now_ns + BIN_NS]:
            holders.feed(replica, event)
        bins = holders.until(now_ns)
        assert {*"".join(bins["crowded"].values())} <= {"0"}
        for name, digits in page.items():
            digits[bins["first"] :] = bins["held"][name]

    assert "".join(page["a"])[:4] == "9090"
    assert "".join(page["b"])[:4] == "0909"
    assert holders.whole()["pale"] == {"a": "0" * 119, "b": "0" * 119}


def test_overlap_is_drawn_when_both_have_released():
    """A holder that really overlapped another is drawn so once both releases are on record, over the bins that were pale."""
    holders = fed(got("r1", 0))
    holders.feed("b", got("r2", 2 * BIN_NS))
    holders.feed("b", released("r2", 3 * BIN_NS))
    before = shown(holders, 4 * BIN_NS)
    holders.feed("a", released("r1", 4 * BIN_NS))

    after = holders.until(5 * BIN_NS)

    assert (before["pale"], before["crowded"]) == ({"a": "9999", "b": "0000"}, {"a": "0000", "b": "0000"})
    assert after["first"] == 0
    assert after["held"] == {"a": "99990", "b": "00900"}
    assert after["crowded"] == {"a": "00900", "b": "00900"}


def test_reentry_is_no_crowd():
    """A holder that enters again is no crowd, and is out after its last release."""
    holders = fed(got("r1", 0), got("r1", 1, turn=2), released("r1", BIN_NS, turn=2), released("r1", 2 * BIN_NS), names="a")

    state = holders.until(3 * BIN_NS)
    assert (state["held"]["a"], state["crowded"]["a"]) == ("990", "000")


def test_killed_replica_holds_nothing():
    """A holder in a replica that was killed is not inside any more, and is never confirmed."""
    holders = fed(got("r1", 0), Started(request="", started_ns=BIN_NS, pid=2), names="a")

    state = holders.until(2 * BIN_NS)
    assert (state["held"]["a"], state["pale"]["a"]) == ("00", "90")
    assert holders.idle_s(BIN_NS + 3_000 * MS) == 3.0


def test_old_bins_are_forgotten():
    """The strip does not grow with the run: it keeps the bins that are on it, and a holder that is still inside."""
    holders = fed(got("r", 0), to="b")
    for number in range(5 * KEPT):
        holders.feed("a", got(f"r{number}", number * BIN_NS))
        holders.feed("a", released(f"r{number}", (number + 1) * BIN_NS))
        holders.until((number + 1) * BIN_NS)

    whole = holders.whole()
    assert (whole["first"], len(whole["held"]["a"]), whole["pale"]["b"]) == (4 * KEPT, KEPT, "9" * KEPT)
    assert len(holders._stays) <= 2 * KEPT + 2


def test_late_visitor_gets_the_strip(run):
    """A browser that connects during a run gets the bins that were published before."""
    folder, live, look = run
    append(folder / "journal" / "replica-1.jsonl", got("r1", 10 * MS), released("r1", 110 * MS))
    look(300)

    assert live.strip()["held"]["replica-1"].startswith("699940")


NONE, SOME = 0, 1  # the two choices of the question


def test_predictions_are_counted():
    """Predictions count from the next run on, and are tallied."""
    class_ = Predictions()
    class_.predict("1", "Ann", QUESTION, SOME)
    class_.predict("2", "  Bob \n ", QUESTION, SOME)
    class_.predict("2", "Bob", QUESTION, NONE)  # he changed his mind

    assert class_.voted(QUESTION) == 2
    assert class_.begin(QUESTION, 2) == [1, 1]
    class_.predict("2", "Bob", QUESTION, SOME)  # too late for this run
    class_.settle(SOME)

    assert class_.tally() == {
        "right": 1,
        "wrong": 1,
        "names": [{"name": "Ann", "right": 1, "wrong": 0}, {"name": "Bob", "right": 0, "wrong": 1}],
    }
    assert class_.begin(QUESTION, 2) == [0, 1]


def test_own_prediction_stays_and_is_answered():
    """A visitor's prediction stays when the run has begun, and the run answers it.

    The reference's result is shown to a reader that predicted it, and to all after a run.
    """
    class_ = Predictions()
    class_.predict("1", "", QUESTION, SOME)
    before = class_.of("1", QUESTION)
    assert [class_.may_see(reader, QUESTION) for reader in "12"] == [True, False]
    class_.begin(QUESTION, 2)
    during = class_.of("1", QUESTION)
    class_.settle(SOME)

    assert class_.may_see("2", QUESTION)
    assert before == {"next": SOME, "last": None, "right": 0, "wrong": 0}
    assert during == {"next": None, "last": {"choice": SOME, "right": None}, "right": 0, "wrong": 0}
    assert class_.of("1", QUESTION) == {"next": None, "last": {"choice": SOME, "right": True}, "right": 1, "wrong": 0}
    assert class_.of("2", QUESTION) == {"next": None, "last": None, "right": 0, "wrong": 0}


def test_votes_are_pushed():
    """How many predict is published at once, also to a page that opens later; what they predict only when the run starts."""
    state = LiveState("lua", "holder_crash")
    try:
        with state.news.listening() as mine:
            state.predict("1", "", "lua", scenarios.load("holder_crash"), 2)
            state.predict("2", "", "lua", scenarios.load("holder_crash"), 0)
            state.predict("3", "", "none", scenarios.load("rush"), 0)  # of another question: it counts, and is not shown
            messages = [msgspec.json.decode(mine.get_nowait()[len(b"data: ") :]) for _ in range(mine.qsize())]

        subject = {"stage": "lua", "scenario": "holder_crash", "step": 0, "run": 0}
        assert messages == [{"kind": "votes", **subject, "voted": number} for number in (1, 2)]
        assert state.snapshot()["votes"] == subject | {"voted": 2}
        state.starting(RunRequest(stages()["lua"], scenarios.load("holder_crash"), ""))
        assert state.snapshot()["about"]["predicted"] == [1, 0, 1]
    finally:
        state.close()


def test_ladder_hides_results():
    """The ladder begins with the core, and hides results that may not be seen yet."""
    state = ladder_panel.rungs("rush", lambda name: name == "none")

    assert [one["stage"] for one in state[:9]] == list(ladder_panel.CORE)
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
OTHER = "made by a page of another site"


@every(
    "method, said, why",
    [
        ("POST", {"Origin": "http://evil.example"}, OTHER),
        ("POST", {"Origin": "null"}, OTHER),
        ("POST", {"Origin": "http://127.0.0.1:9000"}, OTHER),
        ("POST", {"Sec-Fetch-Site": "cross-site"}, OTHER),
        ("POST", {"Sec-Fetch-Site": "same-site"}, OTHER),
        ("POST", {"origin": "http://evil.example"}, OTHER),
        ("POST", {"sec-fetch-site": "cross-site"}, OTHER),
        ("POST", {"Origin": "http://["}, "cannot be parsed"),
        ("POST", {}, ""),  # a tool that is no browser
        ("POST", {"Origin": "http://127.0.0.1:8089", "Sec-Fetch-Site": "same-origin"}, ""),
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, ""),  # a link
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, OTHER),
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, OTHER),
        ("GET", {"Host": "["}, "cannot be parsed"),
        ("GET", {"Host": "evil.example:8089"}, "the Host must be"),  # a name that was made to point to this machine
    ],
)
def test_what_another_site_may_not_do(method, said, why):
    """A page of another site may link here; it may change nothing, and read nothing."""
    found = foreign(method, HERE | said, LOOPBACK)

    assert why in found
    assert bool(found) == bool(why)


def test_any_name_is_accepted_where_none_is_given():
    assert foreign("GET", {"Host": "lab.example"}) == ""

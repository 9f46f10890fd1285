"""Test the data of the timeline, from histories made by hand."""

from app.journal import GaveUp, Got, Released, Renewed, Started
from lab.evidence.loss import Mechanism
from lab.report import run_page
from lab.story.from_run import caption
from lab.story.happening import Kind
from lab.story.timeline import NEVER
from tests.builders import MS, outlived, picture_of


def test_times_are_in_microseconds(made):
    """Times are microseconds since the first request."""
    made.increment("a", 0, 0, at=(100, 101, 104, 105)).increment("b", 1, 1, at=(110, 111, 112, 113))

    one, other = picture_of(made, final=2).held

    assert (one.got, one.reading, one.read_at, one.wrote_at, one.until) == (0, 1000, 1000, 4000, 5000)
    assert (other.got, other.read, other.wrote, other.overwrote) == (10_000, 1, 2, 1)


def test_lease_and_loss(made):
    """A lease belongs to its holder and ends at its time, even if the store noticed later. The picture opens on the loss."""
    picture = picture_of(outlived(made), final=1, ttl_ms=300, tests="held_to_the_end")

    first, second = picture.lives
    assert (picture.held[first.holder].request, picture.held[second.holder].request) == ("r0", "r1")
    assert (first.due, first.gone, first.how) == (300_000, 320_000, "expired")
    assert (second.how, picture.held[second.by].request) == ("del", "r0")
    loss = picture.losses[picture.focus]
    assert (picture.held[loss.culprit].request, picture.held[loss.victim].request, loss.destroyed) == ("r1", "r0", 1)
    assert picture.mechanisms[loss.mechanism] == Mechanism.TTL_OVER_IN_WORK
    assert picture.opens[0] == 0
    assert 761_000 <= picture.opens[1] <= picture.end


def test_overlaps_are_stacked(made):
    """Grants that overlap in one replica are stacked."""
    made.increment("a", 0, 0, at=(1, 2, 8, 9)).increment("b", 0, 1, at=(3, 4, 10, 11)).increment("c", 1, 1, at=(12, 13, 14, 15))

    assert [held.slot for held in picture_of(made, final=2).held] == [0, 1, 0]


def test_dead_holder_in_the_timeline(made):
    """A holder that died held the lock until its process died, and the fault has the time of the restart."""
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=0, pid=1))
    made.increment("a", 0, None, at=(5, 6, 7, 8), outcome="unknown")
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=50 * MS, pid=2))
    made.fault("kill", "a", 8, 9, "write.before")

    picture = picture_of(made, final=0)

    assert [(held.until, held.result) for held in picture.held] == [(3000, "died with its process")]
    assert [(fault.at, fault.back, fault.next_got) for fault in picture.faults] == [(3000, 45_000, NEVER)]
    assert picture.focus_fault == 0


def test_renewals_and_given_up_requests(made):
    """Renewals, and requests that gave up, are in the timeline."""
    made.increment("a", 0, 0, at=(1, 2, 3, 4))
    made.line("journal/replica-1.jsonl", Renewed(request="", key="lock", renewed_ns=2 * MS, answer="1", prolonged=True))
    made.line("journal/replica-1.jsonl", GaveUp(request="b", asked_ns=2 * MS, gave_up_ns=9 * MS, why="not free", commands=3))

    picture = picture_of(made, final=1)

    assert [(renewal.at, renewal.succeeded) for renewal in picture.renewals] == [(1000, True)]
    assert [(waited.asked, waited.gave_up) for waited in picture.waited] == [(1000, 8000)]


def test_long_run_is_cut(made):
    """Of a long run, the timeline keeps the grants around the loss, and the number of all grants."""
    for number in range(200):
        made.increment(f"r{number}", number, number, at=10 * number + 1)
    made.increment("stale", 0, 200, at=(1500, 1501, 2010, 2011), replica="replica-2")

    picture = picture_of(made, final=1, limit=20)

    assert (len(picture.held), picture.grants) == (20, 201)
    assert picture.held[picture.losses[picture.focus].culprit].request == "stale"
    assert picture.held[0].got <= 1_499_000 <= picture.held[-1].got


def test_damaged_history_has_a_page(made):
    """A damaged history gives a timeline of its readable files, and a page."""
    made.increment("a", 0, 0, at=(1, 2, 3, 4))
    with (made.folder / "journal" / "replica-1.jsonl").open("a") as file:
        file.write("nonsense\n")

    assert picture_of(made, final=1).held == []
    page, *_ = run_page.report_run(made.folder)
    assert "replica-1.jsonl cannot be read" in page.read_text(encoding="utf-8")


def test_chain_of_thefts(made):
    """r0's lease ends; its late release deletes r1's lock, r1's release deletes r2's, and so on."""
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 110).key_event("set", 111).key_event("expire", 111)
    made.key_event("del", 161).key_event("set", 163).key_event("expire", 163).key_event("del", 201).key_event(
        "set", 203
    ).key_event("del", 300)
    made.increment("r0", 0, 0, at=(10, 11, 159, 160))
    made.increment("r1", 0, 1, at=(111, 112, 199, 200), replica="replica-2", asked=20)
    made.increment("r2", 0, 1, at=(163, 164, 290, 299), replica="replica-3", asked=20)
    made.increment("r3", 0, 1, at=(203, 204, 310, 311), asked=20, answer="0")

    picture = picture_of(made, final=1, ttl_ms=100, tests="releases_only_its_own")

    names = [held.request for held in picture.held]
    assert [names[life.holder] for life in picture.lives] == ["r0", "r1", "r2", "r3"]
    assert [life.by if life.by == NEVER else names[life.by] for life in picture.lives] == [NEVER, "r0", "r1", "r2"]


def test_events_that_the_lab_received_late(made):
    """On a busy machine the lab receives several events at once: their order still shows whose lock each was."""
    for event, at_ms in (("set", 35), ("del", 35), ("set", 36), ("del", 36), ("set", 37), ("expire", 37), ("expired", 140)):
        made.key_event(event, at_ms)
    made.key_event("set", 141).key_event("del", 145)
    made.increment("r0", 0, 0, at=(10, 11, 12, 13), sent_ns=9).increment("r1", 1, 1, at=(20, 21, 22, 23), sent_ns=19)
    made.increment("r2", 2, None, at=(30, 31, 0, 400), sent_ns=29).fault("freeze", "r2", 31, 400)
    made.increment("r3", 2, 2, at=(131, 132, 143, 144), replica="replica-2", asked=40, sent_ns=130)

    picture = picture_of(made, final=3, ttl_ms=100)

    assert [picture.held[life.holder].request for life in picture.lives] == ["r0", "r1", "r2", "r3"]
    assert Kind.LEASE_ENDED in {one.kind for part in caption(picture) for one in part}


def test_deletion_that_the_lab_received_late(made):
    """A deletion belongs to the late release that sent it, even if the lab receives its event some time after."""
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 110).key_event("set", 111).key_event("del", 190)
    made.increment("r0", 0, 0, at=(10, 11, 12, 13), released=161).fault("expire", "r0", 13, 160, "release.before")
    made.increment("r1", 1, 1, at=(111, 112, 299, 300), replica="replica-2", asked=20)

    picture = picture_of(made, final=2, ttl_ms=100, tests="releases_only_its_own")

    assert [life.by if life.by == NEVER else picture.held[life.by].request for life in picture.lives] == [NEVER, "r0"]


def test_plainest_loss(made):
    """Without a lock, a picture opens on two requests that read one number and write the next, if there is such a loss."""
    times = {"a": (1, 2, 21, 22), "b": (23, 24, 41, 42), "c": (2, 3, 50, 51), "d": (59, 60, 80, 81), "e": (60, 61, 82, 83)}
    for (name, at), (read, over) in zip(times.items(), ((0, 0), (1, 1), (0, 2), (1, 1), (1, 2)), strict=True):
        made.increment(name, read, over, at=at, key="", commands=0)

    picture = picture_of(made, final=2, store=None)

    assert len(picture.losses) == 2
    assert picture.held[picture.losses[picture.focus].culprit].request == "e"


def test_late_answer_of_a_release(made):
    """A release whose answer came late is still the release that deleted the lock."""
    made.key_event("set", 10).key_event("del", 22)
    made.increment("r0", 0, 0, at=(10, 11, 20, 21))
    path = made.folder / "journal" / "replica-1.jsonl"
    path.write_text(path.read_text().replace(f'"released_ns":{21 * MS + MS // 2}', f'"released_ns":{900 * MS}'))

    (life,) = picture_of(made, final=1).lives

    assert (life.holder, life.by) == (0, 0)


def test_commands_stand_in_the_order_of_the_counter(made):
    """A late answer to a's write moves neither write: b overwrote a's number, and had read before a's write."""
    made.increment("a", 0, 0, at=(1, 2, 90, 91)).increment("b", 0, 1, at=(3, 4, 40, 41), replica="replica-2")

    a, b = picture_of(made, final=1).held

    assert a.read_at <= a.wrote_in < b.wrote_in <= b.wrote_at
    assert 0 <= a.read_in < a.wrote_in
    assert b.read_in < a.wrote_in
    assert (a.counter, b.counter) == (1, 1)


def test_stage_without_a_lock(made):
    """A stage that names no key has no lock in its picture, and its requests wait for nothing."""
    made.increment("a", 0, 0, at=(1, 2, 6, 7), key="").increment("b", 0, 1, at=(2, 3, 8, 9), key="", replica="replica-2")
    picture = picture_of(made, final=1, store=None)

    assert not picture.is_locked
    assert picture.waiting == []


def test_waiting_requests_are_counted(made):
    """The number of waiting requests grows when one asks, and falls when it gets the lock or gives up."""
    made.increment("a", 0, 0, at=(1, 2, 8, 9), asked=0).increment("b", 1, 1, at=(10, 11, 12, 13), asked=2)
    made.gave_up("c", 20)

    picture = picture_of(made, final=2)

    assert [number for _, number in picture.waiting] == [2, 1, 2, 1, 0]


def test_release_without_a_beginning(made):
    """If a journal has only the end of a release, the holder held the lock until that end."""
    granted = Got(request="a", key="lock", asked_ns=8 * MS, got_ns=9 * MS, commands=1)
    made.line("journal/replica-1.jsonl", granted)
    released = Released(request="a", releasing_ns=0, released_ns=20 * MS, result="ok", commands=1, answer="1", command="DEL")
    made.line("journal/replica-1.jsonl", released)
    made.answer("a", "acknowledged", "replica-1", 8 * MS, 30 * MS)

    picture = picture_of(made, final=0)

    assert [held.until for held in picture.held] == [12_000]
    assert picture.opens[1] > 1

"""Reading a history: in the order of time, without holding all of it, and honest about damage."""

import random
from dataclasses import dataclass

from lab.evidence.history import History, in_order, outcome_of
from lab.evidence.run_record import DamageKind
from tests.builders import Made
from tests.every import every


@dataclass(frozen=True)
class Stamp:
    at_ns: int


@every("chunk", [1, 2, 7, 1000])
def test_merge_orders_streams(chunk):
    """Nearly ordered streams come out in order."""
    streams = {}
    for name in "abc":
        times = sorted(random.Random(name).sample(range(10_000), 500))
        for index in range(0, len(times) - 1, 2):  # neighbours swapped: out of order by one
            times[index], times[index + 1] = times[index + 1], times[index]
        streams[name] = iter([Stamp(time) for time in times])

    merged = list(in_order(streams, chunk=max(chunk, 2)))

    assert len(merged) == 1500
    assert [item.at_ns for _, _, item in merged] == sorted(at_ns for at_ns, _, _ in merged)


def test_no_more_than_a_few_chunks_are_held():
    given = 0

    def endless():
        nonlocal given
        while True:
            given += 1
            yield Stamp(given)

    merged = in_order({"a": endless()}, chunk=10)
    for _ in range(1000):
        next(merged)

    assert given <= 1000 + 4 * 10


def test_torn_lines(tmp_path):
    """A torn last line ends a journal; a torn line in the middle is damage."""
    made = Made(tmp_path).increment("a", 0, 0)
    journal = tmp_path / "journal" / "replica-1.jsonl"
    whole = journal.read_bytes()

    journal.write_bytes(whole + b'{"what":"got","requ')
    assert len(list(History(tmp_path).stamped())) == 4

    journal.write_bytes(whole[:20] + b"\n" + whole)
    findings = made.analyse(final=1)
    (damage,) = findings.damage
    assert (damage.file, damage.kind, damage.n) == ("journal/replica-1.jsonl", DamageKind.UNREADABLE_LINES, 1)
    assert findings.account.writes == 1  # the rest of the journal counts


@every(
    "status, replica, outcome",
    [
        (200, "replica-1", "acknowledged"),
        (200, "", "unknown"),
        (503, "replica-1", "failed"),
        (409, "replica-1", "failed"),
        (400, "replica-1", "failed"),
        (500, "replica-1", "unknown"),
        (502, "", "unknown"),
        (504, "", "unknown"),
        (0, "", "unknown"),
    ],
)
def test_every_answer_is_one_of_three(status, replica, outcome):
    """An answer whose replica died in the middle of it acknowledges nothing: its status came, and its body did not."""
    assert outcome_of(status, replica) == outcome

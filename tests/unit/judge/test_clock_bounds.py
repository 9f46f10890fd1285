"""Test that the journals bound the clocks of several machines, and that the judge accuses no lock within their error."""

import dataclasses
import random
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from lab.evidence import run_folder
from lab.evidence.history import LENGTHS, History
from lab.evidence.run_folder import save
from lab.evidence.run_record import ClockReading, inventory
from lab.judge.clock_bounds import bound
from lab.judge.verdict import judge_again
from lab.scenario import reader
from lab.story.verdict import why
from tests.builders import MS, Made, record_of
from tests.corpus import recorded, runs, unpack

APART_NS = 100_000_000_000_000  # as two machines whose boots are 100 000 s apart
READ_WITHIN_NS = 2 * MS  # half the round trip of a reading
ALONE = ("one_replica", "pooled_thread", "nested")  # scenarios with one replica
PROBED = [
    one
    for one in recorded()
    if one.shelf in ("broken", "sound") and one.scenario not in ALONE and one.options.get("replicas") != 1
]
DRIFTING = ("broken/two_permits rush", "sound/redis_py rush")
SHIFTED = [one for one in PROBED if one.scenario == "rush"][:20]


def moved(folder: Path, replica: str, drift: float = 0.0) -> None:
    """Change the stamps of a replica to a clock that is APART_NS ahead. drift: how much faster that clock runs, as a share."""
    path = folder / "journal" / f"{replica}.jsonl"
    lines = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    moments = [{name for name in line if name.endswith("_ns") and name not in LENGTHS and line[name]} for line in lines]
    first_ns = min(line[name] for line, names in zip(lines, moments, strict=True) for name in names)
    for line, names in zip(lines, moments, strict=True):
        line |= {name: line[name] + APART_NS + int(drift * (line[name] - first_ns)) for name in names}
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def readings(folder: Path, within_ns: int = READ_WITHIN_NS) -> dict[str, list[ClockReading]]:
    """Return the readings that an agent on the other machine would have given before and after a run."""
    stamps = [at_ns for at_ns, _, _ in History(folder).stamped()]
    chance = random.Random(folder.name)
    wrong = [chance.randint(-within_ns, within_ns) for _ in range(2)]
    return {"two": [ClockReading(at, APART_NS + by, within_ns) for at, by in zip((stamps[0], stamps[-1]), wrong, strict=True)]}


def split(folder: Path, within_ns: int = READ_WITHIN_NS) -> None:
    """Turn a recorded run of one machine into a run of two, with replica-2 on the second."""
    taken = readings(folder, within_ns)
    moved(folder, "replica-2")
    record = run_folder.load(folder)
    record.clocks, record.clock_of, record.clock_readings = 2, {"replica-2": "two"}, taken
    record.files = inventory(folder)
    save(folder / "run.json", record)


@pytest.fixture
def unpacked(tmp_path):
    """Return a function that unpacks a recorded run."""

    def one(name: str) -> Path:
        into = tmp_path / name.replace("/", "-")
        unpack(runs(name.rpartition("/")[0])[name], into)
        return into

    return one


@pytest.mark.parametrize("name", [one.name for one in SHIFTED])
def test_offset_is_found(name, unpacked):
    """The bound contains the true offset, and is no wider than 5 ms, although the readings are wrong by up to 50 ms."""
    folder = unpacked(name)
    taken = readings(folder, 50 * MS)
    moved(folder, "replica-2")

    found = bound(History(folder), {"replica-2": "two"}, taken)

    assert abs(found.ahead_ns["two"] - APART_NS) <= found.error_ns("replica-1", "replica-2")
    assert not found.contradict


@pytest.mark.whole  # it judges each recording twice
@pytest.mark.parametrize("one", PROBED, ids=lambda one: one.name)
def test_verdict_of_two_machines(one, unpacked):
    """A run gets the same verdict and violations after its replicas were given two clocks."""
    folder = unpacked(one.name)
    before = judge_again(folder)[0]
    split(folder)

    judgement, findings = judge_again(folder)

    assert findings.run.clocks.worst_ns <= 5 * MS
    assert judgement.verdict == before.verdict, why(judgement)
    assert {each.claim for each in judgement.violations} == {each.claim for each in before.violations}


def test_drift_is_found(unpacked):
    """A clock that runs faster by 100 parts in a million stays within the error; one that runs faster by a tenth is refuted."""
    drifting, racing = (unpacked(name) for name in DRIFTING)
    taken = readings(drifting)
    moved(drifting, "replica-2", drift=1e-4)
    moved(racing, "replica-2", drift=1e-1)

    found = bound(History(drifting), {"replica-2": "two"}, taken)
    last_ns = max(at_ns for at_ns, _, _ in History(drifting).stamped(found.shifted))

    assert abs(found.ahead_ns["two"] - APART_NS) <= found.worst_ns
    assert last_ns - taken["two"][-1].at_ns <= found.worst_ns
    assert bound(History(racing), {"replica-2": "two"}, taken).contradict


@pytest.mark.parametrize(("seconds", "is_told"), [(600, True), (20, False)])
def test_drift_is_told(tmp_path, seconds, is_told):
    """A long run states how much faster a clock runs, and the error of this figure; a short run does not."""
    made = Buffered(tmp_path)
    for number in range(3 * seconds // 5):
        at = 1 + 5000 * (number // 3) + 4 * (number % 3)
        made.increment(f"r{number}", number, number, at=(at, at + 1, at + 2, at + 3), replica=f"replica-{number % 2 + 1}")
    made.write()
    before = {"two": readings(tmp_path)["two"][:1]}
    moved(tmp_path, "replica-2", drift=1e-4)

    told = bound(History(tmp_path), {"replica-2": "two"}, before).drift_ppm

    assert (told is not None and abs(told[0] - 100) < told[1] < 20) if is_told else told is None


def judged(made: Made, scenario: str, error_ms: int = 2, **about):
    """Judge a run whose replica-2 has another clock. It is right, and known to within ``error_ms``."""
    tested = dataclasses.replace(reader.load(scenario), danger={}, **about)
    facts = dataclasses.asdict(tested) | {"tests": tested.tests.name, "faults": []}
    stage = {"name": "lua", "claims": ["exclusive", tested.tests.name], "ttl_ms": 3000}
    clocks = {"clocks": 2, "clock_of": {"replica-2": "two"}, "clock_readings": {"two": [ClockReading(MS, 0, error_ms * MS)]}}
    record = record_of(facts, stage, final=about["requests"], files=inventory(made.folder), **clocks)
    save(made.folder / "run.json", record)
    return judge_again(made.folder)[0]


def test_one_clock_is_refuted(tmp_path):
    """A run is VOID if a replica saw a value before it was sent, although its record gives both replicas the same clock."""
    made = Made(tmp_path)
    made.increment("r0", read=0, overwrote=0, at=(10, 20, 30, 40))
    made.increment("r1", read=1, overwrote=1, at=(1, 2, 3, 4), replica="replica-2")
    facts = {"requests": 2, "tests": "exclusive"}
    save(
        tmp_path / "run.json",
        record_of(facts, {}, final=2, clock_of={"replica-1": "", "replica-2": ""}, files=inventory(tmp_path)),
    )

    judgement = judge_again(tmp_path)[0]

    assert judgement.verdict == "VOID"
    assert "a value was seen before it was sent" in why(judgement)


@pytest.mark.parametrize(("until_ms", "verdict"), [(2, "KEPT"), (30, "BROKEN")])
def test_overlap_counts_beyond_the_error(tmp_path, until_ms, verdict):
    """Two requests that were inside at once break the claim only if they overlap by more than the error of their clocks."""
    made = Made(tmp_path)
    made.increment("r0", read=0, overwrote=0, at=(0, 0, 1, until_ms))
    made.increment("r1", read=1, overwrote=1, at=(1, 3, 39, 40), replica="replica-2")

    assert judged(made, "rush", requests=2).verdict == verdict


@pytest.mark.parametrize(("idle_ms", "verdict"), [(5, "KEPT"), (20, "VOID"), (60, "BROKEN")])
def test_lateness_counts_beyond_the_error(tmp_path, idle_ms, verdict):
    """A hand-over is kept or broken by its limit of 20 ms; if the error of the clocks decides, the run is VOID."""
    made = Made(tmp_path)
    for number in range(10):
        at = number * 200
        last = {"read": 2 * number, "overwrote": 2 * number}
        made.increment(f"a{number}", **last, at=(at, at + 1, at + 2, at + 100))
        later = at + 100 + idle_ms
        next_one = {"read": 2 * number + 1, "overwrote": 2 * number + 1, "asked": at + 1}
        made.increment(f"b{number}", **next_one, at=(later, later + 1, later + 2, later + 3), replica="replica-2")

    judgement = judged(made, "convoy", requests=20)

    assert judgement.verdict == verdict, why(judgement)


class Buffered(Made):
    """Keep the lines of many requests in memory, and write each file once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.lines: dict[str, list[bytes]] = {}

    def line(self, path: str, record: msgspec.Struct) -> None:
        self.lines.setdefault(path, []).append(self.encode(record) + b"\n")

    def write(self) -> None:
        for path, lines in self.lines.items():
            (self.folder / path).write_bytes(b"".join(lines))


JUDGE = """
import sys
from pathlib import Path
from lab.judge.verdict import judge_again
print(judge_again(Path(sys.argv[1]))[0].verdict)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def peak_kib(folder: Path, requests: int) -> int:
    """Judge a run of two machines and this many requests in a process of its own. Return its peak memory, in KiB."""
    made = Buffered(folder)
    for number in range(requests):
        at = 1000 + 5 * number
        about = {"replica": f"replica-{number % 3 + 1}", "asked": at - 500, "commands": 25}
        made.increment(f"r{number}", number, number, at, **about).key_event("set", at).key_event("expire", at).key_event(
            "del", at + 3
        )
    made.write()
    scenario = {"name": "rush", "requests": requests, "users": 100, "ttl_ms": 3000}
    stage = {"name": "lua", "claims": ["exclusive"], "ttl_ms": 3000}
    clocks = {"clocks": 2, "clock_of": {"replica-2": "two"}, "clock_readings": {"two": [ClockReading(MS, 0, 2 * MS)]}}
    save(folder / "run.json", record_of(scenario, stage, requests, files=inventory(folder), **clocks))
    done = subprocess.run([sys.executable, "-c", JUDGE, folder], capture_output=True, text=True, check=True)
    verdict, most = done.stdout.split()
    assert verdict == "KEPT"
    return int(most)


@pytest.mark.trial
def test_memory_of_two_clocks(tmp_path):
    """With two clocks, the judge needs at most 500 bytes for each request."""
    few, many = (peak_kib(tmp_path / str(number), number) for number in (5_000, 100_000))

    assert (many - few) * 1024 / 95_000 <= 500

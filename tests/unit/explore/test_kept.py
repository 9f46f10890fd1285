"""Test the decisions that are kept for the documents, and their result for each claim."""

from pathlib import Path

import msgspec
import pytest

from app.lock import Claim
from app.locks import stage, stages
from lab.errors import BadInput, ExitStatus
from lab.evidence import decided
from lab.evidence.decided import KeptDecision, Summary, code_of, of_claims, why_not
from lab.evidence.record_lines import read_lines, write_line
from lab.explore import kept
from lab.explore.commands.explore import explored
from lab.story.searches import kept_story
from tests.every import every
from tests.stories import LOST, breaks, kept_search

PAUSE, PAUSES = {"pauses": 1}, {"pauses": 2}


def decision(*searches, **more):
    return KeptDecision(stage="uuid", sha256="0" * 64, ttl_ms=3000, searches=list(searches), **more)


def undecided(**about):
    of_all = ["exclusive", *(["survives_a_freeze"] if about.get("faults") else [])]
    return kept_search(None, decided=False, undecided="time", missing_for=of_all, **about)


def test_shortest_schedule_of_a_claim():
    """A broken claim is quoted from the search with the cheapest faults, with its share of the schedules."""
    broken = {"releases_atomically": breaks(140, "A4BpAt3000BrAA")}
    found = of_claims(decision(kept_search(1552, broken, faults=PAUSE), kept_search(9000, broken, faults=PAUSES)))

    broken = found[Claim.releases_atomically].broken
    assert (broken.events, broken.search["faults"], broken.share) == (10, PAUSE, (140, 1552))


def test_search_that_took_too_long():
    """A claim holds in all schedules of the complete searches; an incomplete search is listed, and proves no claim."""
    decided = [kept_search(number, holds=["exclusive"], faults=faults) for number, faults in ((10, ()), (1552, {"crashes": 1}))]
    missing = undecided(faults=PAUSE), undecided(faults=PAUSES), undecided(work_ms=5000)
    assert of_claims(decision(*decided)) == {Claim.exclusive: Summary(1562, True, None, ())}
    found = of_claims(decision(*decided, *missing))

    assert (found[Claim.exclusive].schedules, len(found[Claim.exclusive].undecided)) == (1562, 3)
    assert [one["faults"] for one in found[Claim.survives_a_freeze].undecided] == [PAUSE, PAUSES]
    assert Summary(0, False, None, ()) not in found.values()


def test_file_of_a_decision(tmp_path: Path):
    """A decision that is written is read back exactly, and the other decisions of the file stay."""
    path = tmp_path / "explore.jsonl"
    one = decision(kept_search(2**64 + 1, holds=["exclusive"]), story=LOST)
    other = msgspec.structs.replace(one, stage="fair")
    write_line(path, "uuid", msgspec.json.encode(one))
    write_line(path, "slips/fair", msgspec.json.encode(other))

    again = decided.read("uuid", path)

    assert again is not None
    assert kept_story(again) == LOST
    assert msgspec.structs.replace(again, story=LOST) == one
    assert decided.read("lua", path) is None
    assert [line[:20] for line in path.read_text(encoding="utf-8").splitlines()] == [
        '{"name":"slips/fair"',
        '{"name":"uuid","reco',
    ]


def test_decision_of_other_code_is_not_quoted(monkeypatch):
    """A decision counts only for the code that was decided."""
    stage = stages()["uuid"]
    mine = decision(story=LOST)
    monkeypatch.setattr(decided, "read", lambda key: mine)

    assert decided.current.__wrapped__(stage) is None
    mine = msgspec.structs.replace(mine, sha256=decided.fingerprint_of(stage))
    assert decided.current.__wrapped__(stage) is mine


@every(
    "old, new, is_same",
    [("Redis compares the token", "Redis looks at the token", True), ("redis.call('del'", "redis.call('unlink'", False)],
)
def test_hash_of_code_and_not_of_docstrings(old, new, is_same, tmp_path):
    """A changed docstring leaves the hash of a stage's code the same, and changed code does not."""
    source = Path(str(stages()["lua"].path)).read_text(encoding="utf-8")
    assert source.count(old) == 1
    (tmp_path / "one.py").write_text(source, encoding="utf-8")
    (tmp_path / "other.py").write_text(source.replace(old, new), encoding="utf-8")

    assert (code_of(tmp_path / "one.py") == code_of(tmp_path / "other.py")) is is_same


@every("key", lambda: read_lines(decided.FILE))
def test_kept_decisions(key):
    """Each kept decision belongs to a stage or a slip, has the drawn schedule, and has no figure that differs from run to run."""
    one = decided.read(key)

    assert one is not None
    assert key in {*stages(), *(f"slips/{name}" for name in decided.slips())}
    assert one.stage == key.removeprefix("slips/")
    assert not {name for search in one.searches for name in search} & set(kept.NOT_KEPT)
    story = kept_story(one)
    assert (story.claim if story else "") == decided.drawn().get(key, "")


def test_no_stage_breaks_its_promise():
    """No kept decision says that a stage of the ladder breaks its promise; otherwise one of the two is wrong."""
    decisions = [one for name in stages() if (one := decided.read(name)) is not None]

    assert [(one.stage, claim) for one in decisions for claim, status in one.promises.items() if status == "breaks"] == []


REDIS = (None, "redis", "redis_nodes")


@every("name", stages)
def test_orders_are_searched_on_redis(name):
    """The explorer accepts the stages on Redis and the stages without a store, and no others."""
    assert (why_not(stage(name)) == "") is (stage(name).store in REDIS)


@pytest.mark.parametrize("name", ["zookeeper", "etcd_fenced", "mysql_insert"])
def test_refused(name):
    """A lock on another store is refused with status 2, in a message that names the command for its scenarios."""
    with pytest.raises(BadInput, match="orders are searched for locks on Redis") as caught:
        explored(name)

    assert caught.value.exit_status == ExitStatus.BAD_INPUT
    assert f"lab test {name} runs its scenarios" in str(caught.value)

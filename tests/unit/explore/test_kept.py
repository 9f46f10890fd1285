"""What is kept of a decision for the documents, and what it says of each claim."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.lock import Claim
from app.locks import stages
from lab.explore import kept
from lab.explore.kept import Kept
from lab.explore.summary import Summary, of_claims
from tests.stories import LOST

NO_FAULT = {"pauses": 0, "crashes": 0, "lost_replies": 0, "resends": 0, "restarts": 0}
ONE_PAUSE, TWO_PAUSES = NO_FAULT | {"pauses": 1}, NO_FAULT | {"pauses": 2}
HOLDS = {"holds": True}


def search(faults, claims, schedules=0, work_ms=0):
    about = {"faults": faults, "work_ms": work_ms, "complete": schedules > 0, "claims": claims}
    return about | ({"schedules": schedules} if schedules else {"why": "the time was over"})


def decision(*budgets, **more):
    return Kept(stage="uuid", sha256="0" * 64, ttl_ms=3000, budgets=list(budgets), **more)


def test_schedules_of_a_claim_add_up():
    """A claim holds in all schedules of the complete searches that put it to the test."""
    found = of_claims(decision(search(NO_FAULT, {"exclusive": HOLDS}, 10), search(ONE_PAUSE, {"exclusive": HOLDS}, 1552)))

    assert str(found[Claim.exclusive]) == "holds in 1\u2009562 schedules"
    assert list(found) == [Claim.exclusive]


def test_shortest_schedule_of_a_claim():
    """A claim that breaks is quoted with the cheapest faults that break it, and with the share of the schedules."""
    broken = {"breaks": 10, "schedules": 140, "of": 1552, "schedule": "A4BpAt3000BrAA", "mechanism": "…"}
    twice = {"breaks": 9, "schedule": "A", "mechanism": "…"}
    claims = {"releases_atomically": broken}, {"releases_atomically": twice}
    found = of_claims(decision(search(ONE_PAUSE, claims[0], 1552), search(TWO_PAUSES, claims[1])))

    words = str(found[Claim.releases_atomically])
    assert words == "breaks with 1 pause, in 140 of 1\u2009552 schedules; a shortest has 10 events"


def test_search_that_took_too_long():
    """A search without an end is named: nothing is claimed about it."""
    complete = search(NO_FAULT, {"exclusive": HOLDS}, 10)
    found = of_claims(decision(complete, search(ONE_PAUSE, {}), search(TWO_PAUSES, {}), search(NO_FAULT, {}, work_ms=5000)))

    assert str(found[Claim.exclusive]) == "holds in 10 schedules; not decided with 1 pause, work of 5\u00a0s, 1 pair of faults"
    assert str(found[Claim.survives_a_freeze]) == "not decided with 1 pause, 1 pair of faults"
    assert Summary(0, None, ()) not in found.values()


def test_file_of_a_decision(tmp_path: Path):
    """What is written is read again, large numbers exactly, and a search and a story have a line each."""
    one = decision(search(NO_FAULT, {"exclusive": HOLDS}, 2**64 + 1), stories={LOST.claim: LOST})

    path = kept.write(one, tmp_path)

    assert kept.read("uuid", tmp_path) == one
    assert kept.read("lua", tmp_path) is None
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line[:32] for line in lines if line.startswith(' "')] == [' "survives_a_late_freeze": {"sta']


def test_decision_of_other_code_is_not_quoted(monkeypatch):
    """A decision counts only for the code that it has decided."""
    stage = stages()["uuid"]
    mine = decision(stories={LOST.claim: LOST})
    monkeypatch.setattr(kept, "read", lambda name, folder: mine)

    assert kept.current.__wrapped__(stage) is None
    mine = msgspec.structs.replace(mine, sha256=kept.fingerprint_of(stage))
    assert kept.current.__wrapped__(stage) is mine


@pytest.mark.parametrize("path", sorted(kept.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_kept_files(path):
    """Each kept file belongs to a stage, and quotes nothing that would drift."""
    one = kept.read(path.stem)

    assert one is not None
    assert one.stage == path.stem in stages()
    assert not {name for search in one.budgets for name in search} & set(kept.DRIFTS)
    assert one.why or one.stories or all("breaks" not in claim for search in one.budgets for claim in search["claims"].values())

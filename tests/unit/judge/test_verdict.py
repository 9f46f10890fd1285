"""Test the five verdicts: the facts that lead to each, and their precedence."""

from collections import Counter

import msgspec
import pytest

from lab.evidence.loss import Mechanism
from lab.evidence.run_folder import save
from lab.evidence.run_record import inventory
from lab.judge.fact import Code, Fact
from lab.judge.losses import Account
from lab.judge.verdict import judge, weigh
from lab.story.verdict import fact
from lab.story.verdict import why as reasons
from tests.builders import findings_of_ten, record_of, record_of_ten
from tests.every import every


@every(
    "claims, lost, handovers, ended, verdict",
    [
        (["exclusive"], {}, 5, "complete", "KEPT"),
        (["exclusive"], {Mechanism.GRANTED_TWICE: 1}, 5, "complete", "BROKEN"),
        ([], {Mechanism.GRANTED_TWICE: 1}, 5, "complete", "ADMITTED"),
        ([], {}, 5, "complete", "UNSEEN"),
        (["exclusive"], {}, 4, "complete", "VOID"),
        ([], {}, 4, "complete", "VOID"),
        ([], {Mechanism.GRANTED_TWICE: 1}, 0, "complete", "ADMITTED"),  # a loss proves the danger
        (["exclusive"], {Mechanism.GRANTED_TWICE: 1}, 5, "interrupted", "BROKEN"),  # the loss stays proved
        ([], {Mechanism.GRANTED_TWICE: 1}, 5, "interrupted", "VOID"),
        (["exclusive"], {}, 5, "server_lost", "VOID"),
        (["exclusive"], {Mechanism.TTL_OVER_IN_WORK: 3}, 5, "complete", "KEPT"),  # another cause, not promised: also named
        (["exclusive", "held_to_the_end"], {Mechanism.TTL_OVER_IN_WORK: 3}, 5, "complete", "BROKEN"),
    ],
)
def test_the_verdict_follows_the_table(claims, lost, handovers, ended, verdict):
    """The verdict follows from the claims, the losses, the danger and the end of the run."""
    assert weigh(record_of_ten(claims, ended), findings_of_ten(lost, handovers)).verdict == verdict


def test_an_interrupt_is_reason_enough():
    """The only printed reason of an interrupted run is the interrupt; verdict.json keeps the reasons that follow from it."""
    judgement = weigh(record_of_ten(["exclusive"], "interrupted"), findings_of_ten())
    (ended,) = judgement.why
    more = msgspec.structs.replace(judgement, why=[ended, Fact(Code.NOT_SERVED_UNKNOWN, 6)])

    assert (judgement.verdict, ended.code) == ("VOID", Code.ENDED)
    assert reasons(more) == fact(ended)
    assert reasons(msgspec.structs.replace(more, verdict="UNSEEN")) != fact(ended)


def test_processes_that_ended_are_named():
    """If no request left a reason, the verdict has the number of processes that ended without a fault."""
    found = findings_of_ten(handovers=0, started_ns={"replica-1": [1, 2, 3], "replica-2": [1]})
    found.outcomes = Counter({"acknowledged": 4, "unknown": 6})

    judgement = weigh(record_of_ten(["exclusive"]), found)

    assert [(one.code, one.n) for one in judgement.why[-2:]] == [(Code.NOT_SERVED_UNKNOWN, 6), (Code.PROCESSES_ENDED, 2)]


@every(
    "record, doubt, code",
    [
        ({}, {"mismatches": [Fact(Code.NO_WRITE_OF, request="r1")]}, Code.NO_WRITE_OF),
        ({}, {"account": Account(10, 0, 0, 0, Fact(Code.NOBODY_WROTE, values=(7,)))}, Code.NOBODY_WROTE),
        ({"final": None}, {"account": Account(10, 0, 0, 0, Fact(Code.NOT_READ))}, Code.NOT_READ),
        ({"in_flight_left": True}, {}, None),
        ({"reports_off": True}, {}, Code.REPORTS_OFF),
        ({"commands": {"lock": {}}, "took_part": ["replica-1", "replica-2"]}, {}, Code.ASKED_NO_STORE),
        ({"requests": 11}, {}, None),
    ],
)
def test_doubt_voids_the_run(record, doubt, code):
    """A run is VOID if its records disagree, if its counter was not read or not at rest, or if requests are missing."""
    judgement = weigh(record_of_ten(["exclusive"], **record), findings_of_ten(**doubt))

    assert judgement.verdict == "VOID"
    assert code is None or judgement.why[0].code is code


@pytest.mark.parametrize(
    ("others_percent", "waited_ms", "claims", "verdict"),
    [
        (90, 9990, ["serves_most_requests"], "VOID"),
        (None, 9990, ["serves_most_requests"], "BROKEN"),
        (60, 9990, ["serves_most_requests"], "BROKEN"),  # another run takes as much
        (90, 10, ["serves_most_requests"], "BROKEN"),  # no machine makes a lock refuse at once
        (90, 9990, [], "ADMITTED"),  # the lock promises nothing
    ],
)
def test_refused_on_a_crowded_machine(others_percent, waited_ms, claims, verdict, made):
    """If other programs had most of the processors, requests that waited to the end make the run VOID."""
    for number in range(6):
        made.gave_up(f"r{number}", waited_ms)
    for number in range(6, 10):
        made.increment(f"r{number}", number - 6, number - 6, at=number)
    scenario = {"tests": "serves_most_requests", "requests": 10, "wait_ms": 10_000}
    record = record_of(scenario, {"claims": claims}, final=4, others_percent=others_percent, files=inventory(made.folder))
    save(made.folder / "run.json", record)

    judgement = judge(made.folder)[0]

    assert judgement.verdict == verdict
    assert judgement.why == [Fact(Code.CROWDED, 90)] * (verdict == "VOID")

"""Five words, and what leads to each; the precedence between them."""

from collections import Counter

import msgspec
import pytest

from lab.evidence.fault_record import Effect, FaultRecord
from lab.evidence.loss import Mechanism
from lab.evidence.run_folder import save
from lab.evidence.run_record import inventory
from lab.judge.fact import Code, Fact
from lab.judge.faults import FaultOutcome
from lab.judge.judgement import Verdict
from lab.judge.losses import Account, Losses
from lab.judge.verdict import judge, weigh
from lab.story.verdict import also_seen, fact
from lab.story.verdict import why as reasons
from tests.builders import MS, findings_of_ten, record_of, record_of_ten
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
        ([], {Mechanism.GRANTED_TWICE: 1}, 0, "complete", "ADMITTED"),  # harm done is danger enough
        (["exclusive"], {Mechanism.GRANTED_TWICE: 1}, 5, "interrupted", "BROKEN"),  # what was proved stays proved
        ([], {Mechanism.GRANTED_TWICE: 1}, 5, "interrupted", "VOID"),
        (["exclusive"], {}, 5, "server_lost", "VOID"),
        (["exclusive"], {Mechanism.TTL_OVER_IN_WORK: 3}, 5, "complete", "KEPT"),  # another cause, not promised: also named
        (["exclusive", "held_to_the_end"], {Mechanism.TTL_OVER_IN_WORK: 3}, 5, "complete", "BROKEN"),
    ],
)
def test_the_verdict_follows_the_table(claims, lost, handovers, ended, verdict):
    assert weigh(record_of_ten(claims, ended), findings_of_ten(lost, handovers)).verdict == verdict


def test_reason_has_net_figures():
    """The reason adds up to what is lost: increments that later writes brought back are not in it."""
    found = findings_of_ten({Mechanism.GRANTED_TWICE: 3})
    found.losses |= {
        Mechanism.GRANTED_TWICE: Losses(destroyed=8, restored=5, number=2),
        Mechanism.GRANTED_TO_TWO: Losses(destroyed=4, restored=4, number=3),
    }

    judgement = weigh(record_of_ten(["exclusive"]), found)

    assert judgement.verdict == "BROKEN"
    assert [(one.mechanism, [(fact.code, fact.n) for fact in one.seen]) for one in judgement.violations] == [
        (Mechanism.GRANTED_TWICE, [(Code.LOST, 3)]),
        (Mechanism.GRANTED_TO_TWO, [(Code.OVERWROTE_AND_RESTORED, 3)]),
    ]


def test_an_interrupt_is_reason_enough():
    """Of a run that was interrupted, the reason is that alone: what else is wrong follows from it, and verdict.json keeps it."""
    judgement = weigh(record_of_ten(["exclusive"], "interrupted"), findings_of_ten())
    (ended,) = judgement.why
    more = msgspec.structs.replace(judgement, why=[ended, Fact(Code.NOT_SERVED_UNKNOWN, 6)])

    assert (judgement.verdict, ended.code) == ("VOID", Code.ENDED)
    assert reasons(more) == fact(ended)
    assert reasons(msgspec.structs.replace(more, verdict="UNSEEN")) != fact(ended)


def test_one_process_in_plain_words():
    """Writes in one process are counted as events: their gross figure does not add up to what is lost."""
    found = findings_of_ten({Mechanism.NO_LOCK: 3})
    found.losses[Mechanism.NO_LOCK] = Losses(destroyed=3, number_in_one_process=2)

    judgement = weigh(record_of_ten([]), found)

    (broken,) = (one for one in judgement.violations if one.claim == "exclusive_in_process")
    assert broken.seen == [Fact(Code.OVERWROTE_IN_PROCESS, 2)]


def test_processes_that_ended_are_named():
    """Where no request left a reason, the processes that ended without a fault are one."""
    found = findings_of_ten(handovers=0, started_ns={"replica-1": [1, 2, 3], "replica-2": [1]})
    found.outcomes = Counter({"acknowledged": 4, "unknown": 6})

    judgement = weigh(record_of_ten(["exclusive"]), found)

    assert [(one.code, one.n) for one in judgement.why[-2:]] == [(Code.NOT_SERVED_UNKNOWN, 6), (Code.PROCESSES_ENDED, 2)]


def test_missing_evidence_proves_nothing():
    """Where a part of the evidence could not be written, the run is VOID, also where the rest looks like a broken promise."""
    record = record_of_ten(["exclusive"], "not_written", ended_with="the disk is full")
    record.unwritten = "the disk is full"

    judgement = weigh(record, findings_of_ten({Mechanism.GRANTED_TWICE: 1}))

    assert (judgement.verdict, judgement.why) == ("VOID", [Fact(Code.ENDED, name="not_written", detail="the disk is full")])


def test_other_violation_is_reported():
    """A violation by another cause is reported next to the verdict."""
    judgement = weigh(record_of_ten(["exclusive"]), findings_of_ten({Mechanism.TTL_OVER_IN_WORK: 3}))

    assert judgement.verdict == "KEPT"
    assert [one.mechanism for one in judgement.violations] == [Mechanism.TTL_OVER_IN_WORK]
    assert "3 increments lost" in also_seen(judgement)
    assert also_seen(weigh(record_of_ten(["exclusive"]), findings_of_ten())) == ""


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
    """Witnesses that disagree, a counter not at rest or not read, and fewer requests than were to be sent, prove nothing."""
    judgement = weigh(record_of_ten(["exclusive"], **record), findings_of_ten(**doubt))

    assert judgement.verdict == "VOID"
    assert code is None or judgement.why[0].code is code


@every(
    "stage, record, found",
    [
        ({"store": None}, {"took_part": ["replica-1", "replica-2"]}, {"locked": False}),
        ({}, {"commands": {"lock": {}}, "took_part": ["replica-1"]}, {}),
        ({}, {"commands": {"lock": {}}, "took_part": ["replica-1", "replica-2"]}, {"sent": 1}),
        ({}, {"commands": {"lock": {"set": 1}}, "took_part": ["replica-1", "replica-2"]}, {}),
        ({}, {"took_part": ["replica-1", "replica-2"]}, {}),
    ],
)
def test_lock_that_need_not_ask_a_store(stage, record, found):
    """One replica needs no store, nor does a stage that locks nothing. Where commands were sent or not counted, it was asked."""
    made = record_of_ten(["exclusive"], **record)
    made.stage |= stage

    assert weigh(made, findings_of_ten(**found)).verdict == "KEPT"


@pytest.mark.parametrize("claims", [["exclusive"], []])
def test_stage_without_a_store(claims):
    """A stage without a store that locks more than its own process has something on this machine: that is no pass."""
    made = record_of_ten(claims, took_part=["replica-1", "replica-2"])
    made.stage |= {"store": None}

    judgement = weigh(made, findings_of_ten(locked=True))

    assert [one.code for one in judgement.why] == [Code.ASKED_NO_STORE] * bool(claims)


@pytest.mark.parametrize(
    ("got_ms", "claims", "verdict"), [(0, ["freed_after_crash"], "VOID"), (0, [], "VOID"), (9, ["freed_after_crash"], "KEPT")]
)
def test_fault_that_nobody_looked_after_voids_the_run(got_ms, claims, verdict):
    """Where nobody wanted the lock after the fault, it is not known whether it was free in time."""
    record = record_of_ten(claims)
    record.scenario["tests"] = "freed_after_crash"
    died = FaultRecord("kill-1", "replica-1", 1, "r0", MS, effect=Effect.PROCESS_DIES, failpoint="read.after")
    found = findings_of_ten(faults=[FaultOutcome(died, next_got_ns=got_ms * MS)])

    judgement = weigh(record, found)

    assert judgement.verdict == verdict
    assert [one.code for one in judgement.why] == [Code.NOBODY_ASKED] * (verdict == "VOID")


@pytest.mark.parametrize(
    ("others_percent", "waited_ms", "claims", "verdict"),
    [
        (90, 9990, ["serves_most_requests"], "VOID"),
        (None, 9990, ["serves_most_requests"], "BROKEN"),
        (60, 9990, ["serves_most_requests"], "BROKEN"),  # another run takes as much
        (90, 10, ["serves_most_requests"], "BROKEN"),  # no machine makes a lock refuse at once
        (90, 9990, [], "ADMITTED"),  # accused of nothing
    ],
)
def test_refused_on_a_crowded_machine(others_percent, waited_ms, claims, verdict, made):
    """Where other programs had most of the processors, those who waited to the end accuse no lock, and praise none."""
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


def test_fault_of_another_promise_voids_nothing():
    """A fault that the promise does not look at is no fault that nobody looked after."""
    record = record_of_ten(["freed_after_crash"])
    record.scenario["tests"] = "freed_after_crash"
    stopped = FaultRecord("freeze-1", "replica-1", 1, "r0", MS, effect=Effect.PROCESS_STOPS, failpoint="read.after")

    assert weigh(record, findings_of_ten(faults=[FaultOutcome(stopped)])).verdict == "KEPT"


def test_exit_status_of_a_verdict():
    """The exit status is 0, 1 or 3: as promised, broken, or nothing shown."""
    assert {verdict.name: verdict.exit_status for verdict in Verdict} == {
        "KEPT": 0,
        "ADMITTED": 0,
        "BROKEN": 1,
        "UNSEEN": 3,
        "VOID": 3,
    }


def test_unreached_danger_is_explained():
    """The verdict states what was missing where the danger was never reached."""
    few = weigh(record_of_ten(["exclusive"]), findings_of_ten(handovers=4))
    whys = Counter({"TypeError: no such option": 8, "it was not free within 10 ms": 1})
    refused = findings_of_ten(handovers=0, requests=1, whys=whys)
    refused.outcomes["failed"] = 9

    assert "10 requests may be too few" in reasons(few)
    assert "9 of 10 requests were not served, 8 of them because: TypeError" in reasons(weigh(record_of_ten(), refused))

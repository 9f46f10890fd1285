"""The locks on trial: what each is tried by, and what the judge must find.

A lock is a file in ``servers/locks/``. The first line of those in ``broken`` and ``sound`` states what is wrong with it, or what
is unusual about it; most are a stage of the ladder with one change, and the stage's claims stay. ``trial/expected.toml`` has what
is expected of those in ``trial``.
"""

import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from lab.evidence.loss import Mechanism
from lab.judge.judgement import Judgement, Verdict
from lab.story.verdict import why as reasons
from tests.trial import condemned, is_evidence

LOCKS = Path(__file__).parent / "servers" / "locks"
Options = dict[str, int | float]


class Case(NamedTuple):
    """A run that shows what is wrong with a lock."""

    scenario: str
    options: Options
    # the mechanism that must be found
    mechanism: Mechanism
    # mechanisms that may be found as well: other views of the same harm
    also: tuple[str, ...] = ()
    # whether one of those may be found instead: which view a run shows is chance
    either: bool = False


FAST = {"replicas": 2, "requests": 300, "users": 20, "work_ms": 3, "retry_ms": 10}  # a request that slips in meets a holder
LONG = FAST | {"requests": 150, "work_ms": 10}
ONE = FAST | {"replicas": 1}
SLOW = {"requests": 5, "users": 5}
CRASH = {"requests": 20}

AT_ONCE = Mechanism.GRANTED_TO_TWO
TWICE = Mechanism.GRANTED_TWICE
KEYS = Mechanism.DIFFERENT_KEYS
REFUSED = Mechanism.ENTERED_ALTHOUGH_REFUSED
NEVER_ASKED = Mechanism.NEVER_ASKED_STORE
EARLY = Mechanism.RELEASED_EARLY
EXPIRED = Mechanism.EXPIRED_BEFORE_TTL
ROBBED = Mechanism.DELETED_BY_ANOTHER
BETWEEN = Mechanism.EXPIRED_BETWEEN_CHECK_AND_DELETE
ROBBED_BY_A_STRANGER = Mechanism.DELETED_BY_STRANGER
DIED = Mechanism.HOLDER_DIED
RENEWED = Mechanism.RENEWED_BY_ANOTHER
AGAIN = Mechanism.DONE_AGAIN
INNER = Mechanism.INNER_RELEASE_FREED
BLOCKED = Mechanism.BLOCKED_BY_LEAVER
SERVES_FEW = Mechanism.TOO_MANY_REFUSED

BROKEN = {
    # the acquire lets in more than one
    "no_nx": Case("rush", FAST, TWICE, (AT_ONCE,)),
    "looks_and_then_sets": Case("rush", FAST, TWICE, (AT_ONCE,)),
    "sets_and_then_looks": Case("rush", FAST, TWICE, (AT_ONCE,)),
    "takes_over_before_the_end": Case("rush", FAST | {"requests": 20, "work_ms": 200, "ttl_ms": 300}, TWICE),
    "breaks_old_locks": Case("rush", FAST | {"requests": 40, "work_ms": 60}, ROBBED_BY_A_STRANGER, (AT_ONCE,)),
    "key_of_the_replica": Case("rush", FAST, KEYS),
    "key_by_hash": Case("rush", FAST, KEYS),
    "key_of_the_thread": Case("one_replica", ONE, KEYS),
    "key_of_the_moment": Case("rush", FAST, KEYS),
    "skips_one_in_twenty": Case("rush", FAST, NEVER_ASKED),
    "enters_when_tired_of_waiting": Case("rush", LONG, REFUSED),
    "enters_after_an_error": Case(
        # its release fails, too: it sends nothing. A try whose answer was lost with the store may have been granted
        *("node_down", {}, EARLY, (REFUSED, NEVER_ASKED, AT_ONCE)),
        either=True,
    ),
    "two_permits": Case("rush", FAST, AT_ONCE),
    "readers_lock_for_writers": Case("rush", FAST, AT_ONCE, (ROBBED_BY_A_STRANGER,)),
    "names_no_key": Case("rush", FAST, Mechanism.NO_LOCK),
    "locks_another_part": Case("rush", FAST, AT_ONCE, (ROBBED_BY_A_STRANGER,)),
    "counts_for_any_owner": Case("rush", FAST, AT_ONCE, (ROBBED_BY_A_STRANGER,)),
    "owner_is_the_thread": Case("rush", FAST, AT_ONCE, (ROBBED_BY_A_STRANGER,)),
    "owner_is_the_process": Case("one_replica", ONE, AT_ONCE, (ROBBED_BY_A_STRANGER,)),
    "locks_after_the_read": Case("rush", FAST, AT_ONCE, (ROBBED_BY_A_STRANGER,)),
    "adds_in_one_command": Case("rush", FAST, AT_ONCE),
    "mutex_of_the_request": Case("one_replica", ONE, Mechanism.NO_LOCK),
    "mutex_of_the_process": Case("rush", FAST, Mechanism.PROCESS_LOCAL),
    "two_votes_of_five": Case("rush", FAST, AT_ONCE, (REFUSED, ROBBED_BY_A_STRANGER)),
    "errors_count_as_votes": Case(
        "three_nodes_down",
        {},
        Mechanism.GRANTED_BY_MINORITY,
        (REFUSED, AT_ONCE, ROBBED, ROBBED_BY_A_STRANGER),
        either=True,  # which harm a run shows first is chance
    ),
    "zookeeper_does_not_look_again": Case("rush", LONG | {"wait_ms": 60}, AT_ONCE),
    "etcd_own_key_is_enough": Case("rush", FAST, AT_ONCE),
    "mysql_reads_without_for_update": Case("rush", FAST, AT_ONCE),
    "mysql_counts_the_rows_of_the_answer": Case("rush", FAST, REFUSED),
    # the release frees too much, too early, or not at all
    "deletes_without_compare": Case("slow_holder", SLOW, ROBBED),
    "deletes_and_then_compares": Case("slow_holder", SLOW, ROBBED),
    "compares_in_two_steps": Case("release_race", {"requests": 15}, Mechanism.EXPIRED_BETWEEN_CHECK_AND_DELETE),
    "token_of_all": Case("slow_holder", SLOW, ROBBED),
    "token_of_the_replica": Case("slow_holder", SLOW | {"replicas": 1}, ROBBED),
    "sets_again_before_the_release": Case("slow_holder", SLOW, ROBBED, (TWICE,)),
    "compares_the_wrong_field": Case("slow_holder", SLOW, ROBBED),
    "releases_what_it_never_got": Case("rush", LONG | {"wait_ms": 50}, ROBBED_BY_A_STRANGER, (AT_ONCE,)),
    "releases_a_lost_lock": Case("frozen_holder", {"work_ms": 100, "requests": 30}, ROBBED),
    "releases_before_the_work": Case("rush", FAST, EARLY),
    "releases_by_a_timer": Case("rush", LONG, EARLY),
    # its second release answers 1 while another holds the lock: where that one reports nothing in between, it looks deleted
    "inner_release_frees": Case("nested_contended", {}, INNER, (ROBBED, BETWEEN)),
    "forgets_its_count": Case("nested_contended", {}, INNER),
    "never_counts_down": Case("nested_contended", {}, Mechanism.STAYED_AFTER_RELEASE),
    "leaves_its_ticket_behind": Case("waiter_gives_up", {}, Mechanism.BLOCKED_BY_LEAVER),
    "waits_for_itself": Case("nested", {}, Mechanism.WAITED_FOR_ITSELF),
    # the lease ends too early, or never
    "ttl_in_the_wrong_unit": Case("rush", LONG, EXPIRED),
    "handed_over_with_an_old_lease": Case(
        "rush", FAST | {"work_ms": 5, "ttl_ms": 60}, EARLY, (EXPIRED, AT_ONCE, ROBBED_BY_A_STRANGER)
    ),
    "gives_no_ttl": Case("holder_crash", CRASH, DIED),
    "every_try_extends_the_ttl": Case("holder_crash", CRASH, DIED, (RENEWED,)),
    "waiters_renew": Case("holder_crash", CRASH, RENEWED),
    # the store reports the end of a key late, and what is deleted then can be the next holder's own
    "renews_with_a_shorter_ttl": Case("work_outlasts_ttl", SLOW, EXPIRED, (AT_ONCE, ROBBED)),
    "renews_once": Case("many_ttls", {}, Mechanism.TTL_OVER_IN_WORK),
    "renewed_after_a_failed_release": Case("failed_release", {"requests": 20}, Mechanism.RELEASE_FAILED),
    "owner_is_a_pooled_thread": Case("pooled_thread", {}, Mechanism.TAKEN_FOR_OWNER),
    "renewal_ends_with_an_error": Case("renewal_fails_once", {}, Mechanism.TTL_OVER_IN_WORK),
    "always_says_still_mine": Case("frozen_holder", {"requests": 30}, Mechanism.FROZEN_PAST_LEASE),
    "ignores_its_validity": Case("slow_asking", {}, Mechanism.GRANTED_AFTER_VALIDITY),
    "fence_is_constant": Case("frozen_before_write", {"requests": 30}, Mechanism.FROZEN_AFTER_LAST_CHECK),
    # a waiter that gives up blocks those behind it; also where a slow start delays the long work, requests come for long after it
    "stays_in_the_queue": Case("waiter_gives_up", {"requests": 60}, BLOCKED),
    "stays_in_the_queue_of_its_replica": Case("waiter_gives_up", {"requests": 60}, BLOCKED),
    # the work is done twice, or not at all
    "works_twice": Case("rush", FAST, AGAIN),
    "works_again_after_a_late_release": Case("slow_holder", SLOW, AGAIN, (Mechanism.WORKED_AGAIN_WITHOUT_LOCK,)),
    "acknowledges_without_working": Case("rush", FAST, Mechanism.NEVER_DONE),
    "serves_one_in_five": Case("rush", FAST, SERVES_FEW),
    "abandons_most_of_its_work": Case("rush", FAST, SERVES_FEW),
    "gives_up_at_the_first_refusal": Case("rush", FAST, SERVES_FEW),
    "token_overwritten_by_waiters": Case("rush", FAST | {"requests": 20, "wait_ms": 5000}, SERVES_FEW),
    "waits_although_it_should_not": Case("try_lock", {"replicas": 2, "requests": 60}, Mechanism.WAITED_BEFORE_GIVING_UP),
    "fence_by_chance": Case("rush", FAST, SERVES_FEW),
    "fence_of_the_process": Case("rush", FAST | {"replicas": 3}, SERVES_FEW),
}

# The lock lies about its work, or nobody knows what became of it. Such a run proves nothing, and is never a pass. The value is
# a part of the reason.
NOT_BELIEVED = {
    "answers_with_another_value": "was acknowledged with",
    "answers_before_the_work": "was acknowledged with",  # its writes come later, and are on record
    "fails_after_the_work": "were not served",
}
# far more hand-overs between replicas than the hundred that the scenario demands; more users would only poll more
FULL = {"replicas": 3, "requests": 500, "users": 16, "work_ms": 2, "retry_ms": 10}
SOUND: dict[str, dict[str, Options]] = {
    "redis_py": {"rush": FULL, "slow_holder": SLOW, "holder_crash": CRASH},
    "redis_py_reacquired": {"rush": FULL, "work_outlasts_ttl": {"requests": 4, "ttl_ms": 900, "work_ms": 1200}},
    "answers_like_redisson": {"rush": FULL, "slow_holder": {"rate": 3, "requests": 12}},
    "answers_the_count_left": {"rush": FULL, "nested": {}},
    "answers_in_words": {"rush": FULL, "slow_holder": SLOW},
    "set_answers_the_old_token": {"rush": FULL, "slow_holder": SLOW},
    "field_of_a_hash": {"rush": FULL, "frozen_holder": {"requests": 30}},
    "tickets": {"rush": FULL, "starvation": {"requests": 300, "users": 20}},
    "token_in_a_list": {"rush": FULL, "convoy": {"requests": 40}},
    "mysql_get_lock": {"rush": FULL, "holder_crash": CRASH},
    "deletes_its_own_note": {"rush": FULL, "slow_holder": SLOW},
    "notes_that_expire": {"rush": FULL, "slow_holder": SLOW},
    "key_with_another_name": {"rush": FULL, "slow_holder": SLOW},
    "handed_over_inside": {"retry_counts_twice": FULL | {"ttl_ms": 100}, "one_replica": FULL | {"replicas": 1}},
    "fences_in_steps": {"rush": FULL, "frozen_before_write": {"requests": 30}},
    "frees_by_expiring": {"rush": FULL, "slow_holder": SLOW},
    "releases_twice": {"rush": FULL, "slow_holder": SLOW},
    "looks_before_the_write": {"rush": FULL, "holder_crash": CRASH},
    "member_of_a_set": {"rush": FULL, "frozen_holder": {"requests": 30}},
    "kazoo_lock": {"rush": FULL, "holder_crash": CRASH},
    "etcd3gw_lock": {"retry_counts_twice": FULL | {"requests": 150, "users": 10}, "holder_crash": CRASH},
    "transactions": {"rush": FULL, "slow_holder": SLOW, "release_race": {"requests": 15}},
    "counts_each_request_once": {"retry_counts_twice": {}},
    "waits_for_a_replica": {"split_brain": {}},
    "client_of_its_own": {"rush": FULL, "slow_holder": SLOW},
    "locks_in_another_thread": {"rush": FULL, "slow_holder": SLOW},
    "works_in_another_thread": {"rush": FULL, "slow_holder": SLOW},
}

TRIAL = LOCKS / "trial"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((TRIAL / "expected.toml").read_text(encoding="utf-8"))
# What the judge cannot show, each with the reason: then the run must at least not be a pass over a loss.
NOT_SHOWN = {
    "only_raises": "a lock that raises for every request may just not fit this machine: no request was served, which is VOID",
    "fence_ends_with_the_lock": "the resource takes the next fence within the TTL and half a second, which is what is promised",
    "token_of_one_digit": "two of ten digits meet by chance",
    "database_by_the_pid": "the processes of a run may all have even numbers",
}
# Where the lab does not see a client of the lock, it never says KEPT.
NOT_SEEN = {"two_clients": "a client that the lab sees"}
# another view of the same harm: which one a run shows is chance
ALSO = {
    "counts_timeouts_as_votes": {Mechanism.GRANTED_TO_TWO},
    "two_permits_in_the_process": {Mechanism.RELEASED_EARLY},
}

MOST = 3  # how often a lock is tried that is wrong only by chance, or in one run of several
TWICE_AT_MOST = 2  # how often one is tried whose run shows nothing


class Trial(NamedTuple):
    """One run by which a lock is tried."""

    # ``broken/no_nx rush``, say: the lock's file without its ending, and the scenario
    name: str
    scenario: str
    options: Options
    # raises AssertionError where a judgement is not the expected one; it takes the names of the stage's claims as well
    hold: Callable[[Judgement, set[str]], None]
    # whether a judgement settles the question, so that no further run is made
    is_settled: Callable[[Judgement], bool] = is_evidence
    most: int = TWICE_AT_MOST

    @property
    def path(self) -> Path:
        """Return the lock's file."""
        return LOCKS / f"{self.name.split()[0]}.py"


def split(run: str) -> tuple[str, dict[str, int | float]]:
    """Return the scenario and the options of ``rush --requests 60 --work-ms 3``."""
    scenario, *words = run.split()
    options = zip(words[::2], words[1::2], strict=True)
    return scenario, {name[2:].replace("-", "_"): float(value) if "." in value else int(value) for name, value in options}


def trials() -> Iterable[Trial]:
    """Yield each run by which a lock of the shelves is tried."""
    for name, case in BROKEN.items():
        yield Trial(f"broken/{name} {case.scenario}", case.scenario, case.options, condemns(case), condemned, MOST)
    for name, reason in NOT_BELIEVED.items():
        yield Trial(f"broken/{name} rush", "rush", FAST, disbelieves(reason))
    for name, tried in SOUND.items():
        for scenario, options in tried.items():
            yield Trial(f"sound/{name} {scenario}", scenario, options, acquits)
    for name, expected in EXPECTED["wrong"].items():
        if expected.get("run"):
            scenario, options = split(expected["run"])
            yield Trial(f"trial/wrong/{name} {scenario}", scenario, options, condemns_as_expected(name), condemned, MOST)
    for name, expected in EXPECTED["sound"].items():
        for run in expected["run"]:
            scenario, options = split(run)
            yield Trial(f"trial/sound/{name} {scenario}", scenario, options, accuses_nobody(name))


def condemns(case: Case) -> Callable[[Judgement, set[str]], None]:
    """Return the test that a broken lock is condemned, by the right mechanism."""

    def hold(judgement: Judgement, claims: set[str]) -> None:
        found = {one.mechanism for one in judgement.violations if one.claim in claims}
        assert judgement.verdict is Verdict.BROKEN, reasons(judgement)
        assert found <= {case.mechanism, *case.also}, found
        assert case.mechanism in found or (case.either and found), found
        assert all(one.evidence for one in judgement.violations if one.mechanism in found)

    return hold


def disbelieves(reason: str) -> Callable[[Judgement, set[str]], None]:
    """Return the test that a run is void where the answers of a lock contradict the journals, or are missing."""

    def hold(judgement: Judgement, claims: set[str]) -> None:
        assert judgement.verdict is Verdict.VOID
        assert reason in reasons(judgement)

    return hold


def acquits(judgement: Judgement, claims: set[str]) -> None:
    """Assert that a sound lock keeps its promises, however strange its answers and keys are."""
    assert [one for one in judgement.violations if one.claim in claims] == []
    assert judgement.verdict is Verdict.KEPT, reasons(judgement)


def condemns_as_expected(name: str) -> Callable[[Judgement, set[str]], None]:
    """Return the test that a wrong lock of the trial is condemned for what ``expected.toml`` says."""

    def hold(judgement: Judgement, claims: set[str]) -> None:
        expected = EXPECTED["wrong"][name]
        if name in NOT_SHOWN and judgement.verdict is not Verdict.BROKEN:
            assert judgement.verdict is Verdict.VOID or not judgement.lost or not expected["run"].startswith("rush"), reasons(
                judgement
            )
            return
        assert judgement.verdict is Verdict.BROKEN, reasons(judgement)
        assert {one.claim for one in judgement.violations} & set(expected["breaks"]), reasons(judgement)
        found = {one.mechanism for one in judgement.violations}
        assert found & {expected["mechanism"], *ALSO.get(name, ())}, reasons(judgement)

    return hold


def accuses_nobody(name: str) -> Callable[[Judgement, set[str]], None]:
    """Return the test that a sound lock of the trial is not accused."""

    def hold(judgement: Judgement, claims: set[str]) -> None:
        assert [one for one in judgement.violations if one.claim in claims] == [], reasons(judgement)
        if name in NOT_SEEN:
            assert judgement.verdict is Verdict.VOID
            assert NOT_SEEN[name] in reasons(judgement)
        else:
            assert judgement.verdict in (Verdict.KEPT, Verdict.ADMITTED), reasons(judgement)

    return hold

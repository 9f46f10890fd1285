"""The question of each claim, as a table. A claim without an entry gets the general question: will the promise hold?"""

from __future__ import annotations

import dataclasses

from lab.judge.judgement import Judgement, Verdict
from lab.ui import question_families as ask
from lab.ui.question import Question, Shown, own

IN_TIME = "within the TTL and half a second"
LOSSES = (
    "exclusive_in_process",
    "exclusive",
    "held_to_the_end",
    "survives_a_failed_renewal",
    "held_past_an_explicit_lease",
    "releases_only_its_own",
    "releases_atomically",
    "survives_a_freeze",
    "survives_a_late_freeze",
    "survives_a_delayed_write",
    "survives_failover",
    "survives_amnesia",
    "survives_persisted_amnesia",
    "survives_delayed_amnesia",
    "survives_clock_jump",
    "survives_clock_jump_of_two",
    "stops_when_lost",
    "survives_store_restart",
    "survives_persisted_restart",
    "survives_unsynced_power_loss",
    "survives_session_loss",
    "survives_a_slow_acquire",
)
QUESTIONS: dict[str, Question] = dict.fromkeys(LOSSES, ask.losses()) | {
    "acquires_atomically": ask.next_grant("a request went wrong in the middle of its acquire", IN_TIME),
    "freed_after_crash": ask.next_grant("the holder has died", IN_TIME),
    "freed_with_a_clock_behind": ask.next_grant("the holder has died, and the store's clock has jumped back", IN_TIME),
    "freed_after_failure": ask.next_grant("the holder's work has failed", "within a third of the TTL"),
    "freed_after_hang": ask.next_grant("the holder's thread hangs and its process lives on", "within twice the TTL"),
    "freed_after_a_failed_release": ask.next_grant("a release has failed", IN_TIME),
    "freed_after_a_lost_release": ask.next_grant("the reply to a release was lost", "long before the TTL is over"),
    "available_with_a_node_down": ask.next_grant("one of the lock's stores went down", IN_TIME),
    "available_with_two_nodes_down": ask.next_grant("two of the lock's five stores fell silent", IN_TIME),
    "survives_a_lost_reply": ask.next_grant("the reply to an acquire was lost", "soon after the work"),
    "refuses_without_majority": ask.minority(),
    "answers_a_try_at_once": ask.try_once(),
    "prompt_handover": ask.handover(),
    "fair": ask.overtaken("a request"),
    "fair_in_process": ask.overtaken("a request of its own replica"),
    "reenters_only_its_own": ask.reentered(),
    "reentrant": ask.waits_for_itself(),
    "breaks_deadlock": ask.deadlock(),
    "loses_no_wakeup": ask.wakeup(),
    "waiters_may_leave": ask.waiters_behind(),
    "counts_once": ask.work_done_twice(),
    "serves_most_requests": ask.served(),
    "fence_outlives_restart": ask.refused_holders(),
    "all_or_nothing": ask.half_done(),
}


def of(claim: str) -> Question:
    """Return the question of a claim."""
    return QUESTIONS.get(claim) or ask.of_any(claim)


def shown(judgement: Judgement) -> Shown:
    """Return a run's answer to the question of its claim. Where only another promise was broken, the figure is that claim's."""
    answer = of(judgement.claim).shown(judgement)
    if judgement.verdict is not Verdict.BROKEN or own(judgement, judgement.claim) or judgement.lost:
        return answer
    claim = judgement.violations[0].claim
    other = of(claim).answering(judgement, own(judgement, claim))
    return dataclasses.replace(answer, number=other.number, words=other.words)

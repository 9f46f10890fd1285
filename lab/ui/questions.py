"""The question of each claim, as a table. A claim without an entry gets the general question: will the promise hold?

The bounds in questions and choices are those of the table of promises.
"""

from __future__ import annotations

import dataclasses

from lab.judge.judgement import Judgement, Verdict
from lab.judge.promises import PROMISES, WORK_IS_SAFE
from lab.ui import question_families as ask
from lab.ui.question import ClaimQuestion, Shown, own

AFTER = {  # what happens in the promises that the lock is free again
    "acquires_atomically": "a request went wrong in the middle of its acquire",
    "freed_after_crash": "the holder has died",
    "freed_with_a_clock_behind": "the holder has died, and the store's clock has jumped back",
    "freed_after_failure": "the holder's work has failed",
    "freed_after_hang": "the holder's thread hangs and its process lives on",
    "freed_after_a_failed_release": "a release has failed",
    "freed_after_a_lost_release": "the reply to a release was lost",
    "survives_a_lost_reply": "the reply to an acquire was lost",
    "available_with_two_nodes_down": "two of the lock's five stores fell silent",
}
QUESTIONS: dict[str, ClaimQuestion] = {
    **{promise.claim.name: ask.losses() for promise in WORK_IS_SAFE},
    **dict.fromkeys(("releases_only_its_own", "releases_atomically"), ask.whose_key()),
    **{claim: ask.next_grant(event, ask.within(PROMISES[claim].bound)) for claim, event in AFTER.items()},
    "available_with_a_node_down": ask.next_grant("one of the lock's stores went down", "before it is back"),
    "refuses_without_majority": ask.minority(),
    "answers_a_try_at_once": ask.try_once(),
    "prompt_handover": ask.handover(),
    "fair": ask.overtaken("a request", PROMISES["fair"].bound),
    "fair_in_process": ask.overtaken("a request of its own replica", PROMISES["fair_in_process"].bound),
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


def of(claim: str) -> ClaimQuestion:
    """Return the question of a claim."""
    return QUESTIONS.get(claim) or ask.of_any(claim)


def shown(judgement: Judgement) -> Shown:
    """Return a run's answer to the question of its claim. Where only another promise was broken, the figure is that claim's."""
    answer = of(judgement.claim).shown(judgement)
    if judgement.verdict is not Verdict.BROKEN or own(judgement, judgement.claim) or judgement.lost:
        return answer
    claim = judgement.violations[0].claim
    other = of(claim).answering(judgement, own(judgement, claim))
    return dataclasses.replace(answer, number=other.number, counted=other.counted)

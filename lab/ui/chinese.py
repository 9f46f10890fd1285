"""What the page of the class shows in Chinese: all that the server sends in English, with its Chinese.

The server sends both, because a projector and a phone may differ in their language. What has no phrase stays English.

Questions and their choices are in ``questions.py``; titles are those of stages and scenarios.
"""

from __future__ import annotations

from app.locks import stages
from lab.judge.judgement import Judgement
from lab.language.choice import Language
from lab.language.phrases import exactly
from lab.scenario import reader as scenarios
from lab.scenario.faults import faults
from lab.story import say
from lab.story.verdict import headline, reason
from lab.ui import questions
from lab.ui.joining import NOT_JOINED, TEACHER_ONLY
from lab.ui.locust_environment import BUSY, UNDER_WAY
from lab.ui.predictions import FULL, VOTERS
from lab.ui.run_form import scenario_names

TEXTS = {
    "title": "The lock lab, live",
    "heading": "Which lock loses which increment?",
    "ways": "Pages of the lab",
    "runs": "All runs",
    "matrix": "The matrix",
    "play": "Be the scheduler",
    "locust": "Locust's own page",
    "projector": "For a projector",
    "control": "With Start",
    # what is asked
    "stage": "Stage",
    "scenario": "Scenario",
    "ladder": "The ladder",
    "others": "More locks",
    "reveal": "Show all reference results",
    "start": "Start",
    "stop": "Stop",
    "subject": "{stage} under {scenario}",
    "titled": "{subject}: {title}",
    "no_fit": "This scenario does not fit the stage.",
    "more": "{n} more scenarios need what this stage does not have.",
    "name": "your name (optional)",
    "choices": "Your prediction",
    "said": "{n} predictions. What they say is shown at Start.",
    "said_one": "1 prediction. What it says is shown at Start.",
    "said_of_run": "Predictions for this run: {votes}.",
    "said_none": "No predictions for the next run yet.",
    "you_said_next": "You said: {choice}. It counts for the next run.",
    "you_said": "You said: {choice}.",
    "under_way": "The run is under way.",
    "right": "You were right.",
    "wrong": "You were wrong.",
    "yours": "Yours so far: {right} of {all} right.",
    "group": "The group so far: {right} of {all} predictions right.",
    "named": "{name}: {right} of {all}",
    "phones": "Predict on your phone",
    "qr": "QR code of the address {address}",
    "by_hand": "or by hand: this address, then the word",
    "no_phones": "Only this machine can open these pages. For phones, start the lab with",
    "new_stage": "?",
    # the lesson
    "lesson": "The lesson",
    "steps": "Steps of the lesson",
    "step_of": "Step {n} of {all}",
    "step_back": "‹ step",
    "step_on": "step ›",
    "free_choice": "Free choice",
    "notes": "Notes (T)",
    "notes_of_step": "Notes for the teacher",
    "minutes": "minutes {from} to {to}",
    "code": "The lines that matter",
    "to_play": "Play: {name}",
    "users": "{n} users",
    "server": "server {n}",
    "mutex": "mutex",
    "killed": "killed",
    "stopped": "stopped",
    "lock": "lock",
    "lock_ttl": "lock, {ttl} ms",
    "counter_n": "counter n",
    # the run
    "waiting": "Choose a stage and a scenario, predict, then press Start.",
    "waiting_phone": "Predict what will happen.",
    "waiting_pages": "Play it: you decide what happens next.",
    "starting": "{stage} under {scenario}: the servers are being started.",
    "running": "{stage} under {scenario}: running, {requests} requests over {replicas}.",
    "judged": "{stage} under {scenario}: ended; its pictures are being drawn …",
    "drawn": "{stage} under {scenario}: ended.",
    "refused": "Not run: {why}",
    "silent": "The lab does not answer. Waiting for it …",
    "open_again": "The lab does not accept this page any more. Open it again, as at first.",
    "connecting": "Connecting …",
    "starting_now": "Starting",
    "one_replica": "1 replica",
    "replicas": "{n} replicas",
    "counter_store": "Redis for the counter",
    "proxy": "nginx in front of the replicas",
    "lock_store": "{n} × {store} for the lock",
    "load": "Locust sends {requests} requests",
    "acknowledged": "acknowledged",
    "counter": "the counter",
    "unknown": "unknown",
    "failed": "failed",
    "kept_per_s": "kept a second",
    "gap": "acknowledged, but not in the counter",
    "refusals": "of {requests} requests refused so far{idle}",
    "idle": "; no request has been inside for {s} s",
    "locust_says": "Locust: {percent} % failures",
    "counter_says": "The counter: {n} missing",
    "chart": "Acknowledged increments and the counter's value over time",
    "strip": "Requests inside in each replica, over the last ten seconds",
    "and_unknown": "and unknown",
    "the_gap": "the gap: lost",
    "a_fault": "a fault is active",
    "served": "served",
    "refused_requests": "refused",
    "still_waiting": "not answered yet",
    "holder": "a holder",
    "pale": "a holder that has not released yet",
    "crowd": "several holders at once; both releases are on record",
    "ten_seconds": "the last ten seconds",
    "lease_over": "inside, and its lease is over",
    "several": "several inside at once",
    "stretched": "between the dashed lines the time is stretched",
    "no_lock": "requests at work: this stage has no lock that could keep them apart",
    # the verdict
    "duplicated": ", {n} duplicated",
    "void": "This run proves nothing, so no prediction counts.",
    "against": "{right} of {all} predictions right.",
    "promise_KEPT": "promised, and kept",
    "promise_ADMITTED": "never promised",
    "promise_BROKEN": "promised, and broken",
    "promise_UNSEEN": "never promised, and nothing went wrong",
    "promise_VOID": "this run proves nothing",
    "nobody": "There were no predictions.",
    "votes": "The predictions",
    "next": "Next: {stage}",
    "again": "Choose another",
    "replay": "Replay at a tenth of the speed",
    "pause": "Pause",
    "moment": "{s} s of {all} s",
    "scrub": "Moment of the replay",
    "to_run": "Open the run's page, with its interactive timeline",
    "timeline": "Where it happened",
    "steps_why": "{heading}: {cause}",
    "steps_of": "{heading}",
    "step_by_step": "Step by step",
    "step_before": "Previous step",
    "step_after": "Next step",
    # where a phone joins the class by hand
    "join": "Join the class",
    "join_word": "The word and the digit on the wall",
    "join_go": "Join",
    "join_teacher": "The teacher's page has an address of its own. The lab printed it when it started.",
    "join_unknown": "This address is of an earlier class. Scan the code on the wall once more, or type the word there.",
    "join_wrong": "That is not the word. Look at the wall once more.",
    "join_soon": "Too many wrong words. Wait {s} seconds, then try again.",
    "join_closed": "Too many wrong words from the whole class. From now on only the code on the wall opens the page.",
}


Chinese = dict[str, str]  # English text → Chinese text


def texts() -> dict[str, str]:
    """Return the fixed texts of the page, by their names. A text without its phrase stays English."""
    return {name: exactly("page", [text]).get(text, text) for name, text in TEXTS.items()}


def offered() -> Chinese:
    """Return what the page offers, asks and refuses: stages, scenarios, questions with their choices, the names of faults."""
    loaded = [scenarios.load(name) for name in scenario_names()]
    asked = [questions.of(one.tests.name) for one in loaded]
    titles = exactly("stage", (one.story.title for one in stages().values()))
    return {
        **{plain(english): plain(chinese) for english, chinese in titles.items()},
        **exactly("title", (one.title for one in loaded)),
        **exactly("question", (text for one in asked for text in (one.text, *one.choices))),
        **{say.fault(name): say.fault(name, Language.CHINESE) for name in faults()},
        **exactly("refusal", (BUSY, UNDER_WAY, TEACHER_ONLY, NOT_JOINED)),
        **{one.format(n=VOTERS): said.format(n=VOTERS) for one, said in exactly("refusal", [FULL]).items()},
    }


def plain(title: str) -> str:
    """Return a title as the page shows it: without the signs of code."""
    return title.replace("`", "")


def of_result(judgement: Judgement) -> Chinese:
    """Return the verdict: in a few words, and its reason."""
    return {one(judgement): one(judgement, Language.CHINESE) for one in (headline, reason)}

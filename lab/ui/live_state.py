"""The state of the live page, the same for all visitors: the question, the run from its start to its verdict, and the
predictions. All changes are published.
"""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lab.language import Language
from lab.pipeline import Conducted
from lab.report.timeline_reader import Reader
from lab.scenario.requirements import servers
from lab.scenario.scenario import Scenario
from lab.story import say, say_run
from lab.story.steps import steps_of_run
from lab.story.timeline import Timeline
from lab.story.verdict import headline, reason
from lab.ui import lesson, question
from lab.ui.both_sides import Refusal
from lab.ui.event_stream import EventStream
from lab.ui.live_run import LiveRun
from lab.ui.posted import RunRequest
from lab.ui.predictions import Predictions

EVERY_S = 0.1  # between two looks at a run
FIGURES = (
    *("run", "stage", "scenario", "verdict", "requests", "acknowledged", "lost", "duplicated", "failed", "unknown", "final"),
    *("kept_per_s", "lost_otherwise"),
)
SHEET = ("question", "votes", "came_true", *FIGURES)  # the columns of the result sheet
FIRST_SCREEN = {"screen": "verdict", "step": 0}  # the first of the verdict's screens


class UnderWay(Exception):  # noqa: N818 - an event
    """A run is under way, and all pages show it."""


class LiveState:
    """The run that the live page shows, the question to the class, and the results so far. Safe to use from many threads."""

    def __init__(self, stage: str = "none", scenario: str = "rush") -> None:
        """Start the thread that follows runs. stage, scenario: of the first question to the class."""
        self.news = EventStream()
        self.predictions = Predictions()
        self._mutex = threading.RLock()  # the published state and the state that is kept for later browsers must agree
        self._now: dict[str, Any] = {"phase": "waiting"}
        self.asked = (stage, scenario)  # the question to the class
        self.place = (0, 0)  # the step of the lesson, and which of its runs, from 0; step 0: the choice is free
        self.lost = ""  # the picture of the lost increments of all runs, as SVG
        self.sheet: list[dict[str, Any]] = []  # a row for each judged run, in order
        self._live: LiveRun | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow_runs, name="live", daemon=True)
        self._thread.start()

    def snapshot(self) -> dict[str, Any]:
        """Return all that was published about the current run, for a browser that connects now."""
        with self._mutex:
            now = dict(self._now)
            if self._live is not None:
                now |= {"points": self._live.points}
            about = {"tally": self.predictions.tally(), "votes": self._voted(), "lost": bool(self.lost), "points": []}
            about |= {"speeds": self._speeds()}
            return {"kind": "hello", **about, **now}

    def follow(self) -> tuple[dict[str, Any], queue.Queue[bytes | None]]:
        """Return the present snapshot, and a queue of all later news. Raises TooManyListeners."""
        with self._mutex:  # nothing is published between the two: a browser never goes back to an older question
            return self.snapshot(), self.news.listen()

    @property
    def under_way(self) -> bool:
        """Return whether a run is being started or is in progress."""
        return self._now["phase"] in ("starting", "running")

    def ask(self, stage: str, scenario: str, place: tuple[int, int] = (0, 0)) -> None:
        """Ask the class about a stage under a scenario: all pages go there. Raises UnderWay."""
        with self._mutex:
            if self.under_way:
                raise UnderWay(Refusal.BUSY)
            self.asked, self.place = (stage, scenario), place
            self._now = {"phase": "waiting"}
            self.news.publish(kind="asked", phase="waiting", **self._voted())

    def teach(self, step: int, run: int = 0) -> None:
        """Go to a run of a step of the lesson, or to a step without runs; step 0 leaves the lesson.

        Raises UnderWay; BadInput for an unknown step.
        """
        found = lesson.run_of(step, run) if step else None
        self.ask(*(self.asked if found is None else (found.stage, found.scenario.name)), (step, run))

    @property
    def taught(self) -> lesson.LessonRun | None:
        """Return the run of the lesson that the class is asked about; None outside of the lesson, and in a step without runs."""
        return lesson.run_of(*self.place) if self.place[0] else None

    def predict(self, device: str, stage: str, scenario: Scenario, choice: int) -> None:
        """Keep a visitor's prediction, and publish how many there are. Raises Full."""
        with self._mutex:
            self.predictions.predict(device, (stage, scenario.name), choice)
            if self.asked == (stage, scenario.name):
                self.news.publish(kind="votes", **self._voted())

    def starting(self, request: RunRequest) -> None:
        """Publish that a run's servers are being started. Its predictions are fixed from now on."""
        stage, scenario = request.stage, request.scenario
        claim = scenario.tests.name
        asked = {one: question.of_claim(claim, one) for one in Language}
        about = {
            "stage": stage.name,
            "scenario": scenario.name,
            "title": {one: say.translated(f"scenario.{scenario.name}", scenario.title, one) for one in Language},
            "requests": scenario.requests,
            "replicas": scenario.replicas,
            "live": "gap" if claim in question.SAFE else "failed",
            "store": stage.store,
            "servers": servers(stage.store, scenario.store_nodes, scenario.store_replica),
            "question": asked,
        }
        with self._mutex:
            self.asked, taught = (stage.name, scenario.name), self.taught
            if taught is None or self.asked != (taught.stage, taught.scenario.name):  # started elsewhere
                self.place = (0, 0)
            about["predicted"] = self.predictions.begin(self.asked, len(asked[Language.ENGLISH]["choices"]))
            self._now = {}
            self._change("starting", phase="starting", about=about)

    def begin(self, request: RunRequest, folder: Path, ahead_ns: Mapping[str, int]) -> None:
        """Start to follow a run, whose requests are recorded in this folder from now on. ahead_ns: as of LiveRun."""
        with self._mutex:
            if self._now["phase"] != "starting":
                self.starting(request)
            about = self._now["about"]
            self._live = LiveRun(folder, about, ahead_ns)
            self._change("begin", phase="running", about=about)

    def judged(self, done: Conducted) -> None:
        """Publish the verdict, and settle the predictions."""
        judgement = done.judgement
        answer = question.answer(judgement)
        result = {name: getattr(judgement, name) for name in FIGURES}
        result |= {"headline": {one: headline(judgement, one) for one in Language}, "answer": asdict(answer)}
        result["why"] = {one: reason(judgement, one) for one in Language}
        result["kept_per_s"] = round(judgement.kept_per_s)  # here, for a browser rounds 150.5 up and Python rounds it to 150
        with self._mutex:
            self.predictions.settle(answer.choice)
            if self._live is not None:
                if not self._live.over:
                    self._look(self._live)
                self._now |= {"points": self._live.points}
            self._leave()
            self.sheet.append(self._sheet_row(result, answer))
            self._now |= {"screen": FIRST_SCREEN}
            self._change("judged", phase="judged", result=result, tally=self.predictions.tally())

    def drawn(self, done: Conducted) -> None:
        """Publish the run's page."""
        picture = Timeline(stage=done.judgement.stage)
        if not done.unwritten:
            picture = Reader(done.folder.path, done.judgement, done.findings, done.record.has_store).picture
        said = {language.value: _words_of_picture(picture, language) for language in Language}
        self._show_pictures({"run": done.folder.name, "said": said})

    def lost_increments(self, picture: str) -> None:
        """Keep and publish the picture of the lost increments of all runs, as SVG."""
        with self._mutex:
            self.lost = picture
            self.news.publish(kind="lost", speeds=self._speeds())

    def show(self, screen: str, step: int) -> None:
        """Show a screen of the verdict on all pages, and which step of it; nothing if there is no verdict."""
        with self._mutex:
            if "screen" in self._now:
                self._change("screen", screen={"screen": screen, "step": step})

    def _show_pictures(self, drawn: dict[str, Any]) -> None:
        with self._mutex:
            if self._now["phase"] == "judged":  # otherwise the class is asked the next question already
                self._change("drawn", phase="drawn", drawn=drawn)

    def refused(self, why: str) -> None:
        """Publish that there is no run, or that it will have no verdict."""
        with self._mutex:
            self._leave()
            self.predictions.settle(None)
            self._now = {}
            self._change("refused", phase="refused", why=why)

    def close(self) -> None:
        """Stop following, and disconnect all browsers."""
        self._over.set()
        self._thread.join()
        self.news.end()

    def _sheet_row(self, result: dict[str, Any], answer: question.RunAnswer) -> dict[str, Any]:
        """Return the row of a run that was just judged. It has the lesson's question if the class is at a step of the lesson."""
        about, taught = self._now["about"], self.taught
        asked = about["question"][Language.ENGLISH]
        text, choices = asked["text"], asked["choices"]
        if taught:
            text, choices = taught.ask.text.format(**taught.values), taught.ask.choices
        votes = "; ".join(f"{number} x {choice}" for number, choice in zip(about["predicted"], choices, strict=True) if number)
        came_true = "" if answer.choice is None else choices[answer.choice]
        return dict(zip(SHEET, (text, votes, came_true, *(result[name] for name in FIGURES)), strict=True))

    def _speeds(self) -> dict[str, int]:
        """Return the increments kept a second by each stage in its last run without a fault, the fastest first."""
        speeds = {row["stage"]: row["kept_per_s"] for row in self.sheet if row["scenario"] == "rush" and not row["lost"]}
        return dict(sorted(speeds.items(), key=lambda one: -one[1]))

    def _voted(self) -> dict[str, Any]:
        """Return the question to the class, its step of the lesson, and how many visitors have predicted.

        Their predictions are shown at Start.
        """
        (stage, scenario), (step, run) = self.asked, self.place
        return {"stage": stage, "scenario": scenario, "step": step, "run": run, "voted": self.predictions.voted(self.asked)}

    def _follow_runs(self) -> None:
        while not self._over.wait(EVERY_S):
            with self._mutex:
                if self._live is not None and not self._live.over:
                    self._try_to_look(self._live)

    def _try_to_look(self, live: LiveRun) -> None:
        try:
            self._look(live)
        except Exception:  # noqa: BLE001 - an error in showing this run must not prevent showing the next
            traceback.print_exc()
            self._leave()

    def _look(self, live: LiveRun) -> None:
        self._change("look", look=live.look())

    def _leave(self) -> None:
        """Follow the run no more."""
        if self._live is not None:
            self._live.close()
            self._live = None

    def _change(self, kind: str, **about: Any) -> None:
        """Publish a change, and keep it for browsers that connect later."""
        self._now |= about
        self.news.publish(kind=kind, **about)


def _words_of_picture(picture: Timeline, language: Language) -> dict[str, Any]:
    """Return the caption of a run's picture; and the steps of its loss, if there is one."""
    found = steps_of_run(picture)
    return {"caption": say_run.caption(picture, language), "steps": say_run.page_of_steps(found, language) if found else None}

"""What the live page shows now: who is told of a run's beginning, of how it goes, of its end, and of what was predicted."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import Any

import msgspec

from lab.pipeline import Conducted
from lab.report.caption import caption
from lab.report.terminal import also_seen
from lab.report.timeline_model import Timeline
from lab.ui.event_stream import EventStream
from lab.ui.live_run import LiveRun
from lab.ui.predictions import Predictions
from lab.ui.run_form import RunRequest

EVERY_S = 0.1
UNHEARD_EVERY_S = 0.2  # nobody looks; who comes later shall find a curve
FIGURES = ("run", "stage", "scenario", "verdict", "requests", "acknowledged", "lost", "duplicated", "failed", "unknown", "final")


class LiveState:
    """One after the other, any number of runs. Safe to use from many threads."""

    def __init__(self) -> None:
        self.news = EventStream()
        self.predictions = Predictions()
        self._mutex = threading.RLock()  # what is told and what is kept for who comes later are the same
        self._now: dict[str, Any] = {"phase": "waiting"}
        self._live: LiveRun | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go, name="live", daemon=True)
        self._thread.start()

    def how_things_stand(self) -> dict[str, Any]:
        """For who comes now: everything that was told of this run, in few numbers."""
        with self._mutex:
            points = self._live.points if self._live else self._now.get("points", [])
            return {"kind": "hello", "tally": self.predictions.tally(), **self._now, "points": points}

    def begin(self, request: RunRequest, folder: Path) -> None:
        """Requests are about to be sent, and recorded in this folder."""
        stage, scenario = request.stage, request.scenario
        about = {
            "stage": stage.name,
            "idea": stage.story.idea,
            "scenario": scenario.name,
            "title": scenario.title,
            "requests": scenario.requests,
            "replicas": scenario.replicas,
        }
        about["predicted"] = self.predictions.begin((stage.name, scenario.name))
        with self._mutex:
            self._live = LiveRun(folder, about, scenario.replicas)
            self._now = {"phase": "running", "about": about}
            self.news.publish(kind="begin", phase="running", about=about)

    def judged(self, done: Conducted) -> None:
        """It is over, and the verdict is known."""
        judgement = done.judgement
        self.predictions.settle(None if judgement.verdict == "VOID" else judgement.lost > 0)
        result = {name: getattr(judgement, name) for name in FIGURES}
        result |= {"why": f"{judgement.why}. {also_seen(judgement)}".rstrip()}
        with self._mutex:
            if self._live is not None:
                if not self._live.over:
                    self._look(self._live)
                self._now["points"] = self._live.points
                self._live.close()
                self._live = None
            self._now |= {"phase": "judged", "result": result}
            self.news.publish(kind="judged", phase="judged", result=result, tally=self.predictions.tally())

    def drawn(self, done: Conducted) -> None:
        """The run's page is there."""
        picture = msgspec.json.decode((done.folder.path / "timeline.json").read_bytes(), type=Timeline)
        said = {"caption": caption(picture), "run": done.folder.name}
        with self._mutex:
            self._now |= {"phase": "drawn", "drawn": said}
            self.news.publish(kind="drawn", phase="drawn", drawn=said)

    def refused(self, why: str) -> None:
        """There is no run, or there will be no verdict on it."""
        with self._mutex:
            if self._live is not None:
                self._live.close()
                self._live = None
                self.predictions.settle(None)
            self._now = {"phase": "refused", "why": why}
            self.news.publish(kind="refused", phase="refused", why=why)

    def close(self) -> None:
        """Nothing more is shown."""
        self._over.set()
        self._thread.join()
        self.news.end()

    def _go(self) -> None:
        while not self._over.wait(EVERY_S if self.news.has_listeners else UNHEARD_EVERY_S):
            with self._mutex:
                if self._live is not None and not self._live.over:
                    self._try_to_look(self._live)

    def _try_to_look(self, live: LiveRun) -> None:
        try:
            self._look(live)
        except Exception:  # noqa: BLE001 - what cannot be shown of this run must not keep the next from being shown
            traceback.print_exc()
            live.close()
            self._live = None

    def _look(self, live: LiveRun) -> None:
        look = live.look()
        self._now["look"] = look | {"bins": None}
        self.news.publish(kind="look", **look)

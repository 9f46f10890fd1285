"""The page of one run: what the tested claim came to, the loss step by step, pictures of the run, and where to go on.

What it leads to has an address relative to a run in ``reports/runs``. What is not there gets no link.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from lab.errors import LabError
from lab.evidence.run_folder import replace, save
from lab.judge.findings import Findings
from lab.judge.judgement import VERDICT, Judgement
from lab.judge.verdict import judge_again
from lab.language import NAMES, Language, of_environment
from lab.paths import COMMAND
from lab.report import chart, run_data, timeline_reader, trace
from lab.report.html import PAGES, in_both, inline
from lab.report.lanes import drawing, steps_drawing
from lab.report.lanes.drawing import RunPen
from lab.report.lanes.pen import DEFINITIONS, STYLE
from lab.report.run_data import Result
from lab.report.run_words import RunWords, mender
from lab.story import say, say_run, verdict
from lab.story.steps import StepsOfLoss, steps_of_run
from lab.story.timeline import Timeline
from lab.story.windows import Window, windows
from lab.text import thousands

STEPS = {Language.ENGLISH: "five_steps.svg", Language.CHINESE: "five_steps.zh.svg"}
TIMELINES = {Language.ENGLISH: "timeline.svg", Language.CHINESE: "timeline.zh.svg"}
PAGE = PAGES[Language.ENGLISH]
DRAWN = {name: language for names in (PAGES, STEPS, TIMELINES) for language, name in names.items()}  # the language of each file
_ONE_AT_A_TIME = threading.Lock()  # a class may ask for a page all at once
LEVELS, PLAY = "levels.json", "play"
CHAPTERS = {Language.ENGLISH: ("docs/ladder",), Language.CHINESE: ("docs/zh/ladder", "docs/ladder")}
OF_STORE = {  # what takes part only if the lock is in this store
    "mysql": ("mariadbd", "pymysql", "sqlalchemy"),
    "postgresql": ("postgres", "psycopg"),
    "etcd": ("etcd", "etcd3gw"),
    "zookeeper": ("zookeeper", "kazoo"),
}
ALL_OF_THE_LOAD = (*run_data.LOAD, "work_ms", "retry_ms", "wait_ms", "stock", "processes", "ttl_ms", "lock_servers")


@dataclass(frozen=True)
class Way:
    """Where a reader goes on."""

    words: str
    # None where there is no page of it
    address: str | None
    # whether it is a file outside the folder of the reports, which a server of the reports does not have
    outside: bool = False
    command: str = ""


class RunPage(RunWords):
    """What the page says, in one language."""

    def __init__(self, result: Result, grants: int, language: Language, other: Language | None = None) -> None:
        """Take the run. other: a language in which it is not drawn."""
        super().__init__(result.judgement, grants, language)
        self.result, self.other = result, other

    @property
    def stage(self) -> str:
        """Return what the stage is, as a sentence; empty where the record of the run has none."""
        stage = self.result.record.stage
        return say.stated(f"stage.{stage['name']}.title", stage.get("title", ""), self.language).replace("`", "")

    def conditions(self) -> Iterator[tuple[str, str]]:
        """Yield the conditions of the run: a name, and what it was."""
        record, scenario = self.result.record, self.result.record.scenario
        yield self.say("run"), self.say("run_of", run=record.run, commit=record.commit or "–")
        yield self.say("scenario"), say.stated(f"scenario.{scenario['name']}", scenario["title"], self.language)
        about = {"ttl_ms": record.stage["ttl_ms"], "lock_servers": record.lock_servers}
        several = {"processes": None if scenario.get("processes") == 1 else scenario.get("processes")}
        yield self.say("load"), run_data.load_in_words(scenario | about | several, ALL_OF_THE_LOAD, self.language)
        for fault in scenario.get("faults") or ():
            name = "fault_lasting" if fault.get("for_ms") else "fault"
            kind = say.fault(fault["kind"], self.language)
            yield self.say("faults"), self.say(name, kind=kind, at=fault["at"], ms=thousands(fault.get("for_ms") or 0))
        for name, measure in self.judgement.danger.items():
            of = verdict.measure(name, self.language)
            yield self.say("danger"), self.say("measure", what=of, seen=thousands(measure.seen), needed=thousands(measure.needed))
        yield from ((self.say("note"), note) for note in scenario.get("notes", ()))
        absent = {name for store, names in OF_STORE.items() if store != record.stage["store"] for name in names}
        versions = ((name.removesuffix(" (package)"), one.partition(" sha=")[0]) for name, one in record.versions.items())
        yield self.say("programs"), ", ".join(f"{name} {version}" for name, version in versions if name not in absent)
        yield self.say("machine"), ", ".join(f"{name} {value}" for name, value in record.machine.items())

    def goes_on(self) -> Iterator[Way]:
        """Yield where a reader goes on."""
        judgement, reports = self.judgement, self.result.folder.parent.parent
        if (address := level(reports, judgement, self.language)) is not None:
            yield Way(self.say("play"), address)
        if (address := chapter(reports, judgement.stage, self.language)) is not None:
            yield Way(self.say("chapter", stage=judgement.stage), address, outside=True)
        if (stage := mender(judgement)) is not None:
            again = f"{COMMAND} run {judgement.scenario} --stage {stage}"
            yield Way(self.say("mended_by", stage=stage), chapter(reports, stage, self.language), True, again)
        command = self.result.record.command.removeprefix("lab ").removesuffix(" --json")
        yield Way(self.say("run_again"), None, command=f"{COMMAND} {command}")
        if (other := self.other) is not None:
            yield Way(NAMES[other].button, None, command=f"{COMMAND} report {judgement.run} --lang {other}")


def draw_steps(result: Result, found: StepsOfLoss, folder: Path, language: Language) -> Path:
    """Draw the steps into a folder. Returns the path of the picture."""
    return _written(folder / STEPS[language], steps_drawing.draw(found, chart.conditions([result], language), language))


def draw_timeline(result: Result, picture: Timeline, folder: Path, language: Language, pen: RunPen | None = None) -> Path:
    """Draw the timeline into a folder. Returns the path of the picture. pen: that has drawn it, if one has."""
    pen = pen or drawing.compose(picture, language)
    return _written(folder / TIMELINES[language], drawing.still(picture, pen, chart.conditions([result], language)))


def _written(path: Path, text: str) -> Path:
    replace(path, text.encode())
    return path


def report_run(
    folder: Path, judged: tuple[Judgement, Findings] | None = None, languages: Iterable[Language] | None = None
) -> list[Path]:
    """Draw one run into its folder, as ``draw_run`` does, and write its trace. Return the paths, a page first.

    judged: what ``judge`` has just returned for this folder. Without it, the history is read and judged here. languages: without
    them, that of the environment.
    """
    judgement, findings = judged or judge_again(folder)
    save(folder / VERDICT, judgement)
    result = run_data.load(folder)
    reader = timeline_reader.Reader(folder, judgement, findings, result.record.has_store)
    trace.write(folder, reader)
    return draw_run(result, reader.picture, languages or [of_environment(os.environ)])


def draw_if_missing(path: Path) -> None:
    """Draw a run in the language of one of its files, if it is only drawn in another. One that cannot be judged is not drawn."""
    folder, language = path.parent, DRAWN.get(path.name)
    if language is None or path.exists() or folder.parent.is_symlink() or folder.parent.name != "runs":
        return
    with _ONE_AT_A_TIME, contextlib.suppress(LabError, OSError, msgspec.MsgspecError):
        folder = folder.resolve()  # of ``latest``
        is_of_runs = folder.parent == path.parents[1] and folder.name[0] != "."
        if is_of_runs and (folder / trace.FILE).exists() and not (folder / PAGES[language]).exists():
            report_run(folder, languages=[language])


def draw_run(result: Result, picture: Timeline, languages: Iterable[Language]) -> list[Path]:
    """Draw a judged run into its folder, in some languages and in those in which it is drawn. Return the paths, pages first."""
    folder = result.folder
    drawn = list(dict.fromkeys([*languages, *(one for one in Language if (folder / PAGES[one]).exists())]))
    found, shown = steps_of_run(picture), windows(picture) if picture.held else []
    pictures: list[Path] = []

    def values(language: Language) -> dict[str, Any]:
        pens = [drawing.compose(one.picture, language) for one in shown]
        steps = [draw_steps(result, found, folder, language)] if found else []
        pictures.extend([*steps, *([draw_timeline(result, picture, folder, language, pens[0])] if shown else [])])
        grants = picture.grants if picture.is_locked else 0
        return {
            "run": RunPage(result, grants, language, other=next((one for one in Language if one not in drawn), None)),
            "judgement": result.judgement,
            "load": chart.conditions([result], language, named=False),
            "caption": say_run.caption(picture, language, without_steps=bool(found)),
            "trace": trace.FILE if (folder / trace.FILE).exists() else "",
            "steps": say_run.page_of_steps(found, language) if found else None,
            "drawn_steps": inline(steps[0]) if steps else "",
            "pictures": _pictures(picture, shown, pens, language) if shown else None,
            "home": "../../index.html" if folder.parent.name == "runs" else "",  # the site; it is written after each run
            "says": lambda table, name, **places: say.text(table, name, language, **places),
            "unfilled": lambda table, name: say.words(language)[table][name],
        }

    return [*in_both("run.html", folder / PAGE, values, drawn), *pictures]


def _pictures(picture: Timeline, shown: Sequence[Window], pens: Sequence[RunPen], language: Language) -> dict[str, object]:
    """Return what the page has of the windows of a run."""
    whole = say.text("controls", "whole_lost" if picture.losses else "whole", language, s=f"{picture.end / 1e6:.1f}")
    sentences = [say_run.title(one.picture, language) for one in shown]
    return {
        "style": STYLE,
        "whole": say.ended(whole, language),
        "strip": drawing.overview(picture, [one.picture for one in shown]),
        "definitions": DEFINITIONS,
        "axis": say.ended(say.text("lane", "axis", language), language),
        "windows": [
            {
                "name": one.name,
                "sentence": sentence,
                "lanes": drawing.for_page(pen, sentence),
                "at": pen.share(one.moment),
                "legend": pen.explained,
            }
            for one, pen, sentence in zip(shown, pens, sentences, strict=True)
        ],
    }


class LevelPage(msgspec.Struct):
    """A level of ``lab play`` whose moves are not given, as ``levels.json`` next to the pages has it."""

    name: str
    stage: str
    # the names of the claims that win it
    claims: list[str]


def level(reports: Path, judgement: Judgement, language: Language) -> str | None:
    """Return the address of a level of the stage that is about the tested claim."""
    folder = reports / PLAY
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        for one in msgspec.json.decode((folder / LEVELS).read_bytes(), type=list[LevelPage]):
            if one.stage == judgement.stage and judgement.claim in one.claims and (folder / f"{one.name}.html").exists():
                return f"../../{PLAY}/{quote(one.name)}.html?lang={language}"
    return None


def chapter(reports: Path, stage: str, language: Language) -> str | None:
    """Return the address of a stage's chapter: a file outside the folder of the reports."""
    found = next((path for path in CHAPTERS[language] if (reports.parent / path / f"{stage}.md").exists()), None)
    return f"../../../{found}/{quote(stage)}.md" if found else None

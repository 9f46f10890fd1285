"""Draw the page of one run: the result of the tested claim, the loss step by step, pictures of the run, and links to go on.

Links are relative to a run in ``reports/runs``. A page that does not exist gets no link.
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
_ONE_AT_A_TIME = threading.Lock()  # all students of a class may request a page at once
LEVELS, PLAY = "levels.json", "play"
CHAPTERS = {Language.ENGLISH: ("docs/ladder",), Language.CHINESE: ("docs/zh/ladder", "docs/ladder")}
OF_STORE = {  # programs that take part only if the lock is in this store
    "mysql": ("mariadbd", "pymysql", "sqlalchemy"),
    "postgresql": ("postgres", "psycopg"),
    "etcd": ("etcd", "etcd3gw"),
    "zookeeper": ("zookeeper", "kazoo"),
}
ALL_OF_THE_LOAD = (*run_data.LOAD, "work_ms", "retry_ms", "wait_ms", "stock", "processes", "ttl_ms", "lock_servers")


@dataclass(frozen=True)
class Way:
    """A way for the reader to go on: a link, a command, or both."""

    words: str
    # None if there is no page
    address: str | None
    # whether the page is outside the folder of the reports, so that a server of the reports does not have it
    outside: bool = False
    command: str = ""


class RunPage(RunWords):
    """The words of the page, in one language."""

    def __init__(self, result: Result, grants: int, language: Language, other: Language | None = None) -> None:
        """Take the run. other: a language in which the page does not exist yet; None without one."""
        super().__init__(result.judgement, grants, language)
        self.result, self.other = result, other

    @property
    def stage(self) -> str:
        """Return the stage's title; empty if the record of the run has none."""
        stage = self.result.record.stage
        return say.translated(f"stage.{stage['name']}.title", stage.get("title", ""), self.language).replace("`", "")

    def conditions(self) -> Iterator[tuple[str, str]]:
        """Yield the conditions of the run, each as its name and its value."""
        record, scenario = self.result.record, self.result.record.scenario
        yield self.say("run"), self.say("run_of", run=record.run, commit=record.commit or "–")
        yield self.say("scenario"), say.translated(f"scenario.{scenario['name']}", scenario["title"], self.language)
        of_lock = {"ttl_ms": record.stage["ttl_ms"], "lock_servers": record.lock_servers}
        several = {"processes": None if scenario.get("processes") == 1 else scenario.get("processes")}
        yield self.say("load"), run_data.load_in_words(scenario | of_lock | several, ALL_OF_THE_LOAD, self.language)
        for fault in scenario.get("faults") or ():
            name = "fault_lasting" if fault.get("for_ms") else "fault"
            kind = say.fault(fault["kind"], self.language)
            yield self.say("faults"), self.say(name, kind=kind, at=fault["at"], ms=thousands(fault.get("for_ms") or 0))
        for name, measure in self.judgement.danger.items():
            seen, needed = thousands(measure.seen), thousands(measure.needed)
            what = verdict.measure(name, self.language)
            yield self.say("danger"), self.say("measure", what=what, seen=seen, needed=needed)
        yield from ((self.say("note"), note) for note in scenario.get("notes", ()))
        absent = {name for store, names in OF_STORE.items() if store != record.stage["store"] for name in names}
        versions = ((name.removesuffix(" (package)"), version.partition(" sha=")[0]) for name, version in record.versions.items())
        yield self.say("programs"), ", ".join(f"{name} {version}" for name, version in versions if name not in absent)
        yield self.say("machine"), ", ".join(f"{name} {value}" for name, value in record.machine.items())

    def goes_on(self) -> Iterator[Way]:
        """Yield the ways for the reader to go on."""
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
        if (language := self.other) is not None:
            yield Way(NAMES[language].button, None, command=f"{COMMAND} report {judgement.run} --lang {language}")


def draw_steps(result: Result, found: StepsOfLoss, folder: Path, language: Language) -> Path:
    """Draw the steps into a folder. Return the path of the picture."""
    return _written(folder / STEPS[language], steps_drawing.draw(found, chart.conditions([result], language), language))


def draw_timeline(result: Result, picture: Timeline, folder: Path, language: Language, pen: RunPen | None = None) -> Path:
    """Draw the timeline into a folder. Return the path of the picture. pen: a pen that has drawn this picture already."""
    pen = pen or drawing.compose(picture, language)
    return _written(folder / TIMELINES[language], drawing.still(picture, pen, chart.conditions([result], language)))


def _written(path: Path, text: str) -> Path:
    replace(path, text.encode())
    return path


def report_run(
    folder: Path, judged: tuple[Judgement, Findings] | None = None, languages: Iterable[Language] | None = None
) -> list[Path]:
    """Draw one run into its folder, as ``draw_run`` does, and write its trace. Return the paths, a page first.

    judged: the result of ``judge`` for this folder. Without it, the history is read and judged here. languages:
    without them, the language of the environment.
    """
    judgement, findings = judged or judge_again(folder)
    save(folder / VERDICT, judgement)
    result = run_data.load(folder)
    reader = timeline_reader.Reader(folder, judgement, findings, result.record.has_store)
    trace.write(folder, reader)
    return draw_run(result, reader.picture, languages or [of_environment(os.environ)])


def draw_if_missing(path: Path) -> None:
    """Draw a run in the language of a missing file, if it is drawn in another language. On an error, draw nothing."""
    folder, language = path.parent, DRAWN.get(path.name)
    if language is None or path.exists() or folder.parent.is_symlink() or folder.parent.name != "runs":
        return
    with _ONE_AT_A_TIME, contextlib.suppress(LabError, OSError, msgspec.MsgspecError):
        folder = folder.resolve()  # it may be ``latest``, a link
        is_of_runs = folder.parent == path.parents[1] and folder.name[0] != "."
        if is_of_runs and (folder / trace.FILE).exists() and not (folder / PAGES[language]).exists():
            report_run(folder, languages=[language])


def draw_run(result: Result, picture: Timeline, languages: Iterable[Language]) -> list[Path]:
    """Draw a judged run into its folder, in these languages and in the languages of its pages. Return paths, pages first."""
    folder = result.folder
    drawn = list(dict.fromkeys([*languages, *(language for language in Language if (folder / PAGES[language]).exists())]))
    found, shown = steps_of_run(picture), windows(picture) if picture.held else []
    other = next((language for language in Language if language not in drawn), None)
    pictures: list[Path] = []

    def values(language: Language) -> dict[str, Any]:
        pens = [drawing.compose(window.picture, language) for window in shown]
        steps = [draw_steps(result, found, folder, language)] if found else []
        pictures.extend([*steps, *([draw_timeline(result, picture, folder, language, pens[0])] if shown else [])])
        grants = picture.grants if picture.is_locked else 0
        return {
            "run": RunPage(result, grants, language, other),
            "judgement": result.judgement,
            "load": chart.conditions([result], language, with_names=False),
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
    """Return the values of the template for the windows of a run."""
    whole = say.text("controls", "whole_lost" if picture.losses else "whole", language, s=f"{picture.end / 1e6:.1f}")
    sentences = [say_run.title(window.picture, language) for window in shown]
    return {
        "style": STYLE,
        "whole": say.as_sentence(whole, language),
        "strip": drawing.overview(picture, [window.picture for window in shown]),
        "definitions": DEFINITIONS,
        "axis": say.as_sentence(say.text("lane", "axis", language), language),
        "windows": [
            {
                "name": window.name,
                "sentence": sentence,
                "lanes": drawing.for_page(pen, sentence),
                "at": pen.share(window.moment),
                "legend": pen.explained,
            }
            for window, pen, sentence in zip(shown, pens, sentences, strict=True)
        ],
    }


class LevelPage(msgspec.Struct):
    """A level of ``lab play`` in which the player chooses the moves: an entry of ``levels.json`` next to the pages."""

    name: str
    stage: str
    # the names of the claims: to break one of them wins the level
    claims: list[str]


def level(reports: Path, judgement: Judgement, language: Language) -> str | None:
    """Return the address of a level in which the stage breaks the tested claim; None without one."""
    folder = reports / PLAY
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        for page in msgspec.json.decode((folder / LEVELS).read_bytes(), type=list[LevelPage]):
            if page.stage == judgement.stage and judgement.claim in page.claims and (folder / f"{page.name}.html").exists():
                return f"../../{PLAY}/{quote(page.name)}.html?lang={language}"
    return None


def chapter(reports: Path, stage: str, language: Language) -> str | None:
    """Return the address of a stage's chapter, a file outside the folder of the reports; None without one."""
    folder = next((path for path in CHAPTERS[language] if (reports.parent / path / f"{stage}.md").exists()), None)
    return f"../../../{folder}/{quote(stage)}.md" if folder else None

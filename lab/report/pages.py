"""Draw judged runs: pictures, tables and pages. Read run folders, and start no process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from lab.errors import BadInput, in_short
from lab.evidence.run_folder import replace, save
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge_again
from lab.language.choice import Language
from lab.paths import REFERENCE
from lab.report import chart, repeats, run_data, timeline_reader
from lab.report.chart import conditions
from lab.report.charts import charts
from lab.report.html import in_both, inline, named
from lab.report.lanes import drawing
from lab.report.run_data import NONE, Result, differing, parameter, with_labels
from lab.report.run_page import RunPage, Way, curves_of_run
from lab.scenario.requirements import servers
from lab.story import say, say_run, steps_drawing
from lab.story.say import ENGLISH
from lab.story.steps import StepsOfLoss
from lab.story.steps_of_wait import steps_of_run
from lab.story.timeline import Timeline
from lab.story.verdict import headline, seen
from lab.text import table

STEPS = {Language.ENGLISH: "five_steps.svg", Language.CHINESE: "five_steps.zh.svg"}
TIMELINES = {Language.ENGLISH: "timeline.svg", Language.CHINESE: "timeline.zh.svg"}
PAGE = "report.html"  # of a run
README = {Language.ENGLISH: "README.md", Language.CHINESE: "README.zh.md"}


def draw_steps(result: Result, found: StepsOfLoss, folder: Path, language: Language) -> Path:
    """Draw the steps into a folder. Returns the path of the picture."""
    return _written(folder / STEPS[language], steps_drawing.draw(found, conditions([result], language), language))


def draw_timeline(result: Result, picture: Timeline, folder: Path, language: Language) -> Path:
    """Draw the timeline into a folder. Returns the path of the picture."""
    return _written(folder / TIMELINES[language], drawing.still(picture, conditions([result], language), language))


def _written(path: Path, text: str) -> Path:
    replace(path, text.encode())
    return path


NOT_STATED = "none"  # the stage for which the documents do not state how many replicas
DOCUMENTED = {  # the counter after 5000 requests, as the documents report it, by stage and replicas
    ("none", 3): "114",
    ("local", 1): "5000",
    ("local", 3): "2360",
}


def report_run(folder: Path, judged: tuple[Judgement, Findings] | None = None) -> list[Path]:
    """Draw one run into its folder: ``*.svg``, and a page in each language. Return the paths, the English page first.

    judged: what ``judge`` has just returned for this folder. Without it, the history is read and judged here.
    """
    judgement, findings = judged or judge_again(folder)
    keep(folder, judgement, findings)
    result = run_data.load(folder)
    picture = timeline_reader.read(folder, judgement, findings, result.record.has_store)
    replace(folder / "timeline.json", msgspec.json.encode(picture))
    return draw_run(result, picture)


def draw_run(result: Result, picture: Timeline) -> list[Path]:
    """Draw a judged run into its folder. Return the paths, the English page first."""
    folder = result.folder
    found = steps_of_run(picture)
    steps = {language: [draw_steps(result, found, folder, language)] if found else [] for language in Language}
    # the page of the class shows the Chinese timeline where it has no steps
    timed = [language for language in Language if picture.held and (language is ENGLISH or not found)]
    stills = [draw_timeline(result, picture, folder, language) for language in timed]
    pages = in_both("run.html", folder / PAGE, lambda language: _values(result, picture, found, steps[language], language))
    return [*pages, *stills, *(path for drawn in steps.values() for path in drawn)]


def _values(
    result: Result, picture: Timeline, found: StepsOfLoss | None, steps: Sequence[Path], language: Language
) -> dict[str, object]:
    """Return what the page of a run shows in a language."""
    grants = picture.grants if picture.is_locked else 0
    run = RunPage(result, grants, language)
    return {
        "run": run,
        "result": result,
        "judgement": result.judgement,
        "account": run_data.account(result),
        "parts": list(run.parts()),
        "tested": list(run.tested()),
        "goes_on": list(run.goes_on()),
        "price": list(run.price()),
        "conditions": list(run.conditions()),
        "load": chart.conditions([result], language, named=False),
        "caption": say_run.caption(picture, language),
        "violations": [(one, seen(one, language)) for one in result.judgement.violations],
        "timeline": picture,
        "drawing": drawing.for_page(picture, language) if picture.held else None,
        "steps": say_run.page_of_steps(found, language) if found else None,
        "drawn_steps": "".join(inline(steps)),
        "curves": curves_of_run(result, grants, language),
        "home": "../../index.html" if result.folder.parent.name == "runs" else "",  # the site; it is written after each run
        "says": lambda table, name, **places: say.text(table, name, language, **places),
        "unfilled": lambda table, name: say.words(language)[table][name],
    }


def keep(folder: Path, judgement: Judgement, findings: Findings) -> None:
    """Write ``verdict.json`` and ``series.json``, from which pictures are drawn."""
    save(folder / "verdict.json", judgement)
    save(folder / "series.json", run_data.series(findings))


def report_many(folders: Sequence[Path], into: Path, home: Path | None = None) -> list[Path]:
    """Compare the runs of a ladder: write each chart, ``table.md`` and a page in each language. Return the paths, pages first.

    The record, verdict and series of each run are copied too, so that the comparison can be made again from ``into`` alone.
    home: the folder of the comparison, where it is written to another folder.
    """
    runs = run_data.with_rounds([_result(folder) for folder in folders], repeats.read(into))
    into.mkdir(parents=True, exist_ok=True)
    for result in runs:
        facts = into / "runs" / result.record.run
        if any(path.is_symlink() for path in (facts, facts.parent)):
            raise BadInput(f"{facts} is a link, or in one: the lab does not write through it")
        if facts.resolve() != result.folder.resolve():
            facts.mkdir(parents=True, exist_ok=True)
            for name in ("run.json", "verdict.json", "series.json"):
                replace(facts / name, (result.folder / name).read_bytes())
    fitting = {name: one for name, one in charts().items() if one.fits(runs)}
    labelled = {language: with_labels(runs, language) for language in Language}
    drawn = {
        language: [chart.save(one, results, named(into / f"{name}.svg", language), language) for name, one in fitting.items()]
        for language, results in labelled.items()
    }
    table = into / "table.md"
    replace(table, f"{markdown(labelled[ENGLISH])}\n{differences(labelled[ENGLISH])}".encode())
    pages = in_both(
        "many.html",
        into / "index.html",
        lambda language: {
            "say": partial(say.text, "many", language=language),
            "words": say.words(language)["runs_page"],
            "results": labelled[language],
            "pictures": inline(drawn[language]),
            "documented": documented,
            "differing": differing(runs),
            "parameter": parameter,
            "ways": list(_ways(home or into, language)),
        },
    )
    return [*pages, table, *(path for paths in drawn.values() for path in paths)]


def _ways(folder: Path, language: Language) -> Iterator[Way]:
    """Yield where a reader of a comparison goes on: to the list of all runs, and from the reference to its other pages."""
    if folder.resolve() != REFERENCE:
        yield Way(say.text("many", "all_runs", language), f"../{named(Path('index.html'), language)}")
        return
    yield Way(say.text("many", "home", language), f"../../{README[language]}", outside=True)
    for name in ("matrix", "libraries", "play"):
        page = named(folder / name / "index.html", language)
        address = f"{name}/{page.name}" if page.exists() else f"{name}/index.html?lang={language}"
        yield Way(say.text("many", name, language), address)
    for path in sorted(folder.glob("sweep-*")):
        which = path.name.removeprefix("sweep-")
        yield Way(say.text("many", "sweep", language, which=which), f"{path.name}/{named(Path('index.html'), language)}")


def runs_in(folder: Path) -> list[Path]:
    """Return the folders of the runs in a comparison's folder, in the order in which they were run. Links are left out."""
    runs = folder / "runs"
    found = sorted(path.parent for path in runs.glob("*/run.json"))
    return [path for path in found if not path.is_symlink()] if not runs.is_symlink() else []


def markdown(results: Sequence[Result]) -> str:
    """Return the comparison as a Markdown table, with the counter of the documents in the last column."""
    head = [
        "stage",
        "replicas",
        "lock servers",
        "acknowledged",
        "counter",
        "lost",
        "duplicated",
        "failed",
        "unknown",
        "increments kept a second",
        "wait p50 / p99 / max, ms",
        "lock commands per increment",
        "verdict",
        "the documents' counter",
    ]
    rows = [[*_cells(result), documented(result)] for result in results]
    return table(head, rows)


def differences(results: Sequence[Result]) -> str:
    """Return the parameters in which the runs differ, and the folder of each run, as a Markdown table."""
    names = differing(results)
    rows = [[one.label, *(_plain(parameter(one, name)) for name in names), f"`{one.record.run}`"] for one in results]
    return table(["run", *names, "folder"], rows)


def _plain(value: object) -> str:
    return NONE if value is None else str(value)


def _cells(result: Result) -> list[str]:
    judgement = result.judgement
    waits = " / ".join(f"{judgement.wait_ms[name]:.0f}" for name in ("p50", "p99", "max")) if result.series.wait_ms else NONE
    numbers = (
        judgement.acknowledged,
        judgement.final or 0,
        judgement.lost,
        judgement.duplicated,
        judgement.failed,
        judgement.unknown,
    )
    about = [f"`{judgement.stage}`", str(result.record.scenario["replicas"]), str(lock_servers(result))]
    return [
        *about,
        *map(str, numbers),
        f"{judgement.kept_per_s:.0f}",
        waits,
        f"{judgement.commands_per_increment:.1f}",
        headline(judgement),
    ]


def lock_servers(result: Result) -> int:
    """Return how many servers the lock's store had. In an older record, that follows from the scenario."""
    record = result.record
    if record.lock_servers is not None:
        return record.lock_servers
    return servers(record.stage["store"], record.scenario.get("store_nodes", 1), record.scenario.get("store_replica", False))


def documented(result: Result, language: Language = ENGLISH) -> str:
    """Return the counter that the documents report for this stage and number of replicas; empty if they report none."""
    stage = result.judgement.stage
    figure = DOCUMENTED.get((stage, result.record.scenario["replicas"]), "")
    return say.text("many", "not_stated", language, figure=figure) if figure and stage == NOT_STATED else figure


def _result(folder: Path) -> Result:
    if not (folder / "series.json").exists():
        report_run(folder)
    try:
        return run_data.load(folder)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{folder} cannot be compared: {in_short(error)}") from None

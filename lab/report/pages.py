"""Draw judged runs: pictures, tables and pages. Read run folders, and start no process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from lab.errors import BadInput, in_short
from lab.evidence.regular_file import read_record
from lab.evidence.run_folder import replace, save
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge_again
from lab.language.choice import Language
from lab.report import account, chart, repeats, run_data, timeline_reader
from lab.report.chart import FEW, Chart, conditions
from lab.report.charts import charts
from lab.report.html import inline, page
from lab.report.lanes import drawing
from lab.report.run_data import NONE, Result, differing, parameter, with_labels
from lab.scenario.requirements import servers
from lab.story import say_run, steps_drawing
from lab.story.steps import StepsOfLoss, steps
from lab.story.verdict import headline, in_words, seen
from lab.text import table

STEPS = {Language.ENGLISH: "five_steps.svg", Language.CHINESE: "five_steps.zh.svg"}


def draw_steps(result: Result, found: StepsOfLoss, folder: Path, language: Language) -> Path:
    """Draw the steps into a folder. Returns the path of the picture."""
    path = folder / STEPS[language]
    replace(path, steps_drawing.draw(found, conditions([result], language), language).encode())
    return path


DOCUMENTED = {  # the counter after 5000 requests, as the documents report it, by stage and replicas
    ("none", 3): "114 (replicas not stated)",
    ("local", 1): "5000",
    ("local", 3): "2360",
}


def report_run(folder: Path, judged: tuple[Judgement, Findings] | None = None) -> list[Path]:
    """Draw one run into its folder: ``*.svg`` and ``report.html``. Return the paths, the page first.

    judged: what ``judge`` has just returned for this folder. Without it, the history is read and judged here.
    """
    judgement, findings = judged or judge_again(folder)
    keep(folder, judgement, findings)
    result = run_data.load(folder)
    picture = timeline_reader.read(folder, judgement, findings, result.record.has_store)
    replace(folder / "timeline.json", msgspec.json.encode(picture))
    drawn = {name: chart.save(one, [result], folder / name)[0] for name, one in _fitting("one", [result]).items()}
    pictures = inline(list(drawn.values()))
    if picture.held:
        drawn["timeline"] = folder / "timeline.svg"
        replace(drawn["timeline"], drawing.still(picture, chart.conditions([result])).encode())
    found = steps(picture)
    shown = [draw_steps(result, found, folder, language) for language in STEPS] if found else []
    if picture.held and not found:  # the page of the class shows one of them
        drawn["timeline.zh"] = folder / "timeline.zh.svg"
        words = chart.conditions([result], Language.CHINESE)
        replace(drawn["timeline.zh"], drawing.still(picture, words, Language.CHINESE).encode())
    about: dict[str, Any] = {"judgement": judgement, "account": account.account(result), "caption": say_run.caption(picture)}
    about["violations"] = [(one, seen(one)) for one in judgement.violations]
    about["verdict"] = in_words(judgement)
    about["home"] = "../../index.html" if folder.parent.name == "runs" else ""  # the site; it is written after each run
    about["drawing"] = drawing.for_page(picture) if picture.held else None
    text = page("run.html", result=result, pictures=pictures, timeline=picture, **about, **_steps(found, shown))
    path = folder / "report.html"
    replace(path, text.encode())
    return [path, *drawn.values(), *shown]


def keep(folder: Path, judgement: Judgement, findings: Findings) -> None:
    """Write ``verdict.json`` and ``series.json``, from which pictures are drawn."""
    save(folder / "verdict.json", judgement)
    save(folder / "series.json", run_data.series(findings))


def report_many(folders: Sequence[Path], into: Path) -> list[Path]:
    """Compare runs: write each chart as SVG and PNG, ``table.md`` and ``index.html``. Return the paths, the page first.

    The record, verdict and series of each run are copied too, so that the comparison can be made again from ``into`` alone.
    """
    results = with_labels(run_data.with_rounds([_result(folder) for folder in folders], repeats.read(into)))
    into.mkdir(parents=True, exist_ok=True)
    for result in results:
        facts = into / "runs" / result.record.run
        if any(path.is_symlink() for path in (facts, facts.parent)):
            raise BadInput(f"{facts} is a link, or in one: the lab does not write through it")
        if facts.resolve() != result.folder.resolve():
            facts.mkdir(parents=True, exist_ok=True)
            for name in ("run.json", "verdict.json", "series.json"):
                replace(facts / name, read_record(result.folder / name))
    shelf = _fitting("many", results)
    drawn = [path for name, one in shelf.items() for path in chart.save(one, results, into / name, kinds=("svg", "png"))]
    table = into / "table.md"
    replace(table, f"{markdown(results)}\n{differences(results)}".encode())
    pictures = inline([path for path in drawn if path.suffix == ".svg"])
    path = into / "index.html"
    differences_of = {"differing": differing(results), "parameter": parameter, "few": FEW}
    text = page("many.html", results=results, pictures=pictures, documented=documented, **differences_of)
    replace(path, text.encode())
    return [path, table, *drawn]


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


def documented(result: Result) -> str:
    """Return the counter that the documents report for this stage and number of replicas; empty if they report none."""
    return DOCUMENTED.get((result.judgement.stage, result.record.scenario["replicas"]), "")


def _fitting(purpose: str, results: Sequence[Result]) -> dict[str, Chart]:
    """Return the charts that make sense for these results."""
    return {name: one for name, one in charts(purpose).items() if one.fits(results)}


def _steps(found: StepsOfLoss | None, shown: Sequence[Path]) -> dict[str, Any]:
    """Return what a page needs for the steps of the loss that the run is about; ``steps`` is None without such a loss."""
    return {"steps": say_run.page_of_steps(found) if found else None, "drawn_steps": "".join(inline(shown[:1]))}


def _result(folder: Path) -> Result:
    if not (folder / "series.json").exists():
        report_run(folder)
    try:
        return run_data.load(folder)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{folder} cannot be compared: {in_short(error)}") from None

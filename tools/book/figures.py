"""Keep, quote and draw the runs that the chapters show.

``docs/pictures.toml`` lists the runs. A line of ``reports/reference/chapters.jsonl`` keeps the facts of one run: parts of its
run.json and verdict.json, and its timeline. Only ``rerun`` makes a kept run again.
"""

import shutil
import tomllib
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import msgspec
from msgspec.json import encode

from lab.errors import BadInput, choose_from
from lab.evidence.record_lines import files_of, packed, read_lines, write_line
from lab.evidence.run_folder import load as load_record
from lab.experiments.runs import child_run
from lab.judge.judgement import VERDICT
from lab.judge.verdict import judge_again
from lab.language import Language
from lab.paths import DOCS, HOME, REFERENCE, REPORTS
from lab.report import reference, run_data, run_page, timeline_reader
from lab.report.run_data import Result
from lab.scenario.options import flags
from lab.scenario.toml_types import entry_of
from lab.story.steps import steps
from lab.story.timeline import NEVER, Timeline

LIST = DOCS / "pictures.toml"
KEPT = REFERENCE / "chapters.jsonl"
PICTURES = REFERENCE / "chapters"  # a folder for each run
TIMELINE = "timeline.json"


class Illustration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One picture of a chapter."""

    stage: str
    scenario: str
    shows: str  # the verdict that the run must have
    options: dict[str, int] = {}  # options of the run that differ from the scenario
    steps: bool = False  # show the loss in at most six steps, and not on the axis of time
    span_ms: tuple[int, int] | None = None  # the time to show since the first request; None for the default

    @property
    def name(self) -> str:
        return f"{self.stage}-{self.scenario}"

    def shown(self, language: Language = Language.ENGLISH) -> Path:
        """Return the path of the picture that the chapter shows."""
        return PICTURES / self.name / (run_page.STEPS if self.steps else run_page.TIMELINES)[language]

    @property
    def command(self) -> list[str]:
        """Return the command that makes the run of this picture."""
        return ["lab", "run", self.scenario, "--stage", self.stage, *flags(self.options)]


@cache
def illustrations() -> dict[str, Illustration]:
    """Return all pictures by name, in the order of the list. Raises BadInput, naming the entry."""
    table = tomllib.loads(LIST.read_text(encoding="utf-8"))
    entries = (entry_of("docs/pictures.toml", entry, Illustration) for entry in table["picture"])
    return {picture.name: picture for picture in entries}


def keep(entry: Illustration, run: Path) -> None:
    """Keep the facts of a finished run that a picture needs. Raises BadInput if the run has not the picture's verdict."""
    judgement, findings = judge_again(run)
    if judgement.verdict != entry.shows:
        raise BadInput(f"{run.name} came to {judgement.verdict}, and the picture {entry.name} is to show {entry.shows}: not kept")
    picture = timeline_reader.Reader(run, judgement, findings, load_record(run).has_store).picture
    if entry.span_ms is not None:
        picture.opens = (entry.span_ms[0] * 1000, entry.span_ms[1] * 1000)
    write_line(KEPT, entry.name, packed(facts(run) | {TIMELINE: encode(picture)}))
    results.cache_clear()


def facts(run: Path) -> dict[str, bytes]:
    """Return the facts of a run that are kept, without the hashes of its evidence, which is not kept."""
    result = run_data.load(run)
    result.record.files = {}
    return {"run.json": encode(result.record), VERDICT: (run / VERDICT).read_bytes()}


def keep_ladder(folder: Path) -> list[str]:
    """Keep the runs of a ladder's folder, or one run, in the reference ladder. Return their names. Raises BadInput."""
    runs = read_lines(folder / run_data.KEPT) or {load_record(folder).run: packed(facts(folder))}
    for name, run in runs.items():
        write_line(REFERENCE / run_data.KEPT, name, run)
    if (rounds := folder / run_data.ROUNDS).exists():
        shutil.copy(rounds, REFERENCE)
    return [*runs]


@cache
def results() -> dict[str, Result]:
    """Return the kept facts of the runs, by the names of the pictures."""
    return run_data.kept(KEPT)


def result(entry: Illustration) -> Result:
    """Return the kept facts of a picture's run. Raises BadInput with the command that makes them."""
    if entry.name not in results():
        command = f".venv/bin/python -m tools.book --rerun {entry.name}"
        raise BadInput(f"the picture {entry.name} has no run yet; `{command}` makes one")
    return results()[entry.name]


def timeline(entry: Illustration) -> Timeline:
    """Return the timeline of the run. Raises BadInput."""
    result(entry)
    return msgspec.json.decode(files_of(read_lines(KEPT)[entry.name])[TIMELINE], type=Timeline)


def draw(entry: Illustration, language: Language, folder: Path) -> Path:
    """Draw the timeline, or the steps of the loss, from the kept facts into a folder. Returns the path. Raises BadInput."""
    if not entry.steps:
        return run_page.draw_timeline(result(entry), timeline(entry), folder, language)
    loss_in_steps = steps(timeline(entry))
    if loss_in_steps is None:
        raise BadInput(f"docs/pictures.toml: the run of {entry.name} lost nothing that has steps")
    return run_page.draw_steps(result(entry), loss_in_steps, folder, language)


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the pictures of the chapters: the path of each, and the function that draws it into a folder."""
    return {entry.shown(language): partial(draw, entry, language) for entry in illustrations().values() for language in Language}


def of(stage: str, scenario: str) -> Illustration:
    """Return the picture of a stage under a scenario. Raises BadInput."""
    return illustrations()[choose_from("picture", f"{stage}-{scenario}", illustrations())]


def figure(stage: str, scenario: str, name: str) -> str:
    """Return one figure of a picture's run: of the loss in its focus, or one of ``reference.figure``. Raises BadInput."""
    entry = of(stage, scenario)
    if name not in ("destroyed", "read", "wrote", "overwrote"):
        return reference.figure(result(entry), name)
    picture = timeline(entry)
    if picture.focus == NEVER:
        raise BadInput(f"the picture {entry.name} opens on no loss")
    loss = picture.losses[picture.focus]
    return str(loss.destroyed if name == "destroyed" else getattr(picture.held[loss.culprit], name))


def rerun(names: Sequence[str], report: Callable[[str], None]) -> None:
    """Make the runs of the named pictures again, and keep their facts.

    Raises BadInput for an unknown name, or for a run without the picture's verdict; the facts that were kept before stay.
    """
    for picture in [illustrations()[choose_from("picture", name, illustrations())] for name in names]:
        report(f"{picture.name}: {' '.join(picture.command)}")
        keep(picture, HOME / REPORTS / "runs" / child_run(picture.command[2:], HOME).run)

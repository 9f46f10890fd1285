"""Where the reader of a run goes on: the level about the claim, the chapter, the stage that mends it.

The addresses are relative to a run in ``reports/runs``. What is not there gets no link.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec

from app.locks import stages
from lab.judge.judgement import Judgement, Verdict
from lab.language.choice import Language
from lab.scenario import reader

LEVELS, PLAY = "levels.json", ("play", "reference/play")
CHAPTERS = {Language.ENGLISH: ("docs/ladder",), Language.CHINESE: ("docs/zh/ladder", "docs/ladder")}


class LevelPage(msgspec.Struct):
    """A level of ``lab play`` whose moves are not given, as ``levels.json`` next to the pages has it."""

    name: str
    stage: str
    # the names of the claims that win it
    claims: list[str]


def level(reports: Path, judgement: Judgement, language: Language) -> str | None:
    """Return the address of a level of the stage that is about the tested claim."""
    for play in PLAY:
        folder = reports / play
        for one in _levels(folder):
            if one.stage == judgement.stage and judgement.claim in one.claims and (folder / f"{one.name}.html").exists():
                return f"../../{play}/{quote(one.name)}.html?lang={language}"
    return None


def _levels(folder: Path) -> Iterator[LevelPage]:
    try:
        yield from msgspec.json.decode((folder / LEVELS).read_bytes(), type=list[LevelPage])
    except (OSError, msgspec.MsgspecError):
        return


def chapter(reports: Path, stage: str, language: Language) -> str | None:
    """Return the address of a stage's chapter: a file outside the folder of the reports."""
    found = next((path for path in CHAPTERS[language] if (reports.parent / path / f"{stage}.md").exists()), None)
    return f"../../../{found}/{quote(stage)}.md" if found else None


def mender(judgement: Judgement) -> str | None:
    """Return the next stage that promises what is broken, and that the scenario fits; None where nothing is to mend."""
    if judgement.verdict not in (Verdict.ADMITTED, Verdict.BROKEN) or judgement.stage not in (shelf := stages()):
        return None
    if judgement.scenario not in reader.names():
        return None
    scenario, names = reader.load(judgement.scenario), list(shelf)
    later = names[names.index(judgement.stage) + 1 :]
    fit = [name for name in later if scenario.tests in shelf[name].claims and scenario.misfit(shelf[name]) is None]
    return next((name for name in fit if shelf[name].follows == judgement.stage), next(iter(fit), None))

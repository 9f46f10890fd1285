"""The picture of a run's loss in steps, in each language, next to the other pictures of the run."""

from __future__ import annotations

from pathlib import Path

from lab.evidence.run_folder import replace
from lab.language.choice import Language
from lab.report.chart import conditions
from lab.report.run_data import Result
from lab.story import steps_drawing
from lab.story.steps import StepsOfLoss

NAMES = {Language.ENGLISH: "five_steps.svg", Language.CHINESE: "five_steps.zh.svg"}


def draw(result: Result, found: StepsOfLoss, folder: Path, language: Language) -> Path:
    """Draw the steps into a folder. Returns the path of the picture."""
    path = folder / NAMES[language]
    replace(path, steps_drawing.draw(found, conditions([result], language), language).encode())
    return path

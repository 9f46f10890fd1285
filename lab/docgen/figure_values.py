"""Figures of the runs that the chapters' pictures show: of the whole run, of the loss or the theft that is told of."""

from __future__ import annotations

from lab.docgen.figures import Illustration, illustrations, result
from lab.errors import BadInput, choose_from
from lab.report import reference
from lab.report.timeline_model import NEVER, Timeline, load

OF_LOSS = ("destroyed", "read", "wrote", "overwrote", "culprit")
OF_THEFT = ("thief", "between", "robbed", "robbed_after_ms")


def of(stage: str, scenario: str) -> Illustration:
    """The picture of a stage under a scenario. Raises BadInput."""
    return illustrations()[choose_from("picture", f"{stage}-{scenario}", illustrations())]


def timeline(one: Illustration) -> Timeline:
    """What is kept of the run's timeline. Raises BadInput."""
    picture = load(result(one).folder / "timeline.json")
    if picture is None:
        raise BadInput(f"the picture {one.name} has no timeline; `lab docs --rerun {one.name}` makes one")
    return picture


def figure(stage: str, scenario: str, name: str) -> str:
    """One figure of the run: of the loss its picture opens on (OF_LOSS), of the first theft in it (OF_THEFT), or any that
    ``reference.figure`` knows; ``third``: of the acknowledged, which document 1 takes for the least three servers can leave.
    Raises BadInput.
    """
    one = of(stage, scenario)
    if name in OF_LOSS:
        return str(_loss(one)[name])
    if name in OF_THEFT:
        return str(_theft(one)[name])
    if name == "third":
        return f"{result(one).judgement.acknowledged / 3:.0f}"
    return reference.figure(result(one).judgement, name)


def _loss(one: Illustration) -> dict[str, object]:
    picture = timeline(one)
    if picture.focus == NEVER:
        raise BadInput(f"the picture {one.name} opens on no loss")
    loss = picture.losses[picture.focus]
    culprit = picture.held[loss.culprit]
    told = {"read": culprit.read, "wrote": culprit.wrote, "overwrote": culprit.overwrote}
    return told | {"destroyed": loss.destroyed, "culprit": culprit.request}


def _theft(one: Illustration) -> dict[str, object]:
    """The first key that was deleted by another's release, and who held the lock between the two."""
    picture = timeline(one)
    for life in picture.lives:
        if life.how == "del" and NEVER not in (life.by, life.holder) and life.by != life.holder:
            thief, robbed = picture.held[life.by], picture.held[life.holder]
            between = [held.request for held in picture.held if thief.got < held.got < robbed.got]
            after_ms = (life.gone - robbed.got) / 1000
            return {
                "thief": thief.request,
                "robbed": robbed.request,
                "between": ", ".join(between) or "nobody",
                "robbed_after_ms": f"{after_ms:.0f}",
            }
    raise BadInput(f"nobody's lock is deleted by another in the picture {one.name}")

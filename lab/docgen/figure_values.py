"""Figures of the runs that the chapters' pictures show: of the whole run, of one loss, or of one theft."""

from __future__ import annotations

from lab.docgen.figures import Illustration, illustrations, result, timeline
from lab.errors import BadInput, choose_from
from lab.report import reference
from lab.story.timeline import NEVER

OF_LOSS = ("destroyed", "read", "wrote", "overwrote", "culprit")
OF_THEFT = ("thief", "between", "robbed", "robbed_after_ms")


def of(stage: str, scenario: str) -> Illustration:
    """Return the picture of a stage under a scenario. Raises BadInput."""
    return illustrations()[choose_from("picture", f"{stage}-{scenario}", illustrations())]


def figure(stage: str, scenario: str, name: str) -> str:
    """Return one figure of the run. Raises BadInput.

    OF_LOSS are figures of the loss that the picture opens on, OF_THEFT of the first theft in it. ``third`` is a third of the
    acknowledged requests: document 1 calls it the least that three servers leave. All others are those of ``reference.figure``.
    """
    one = of(stage, scenario)
    if name in OF_LOSS:
        return str(_loss(one)[name])
    if name in OF_THEFT:
        return str(_theft(one)[name])
    if name == "third":
        return f"{result(one).judgement.acknowledged / 3:.0f}"
    return reference.figure(result(one), name)


def _loss(one: Illustration) -> dict[str, object]:
    picture = timeline(one)
    if picture.focus == NEVER:
        raise BadInput(f"the picture {one.name} opens on no loss")
    loss = picture.losses[picture.focus]
    culprit = picture.held[loss.culprit]
    values = {"read": culprit.read, "wrote": culprit.wrote, "overwrote": culprit.overwrote}
    return values | {"destroyed": loss.destroyed, "culprit": culprit.request}


def _theft(one: Illustration) -> dict[str, object]:
    """Return the first theft: the request that deleted another's key, that other, and the holders between the two."""
    picture = timeline(one)
    for life in picture.lives:
        if life.how == "del" and NEVER not in (life.by, life.holder) and life.by != life.holder:
            thief, robbed = picture.held[life.by], picture.held[life.holder]
            between = [held.request for held in picture.held if thief.got < held.got < robbed.got]
            after_ms = (life.gone - robbed.got) / 1000
            return {
                "thief": thief.request,
                "robbed": robbed.request,
                "between": ", ".join(between) or "no request",
                "robbed_after_ms": f"{after_ms:.0f}",
            }
    raise BadInput(f"no request deletes another's lock in the picture {one.name}")

"""Put the subject of a judged run into words: in the caption of its picture, in the title, and in the steps of a loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from lab.language import Language
from lab.story import from_run, say
from lab.story.happening import Happening, Kind
from lab.story.say import ENGLISH
from lab.story.steps import OWN, Step, StepsOfLoss, of_focus
from lab.story.timeline import NEVER, Timeline

LONGEST = 110  # letters: a longer title leaves out the losses of the run
COSTS = (Kind.RUN_LOST, Kind.NOTHING_LOST)
AT = "{at}"
# by the number of decimals of a second: the least distance in milliseconds of two moments that then differ
DECIMALS = {2: 10, 3: 1, 4: 0.1, 5: 0.01}


def caption(picture: Timeline, language: Language = ENGLISH, without_steps: bool = False) -> str:
    """Return the caption of a picture. without_steps: the page shows the steps of the loss next to it."""
    happened = from_run.caption(picture)
    decimals = decimals_of([one.at_ms for part in happened for one in part if _has_moment(one)])
    sentences = [_joined(part, "caption", "steps", language, decimals) for part in happened]
    if picture.focus != NEVER and not without_steps:
        sentences += _of_a_loss(picture, language)
    mark = say.words(language)["mark"]
    gap: str = mark["gap"]
    return gap.join(one + mark["end"] for one in sentences)


def _of_a_loss(picture: Timeline, language: Language) -> Iterator[str]:
    """Yield the steps of a loss with the names of its requests and the moments; then the cause, and the losses of the run."""
    found, names = of_focus(picture)
    for step, at in zip(found, clocks(found, language), strict=True):
        named = tuple(_with_names(one, names) for one in step)
        yield say.text("steps", "timed", language, what=_of_a_step(named, language), at=at)
    yield _joined(from_run.outcome(picture), "caption", "steps", language)


def _with_names(happening: Happening, names: Mapping[str, str]) -> Happening:
    """Return a step with its requests, by their names in place of their letters."""
    others = tuple(names.get(other, other) for other in happening.others)
    return replace(happening, actor=names.get(happening.actor, happening.actor), others=others)


def title(picture: Timeline, language: Language = ENGLISH) -> str:
    """Return the title of a picture: its subject, and the losses of the run if there is room."""
    *happened, last = from_run.title(picture)
    if last.kind not in COSTS:
        happened.append(last)
    subject = _joined(happened, "title", "titles", language)
    short = say.text("run", "title", language, stage=picture.stage, what=subject)
    cost = say.text("run", "cost", language, title=short, cost=say.clause(last, language, "title"))
    return cost if last.kind in COSTS and len(cost) <= LONGEST else short


def decimals_of(moments_ms: Sequence[float], fewest: int = 2) -> int:
    """Return how many decimals of a second moments need to differ."""
    gaps = [later - sooner for sooner, later in pairwise(sorted(moments_ms))]
    gap = min((gap for gap in gaps if gap >= min(DECIMALS.values())), default=max(DECIMALS.values()))
    return next(decimals for decimals, least in DECIMALS.items() if gap >= least and decimals >= fewest)


def _has_moment(happening: Happening) -> bool:
    """Return whether a caption states when it happened. A fault needs no decimals of its own: it begins at a command."""
    return happening.kind is not Kind.FAULT and AT in say.template(happening, ENGLISH, "caption")


def _joined(happened: Sequence[Happening], form: str, mark: str, language: Language, decimals: int = 2) -> str:
    """Return happenings as one sentence without its end. Its first letter is a capital, if it does not begin with a name."""
    templates = say.words(language)
    shown = [one for one in happened if say.has(one, form)]
    sentence = ""
    for number, one in enumerate(shown):
        template = say.template(one, language, form)
        if number:
            sentence += templates["kind"][one.kind].get("before", templates["mark"][mark])
        elif form == "caption":
            template = say.capital(template)
        sentence += say.filled(template, one, language, decimals)
    return sentence


def of_a_step(step: Step, language: Language = ENGLISH) -> str:
    """Return the sentence of a step: an action of one holder, or an event that it meets."""
    end: str = say.words(language)["mark"]["end"]
    return _of_a_step(step, language) + end


def _of_a_step(step: Step, language: Language) -> str:
    first, *others = step
    if first.kind not in OWN:
        return _of_no_holder(first, language)
    mark, does = say.words(language)["mark"], [say.clause(one, language) for one in others]
    end = f"{mark['comma'] if does[:-1] else ''}{mark['comma'].join(does[:-1])}{mark['and']}{does[-1]}" if does else ""
    return f"{say.alone(first, language)}{end}"


def _of_no_holder(happening: Happening, language: Language) -> str:
    """Return an event that is no holder's; a fault by its effect."""
    effect: str = say.words(language)["effect"].get(happening.effect, "")
    if not effect and not say.has(happening, "alone"):
        return say.alone(happening, language)
    return say.filled(say.capital(effect or say.template(happening, language, "alone")), happening, language)


def at_mark(happening: Happening, language: Language = ENGLISH) -> str:
    """Return the words at the mark of a happening."""
    return say.clause(happening, language, "mark" if say.has(happening, "mark") else "long")


def clocks(steps: Sequence[Step], language: Language = ENGLISH) -> list[str]:
    """Return the moment of each step, with as many decimals as they need to differ."""
    moments_ms = [step[0].at_ms for step in steps]
    decimals = decimals_of(moments_ms, fewest=3)
    return [say.text("piece", "clock", language, s=f"{at_ms / 1000:.{decimals}f}") for at_ms in moments_ms]


def heading(found: StepsOfLoss, language: Language = ENGLISH) -> str:
    """Return how many steps there are, and their subject."""
    return say.text("steps", "heading" if found.has_counter else "heading_of_wait", language, number=_number(found, language))


def title_of_steps(found: StepsOfLoss, language: Language = ENGLISH) -> str:
    """Return the title of the picture of a loss."""
    return say.text(
        "steps",
        "title" if found.has_counter else "title_of_wait",
        language,
        stage=found.stage,
        number=_number(found, language),
        what=say.clause(found.harm, language, "title"),
    )


def _number(found: StepsOfLoss, language: Language) -> str:
    return say.text("steps", f"number_{len(found.steps)}", language)


def with_replica(request: str, replica: str, language: Language = ENGLISH) -> str:
    """Return the name of a request with its replica."""
    return say.text("steps", "named", language, request=request, replica=replica)


def page_of_steps(found: StepsOfLoss, language: Language = ENGLISH) -> dict[str, Any]:
    """Return a page's words about the steps of a loss."""
    happened = [of_a_step(step, language) for step in found.steps]
    return {
        "heading": heading(found, language),
        "a": with_replica(*found.a, language),
        "b": with_replica(*found.b, language),
        "cause": say.mechanism(found.harm.cause, language) if found.harm.cause is not None else "",
        "said": [{"clock": clock, "sentence": one} for clock, one in zip(clocks(found.steps, language), happened, strict=True)],
    }

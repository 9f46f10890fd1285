"""The generated part about a slip: the code of a lock in ``docs/slips``, what every order decides of it, and its commands."""

from __future__ import annotations

from collections.abc import Callable

from app.lock import Claim, Stage
from app.locks import stage as stage_of
from lab.docgen.explored import decided, not_decided
from lab.errors import BadInput, choose_from
from lab.explore import kept
from lab.explore.code.program import FOR_EVER_MS, Task
from lab.explore.kept import KeptDecision
from lab.explore.questions import TTL_MS
from lab.explore.summary import of_claims
from lab.language.choice import Language
from lab.language.phrases import quoted
from lab.paths import HOME
from lab.story import say
from lab.story.from_schedule import kept_stories
from lab.story.say import ENGLISH
from lab.story.searches import conditions, share


def _slip(name: str, claim: str = "", *, language: Language = ENGLISH) -> str:
    """Return what is shown of a slip. claim: the claim whose shortest schedule is quoted; empty where no promise breaks."""
    path = kept.slips()[choose_from("slip", name, kept.slips())]
    stage = stage_of(str(path))
    found = kept.current(stage)
    commands = [f".venv/bin/{line}" for line in stage.story.see_it]
    where = path.relative_to(HOME).as_posix()
    if claim:
        choose_from("claim", claim, [one.name for one in Claim], f"slip {name}")
    if not any(" explore " in line for line in commands):
        said = ""
    elif found is None or found.why:
        said = not_decided(found, f".venv/bin/lab explore {where} --keep", language)
    elif claim:
        said, again = _broken(found, Claim[claim], language)
        commands += [f".venv/bin/lab replay {where}:{again}"] if again else []
    else:
        said = _kept_promises(found, stage, language)
    return "\n".join(["```python", code(stage), "```", "", *([said, ""] if said else []), "```sh", *commands, "```", ""])


def code(stage: Stage) -> str:
    """Return the class of a lock, without its imports and its record."""
    text = stage.path.read_text(encoding="utf-8") if stage.path else ""
    return text[text.index("class Lock") : text.index("STAGE = ")].strip()


def _broken(found: KeptDecision, claim: Claim, language: Language) -> tuple[str, str]:
    """Return what breaks a claim, in words, and what `lab replay` needs to do it again; empty without an option for it."""
    broken, story = of_claims(found)[claim].broken, kept_stories(found)[claim.name]
    number = ""
    if broken and broken.share:
        with_what = say.capital(conditions(broken.question, found.ttl_ms, language))
        claimed = {"claim": claim.name, "promise": quoted("claim", claim.value, language)}
        number = say.text("slip", "share", language, 1, conditions=with_what, share=share(broken, language), **claimed)
    ttl = f" --ttl-ms {found.ttl_ms}" if found.ttl_ms != TTL_MS else ""
    work = f" --work-ms {story.work_ms}" if story.work_ms else ""
    task = broken.question.task if broken else Task(found.ttl_ms)
    again = f"{story.schedule}{ttl}{work}" if (task.wait_ms, task.at_once, task.in_turn) == (FOR_EVER_MS, 1, 1) else ""
    shortest = say.text("slip", "shortest", language, schedule=say.sentences(story, language))
    return say.text("chapter", "every_order", language, what=number + shortest), again


def _kept_promises(found: KeptDecision, stage: Stage, language: Language) -> str:
    """Return in how many schedules no promise breaks. Raises BadInput where one does."""
    answers = of_claims(found)
    if broken := [claim.name for claim, one in answers.items() if one.broken and claim in stage.claims]:
        raise BadInput(f"{stage.name} breaks {', '.join(broken)}: the part has to name the claim")
    schedules, searches = decided(found, "explore.md", language)
    kept_all = say.text("slip", "kept", language, schedules=schedules, searches=searches)
    return say.text("chapter", "every_order", language, what=kept_all)


PARTS: dict[str, Callable[..., str]] = {"slip": _slip}

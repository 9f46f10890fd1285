"""The generated parts about every order of events: the picture of a chapter, the second evidence of each promise, and slips.

They come from the decisions that ``lab explore --keep`` keeps. A decision of code that has changed since is not quoted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from app.lock import Claim, Stage
from app.locks import stage as stage_of
from app.locks import stages
from lab.errors import choose_from
from lab.evidence import decided as kept
from lab.evidence.decided import KeptDecision, Summary, of_claims, why_not
from lab.explore.story import lanes
from lab.language import Language
from lab.paths import HOME, REFERENCE
from lab.story import say
from lab.story.happening import Story
from lab.story.say import ENGLISH, text
from lab.story.searches import conditions, kept_story, share, summary
from lab.text import thousands

PICTURES = REFERENCE / "explore"
UP = "../../"  # from a chapter to the project's top
AGAIN = ".venv/bin/lab explore {} --keep"
SEARCHES, CLAIMS = "../explore.md", "../scenarios.md#the-claims"  # from a chapter


def story_of(stage: Stage) -> Story | None:
    """Return the schedule that the documents draw of a stage or slip; None if its present code was not decided or has none."""
    found = kept.current(stage)
    return kept_story(found) if found is not None else None


def to_do() -> list[str]:
    """Return a sentence for each stage and slip whose present code was not decided: the documents quote nothing of it."""
    locks = {name: stage for name, stage in stages().items() if not why_not(stage)}
    slips = [stage_of(str(path)) for path in kept.slips().values()]
    locks |= {one.path.relative_to(HOME).as_posix(): one for one in slips if kept.read(kept.key_of(one)) and one.path}
    return [f"to do: `{AGAIN.format(name)}`" for name, stage in locks.items() if kept.current(stage) is None]


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the pictures of the chapters: the path of each, and the function that draws it into a folder."""
    drawn = [story for stage in stages().values() if (story := story_of(stage)) is not None]
    return {PICTURES / _name(story, language): partial(_draw, story, language) for story in drawn for language in Language}


def _name(story: Story, language: Language) -> str:
    return f"{story.stage}.zh.svg" if language is Language.CHINESE else f"{story.stage}.svg"


def _draw(story: Story, language: Language, folder: Path) -> Path:
    path = folder / _name(story, language)
    path.write_text(lanes.draw(story, language), encoding="utf-8")
    return path


def _schedule(name: str, *, language: Language = ENGLISH) -> str:
    """Return the picture of a chapter with its sentences; where it draws none, how much was decided.

    language: that of the sentences.
    """
    stage = stages()[choose_from("stage", name, stages())]
    found = kept.current(stage)
    if found is None or found.why:
        return not_decided(found, AGAIN.format(name), language) + "\n"
    answers, story = of_claims(found), story_of(stage)
    if story is None:
        return text("chapter", "every_order", language, what=_all_hold(found, stage, answers, language)) + "\n"
    work = f" --work-ms {story.work_ms}" if story.work_ms else ""
    is_promised = Claim[story.claim] in stage.claims
    breaks = text(
        "chapter",
        "breaks" if is_promised else "breaks_unpromised",
        language,
        stage=name,
        claim=story.claim,
        events=f"{SEARCHES}#events",
        claims=CLAIMS,
    )
    decides = text("chapter", "decides", language, stage=name)
    if (broken := answers[Claim[story.claim]].broken) and broken.share:
        with_what = conditions(broken.search, found.ttl_ms, language)
        breaks += text("chapter", "share", language, conditions=with_what, share=share(broken, language))
    return (
        f"{text('chapter', 'every_order', language, what=decides + breaks)}\n\n"
        f"![{say.title(story, language)}]({UP}{(PICTURES / _name(story, language)).relative_to(HOME).as_posix()})\n\n"
        f"*{say.sentences(story, language)}*\n\n"
        f"```sh\n.venv/bin/lab replay {name}:{story.schedule}{work}\n```\n"
    )


def not_decided(found: KeptDecision | None, command: str, language: Language = ENGLISH) -> str:
    """Return why nothing is decided of a stage, and the command that decides it."""
    why = found.why if found is not None else text("chapter", "nothing_kept", language)
    return text("chapter", "not_decided", language, why=why, command=command)


def decided(found: KeptDecision, page: str, language: Language = ENGLISH) -> tuple[str, str]:
    """Return in words how many schedules are decided, and in how many searches. page: the way to the page that lists searches."""
    done = [one for one in found.searches if one["decided"]]
    number = sum(one.get("schedules") or 0 for one in done)
    shown = text("chapter", "schedules", language, number, shown=thousands(number))
    searches = text("chapter", "searches", language, len(done), page=f"{page}#what-is-searched")
    return shown if number else text("chapter", "all_schedules", language), searches


def _all_hold(found: KeptDecision, stage: Stage, answers: Mapping[Claim, Summary], language: Language) -> str:
    """Return what was decided where a chapter draws no schedule."""
    orders, searches = decided(found, SEARCHES, language)
    answer = text("chapter", "decided", language, stage=stage.name, schedules=orders, searches=searches)
    broken = {claim: f"`{claim.name}` {summary(one, found.ttl_ms, language)}" for claim, one in answers.items() if one.broken}
    part = say.words(language)["mark"]["part"]
    promised, others = (
        part.join(words for claim, words in broken.items() if (claim in stage.claims) is is_promised)
        for is_promised in (True, False)
    )
    name = "some_break" if promised else "none_breaks"
    said = text("chapter", name, language, decided=answer, stage=stage.name, broken=promised)
    said += text("chapter", "unpromised", language, broken=others) if others else ""
    return said + ("" if all(one["decided"] for one in found.searches) else text("chapter", "undecided", language))


def _slip(name: str, *, language: Language = ENGLISH) -> str:
    """Return what is shown of a slip: its code, and a shortest schedule; if no promise breaks, how much was decided."""
    path = kept.slips()[choose_from("slip", name, kept.slips())]
    stage = stage_of(str(path))
    found = kept.current(stage)
    commands = [f".venv/bin/{line}" for line in stage.story.see_it]
    where = path.relative_to(HOME).as_posix()
    if not any(" explore " in line for line in commands):
        said = ""
    elif found is None or found.why:
        said = not_decided(found, AGAIN.format(where), language)
    elif (story := story_of(stage)) is not None:
        said = text("slip", "shortest", language, claim=story.claim, schedule=say.sentences(story, language))
    else:
        schedules, searches = decided(found, "explore.md", language)
        said = text("slip", "kept", language, schedules=schedules, searches=searches)
    return "\n".join(["```python", code(stage), "```", "", *([said, ""] if said else []), "```sh", *commands, "```", ""])


def code(stage: Stage) -> str:
    """Return the class of a lock, without its imports and its record."""
    text = stage.path.read_text(encoding="utf-8") if stage.path else ""
    return text[text.index("class Lock") : text.index("STAGE = ")].strip()


PARTS: dict[str, Callable[..., str]] = {
    "schedule": _schedule,
    "slip": _slip,
}

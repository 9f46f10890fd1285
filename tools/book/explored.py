"""Write the generated parts about all orders of events: the picture of a chapter, and slips.

They come from the decisions that ``lab explore --keep`` keeps. If the code has changed since, a decision is not quoted.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.lock import Claim, Stage
from app.locks import stage as stage_of
from app.locks import stages
from lab.errors import BadInput, choose_from
from lab.evidence import decided as kept
from lab.evidence.decided import KeptDecision, of_claims
from lab.explore.story import lanes
from lab.language import Language
from lab.paths import HOME, REFERENCE
from lab.report.html import path_in
from lab.story import say
from lab.story.happening import Story
from lab.story.say import ENGLISH, text
from lab.story.searches import conditions, kept_story, share
from lab.text import thousands
from tools.book.chapters import CLAIMS, UP

PICTURES = REFERENCE / "explore"
AGAIN = ".venv/bin/lab explore {} --keep"
SEARCHES = "../explore.md"  # from a chapter


def story_of(stage: Stage) -> Story | None:
    """Return the schedule that the documents draw for a stage or slip; None without one, or if its code has changed since."""
    decision = kept.current(stage)
    return kept_story(decision) if decision is not None else None


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the pictures of the chapters: the path of each, and the function that draws it into a folder."""
    drawn = [story for stage in stages().values() if (story := story_of(stage)) is not None]
    return {_picture(story, language): partial(_draw, story, language) for story in drawn for language in Language}


def _picture(story: Story, language: Language) -> Path:
    return path_in(PICTURES / f"{story.stage}.svg", language)


def _draw(story: Story, language: Language, folder: Path) -> None:
    (folder / _picture(story, language).name).write_text(lanes.draw(story, language), encoding="utf-8")


def _schedule(name: str, *, language: Language = ENGLISH) -> str:
    """Return the picture of a chapter with its sentences; without a picture, the number of decided schedules. Raises BadInput."""
    stage = stages()[choose_from("stage", name, stages())]
    decision, story = kept.current(stage), story_of(stage)
    if decision is None or decision.why or story is None:
        return _in_words(decision, stage, AGAIN.format(name), SEARCHES, language) + "\n"
    work = f" --work-ms {story.work_ms}" if story.work_ms else ""
    form = "breaks" if Claim[story.claim] in stage.claims else "breaks_unpromised"
    breaks = text("chapter", form, language, stage=name, claim=story.claim, events=f"{SEARCHES}#events", claims=CLAIMS)
    if (broken := of_claims(decision)[Claim[story.claim]].broken) and broken.share:
        with_what = conditions(broken.search, decision.ttl_ms, language)
        breaks += text("chapter", "share", language, conditions=with_what, share=share(broken, language))
    return (
        f"{breaks}\n\n"
        f"![{say.title(story, language)}]({UP}{_picture(story, language).relative_to(HOME).as_posix()})\n\n"
        f"*{say.sentences(story, language)}*\n\n"
        f"```sh\n.venv/bin/lab explore --replay {name}:{story.schedule}{work}\n```\n"
    )


def _in_words(decision: KeptDecision | None, stage: Stage, command: str, page: str, language: Language) -> str:
    """Return how many schedules of a lock are decided; if none is, the reason, and the command that decides.

    page: the path of the page that lists searches. Raises BadInput if a promise breaks: then a schedule must be shown.
    """
    if decision is None or decision.why:
        why = decision.why if decision is not None else text("chapter", "nothing_kept", language)
        return text("chapter", "not_decided", language, why=why, command=command)
    if broken := [claim.name for claim, summary in of_claims(decision).items() if summary.broken and claim in stage.claims]:
        raise BadInput(f"{stage.name} breaks {broken[0]} in some order, and its document names no schedule of that")
    done = [search for search in decision.searches if search["decided"]]
    number = thousands(sum(search.get("schedules") or 0 for search in done))
    searches = text("chapter", "searches", language, len(done), page=f"{page}#what-is-searched")
    return text("chapter", "none_breaks", language, schedules=number, searches=searches)


def _slip(name: str, *, language: Language = ENGLISH) -> str:
    """Return the code of a slip and a shortest schedule; if no promise breaks, the number of decided schedules."""
    path = kept.slips()[choose_from("slip", name, kept.slips())]
    stage = stage_of(str(path))
    commands = [f".venv/bin/{line}" for line in stage.story.see_it]
    story, lines = story_of(stage), list[str]()
    if story is not None:
        lines = [text("chapter", "shortest", language, claim=story.claim, schedule=say.sentences(story, language)), ""]
    elif any(" explore " in line for line in commands):
        again = AGAIN.format(path.relative_to(HOME).as_posix())
        lines = [_in_words(kept.current(stage), stage, again, "explore.md", language), ""]
    source = path.read_text(encoding="utf-8")  # without its imports and its record
    lock = source[source.index("class Lock") : source.index("STAGE = ")].strip()
    return "\n".join(["```python", lock, "```", "", *lines, "```sh", *commands, "```", ""])


PARTS: dict[str, Callable[..., str]] = {"schedule": _schedule, "slip": _slip}

"""The generated parts of a chapter: the stage's docstring, its diff, its pictures, and figures for the prose.

Each part takes the words of its marker. A part that stands within a sentence returns no line end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from app.lock import Claim, Stage
from app.locks import part, stages
from lab.docgen import cells, figures
from lab.docgen.figures import result, timeline
from lab.errors import BadInput, choose_from
from lab.language.choice import Language
from lab.language.phrases import exactly
from lab.paths import HOME
from lab.play.levels import LEVELS
from lab.report import matrix, pages, reference
from lab.report.pages import lock_servers
from lab.scenario import reader
from lab.scenario.stage_diff import changes, code, difference
from lab.story import say, say_run
from lab.story.say import ENGLISH
from lab.text import counted

FOLDER = HOME / "docs" / "ladder"
CHINESE = HOME / "docs" / "zh" / "ladder"
UP = "../../"  # from a chapter to the project's top
PAGES = f"{UP}reports/reference/play"
PLACES = ("problem", "diff", "verdicts", "still", "neighbours")  # what every chapter holds, in this order

SKELETON = """\
# `{name}`: what it is, in a few words

<!-- generated: problem {name} -->
<!-- end -->

Why the idea works, and what it rests on. Figures stand in generated parts; CONTRIBUTING.md lists them.

## The code

<!-- generated: diff {name} -->
<!-- end -->

## What happened

Add the run to show to docs/pictures.toml, `lab docs --rerun {name}-SCENARIO`, and put its part here:
generated: picture {name} SCENARIO.

<!-- generated: verdicts {name} -->
<!-- end -->

<!-- generated: schedule {name} -->
<!-- end -->

## Still wrong

<!-- generated: still {name} -->
<!-- end -->

## What the documents say

- [Document 1](../README.md#the-sources): what it states, and where it errs, with the run that shows it.

<!-- generated: neighbours {name} -->
<!-- end -->
"""


def path(stage: str) -> Path:
    """Return the path of a stage's chapter. The name has no number: a new stage renames nothing."""
    return FOLDER / f"{stage}.md"


def begin(stage: str) -> Path:
    """Write a skeleton of a chapter. Raises BadInput for an unknown stage, or if the chapter exists."""
    choose_from("stage", stage, stages())
    if path(stage).exists():
        raise BadInput(f"{path(stage).relative_to(HOME)} exists already")
    path(stage).write_text(SKELETON.format(name=stage), encoding="utf-8")
    return path(stage)


def _stage(name: str) -> Stage:
    return stages()[choose_from("stage", name, stages())]


def _problem(name: str) -> str:
    story = _stage(name).story
    source = f"\n**Source.** {story.source}\n" if story.source else ""
    return f"**Problem.** {story.problem}\n\n**Idea.** {story.idea}\n{source}"


def _still(name: str) -> str:
    story = _stage(name).story
    answers: dict[str, list[str]] = {}
    for other in stages().values():
        if other.follows == name:
            answers.setdefault(other.story.problem, []).append(f"[`{other.name}`]({other.name}.md)")
    lines = [f"- {line}" + (f" → {', '.join(answers[line])}" if line in answers else "") for line in story.still]
    commands = "\n".join(f".venv/bin/{line}" for line in story.see_it)
    return "\n".join([*lines, "", "See it:", "", "```sh", commands, "```", ""])


def _diff(name: str) -> str:
    stage = _stage(name)
    if stage.follows is None:
        made = f"Claims: {_names(stage.claims)}."
        return "\n".join(["```python", "".join(code(stage)).strip(), "```", "", made, ""])
    old = stages()[stage.follows]
    lines, found = difference(old, stage), changes(old, stage)
    link = f"[`{old.name}`]({old.name}.md)"
    text = [f"What changes from {link}:", "", "```diff", *lines, "```"] if lines else [f"The lock is that of {link}."]
    settings = [f"- `{name}`: {before} → {after}" for name, before, after in found.settings]
    both = (("gained", found.gained), ("lost", found.lost))
    gained_or_lost = [f"- [Claims](../stages.md#the-claims) {what}: {_names(claims)}." for what, claims in both if claims]
    return "\n".join([*text, "", *(gained_or_lost or ["- The claims are the same."]), *settings, ""])


def _names(claims: Iterable[Claim]) -> str:
    return ", ".join(f"`{claim.name}`" for claim in Claim if claim in set(claims)) or "none"


def _neighbours(name: str) -> str:
    order = list(stages())
    place = order.index(choose_from("stage", name, order))
    before = [f"← [`{order[place - 1]}`]({order[place - 1]}.md)"] if place else []
    after = [f"[`{order[place + 1]}`]({order[place + 1]}.md) →"] if place + 1 < len(order) else []
    chinese = [f"[中文](../zh/ladder/{name}.md)"] if (CHINESE / f"{name}.md").is_file() else []
    return " · ".join([*before, "[contents](../README.md)", *after, "[which lock?](../which-lock.md)", *chinese]) + "\n"


def _contents() -> str:
    """Return the chapters in the order of the course, one table for each part of the ladder. A detour is in italics."""
    parts: dict[str, list[str]] = {}
    for number, (name, stage) in enumerate(stages().items(), 1):
        link = f"[{_title(name)}](ladder/{name}.md)"
        chapter = f"*{link}*" if ": detour: " in link else link
        parts.setdefault(part(name), []).append(f"| {number} | {chapter} | {stage.story.problem} |")
    head = "| | chapter | the problem that it solves |\n| --- | --- | --- |"
    tables = [f"### {title}\n\n{head}\n" + "\n".join(rows) for title, rows in parts.items()]
    return "\n" + "\n\n".join(tables) + "\n\n"


def _title(name: str) -> str:
    chapter = path(name)
    return chapter.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") if chapter.exists() else f"`{name}`"


def _picture(stage: str, scenario_name: str, language: Language = ENGLISH) -> str:
    one = figures.of(stage, scenario_name)
    title = reader.load(scenario_name).title
    title = title if language is ENGLISH else exactly("title", [title]).get(title, title)
    shown = one.folder / pages.STEPS[language] if one.steps else one.shown
    source = UP + shown.relative_to(HOME).as_posix()
    mark = say.words(language)["mark"]
    text = f"{say_run.caption(timeline(one), language)}{mark['gap']}{result(one).judgement.verdict}{mark['end']}"
    name = say.text("run", "title", language, stage=stage, what=title)
    return f"![{name}]({source})\n\n*{text}*\n\n```sh\n.venv/bin/{' '.join(one.command)}\n```\n"


def _figure(stage: str, name: str, replicas: str = "3") -> str:
    return reference.figure(reference.of_stage(stage, int(replicas)), name)


def _servers(stage: str) -> str:
    return counted(lock_servers(reference.of_stage(stage)), "server")


def _cell(scenario_name: str, stage: str) -> str:
    """Return a cell in a word or two. A scenario that fits the stage and is not in the matrix is "not tried yet"."""
    scenario = reader.load(choose_from("scenario", scenario_name, reader.names()))
    if found := cells.of(_stage(stage).name, scenario_name):
        return matrix.in_short(found[0])
    if scenario.misfit(_stage(stage)) is None:
        return "not tried yet"
    raise BadInput(f"the reference matrix has no run of {stage} under {scenario_name}")


def _play(name: str) -> str:
    """Return links to the stage's levels, on which the reader is the scheduler; nothing where it has none."""
    _stage(name)
    links = [f"[{level.goal}]({PAGES}/{level.name}.html)" for level in LEVELS if level.stage == name]
    return f"**Be the scheduler.** You decide the order, in your browser: {' · '.join(links)}\n" if links else ""


PARTS: dict[str, Callable[..., str]] = {
    "problem": _problem,
    "still": _still,
    "diff": _diff,
    "neighbours": _neighbours,
    "contents": _contents,
    "picture": _picture,
    "shown": figures.figure,
    "figure": _figure,
    "servers": _servers,
    "cell": _cell,
    "play": _play,
}
# made of facts in Chinese
IN_CHINESE: dict[str, Callable[..., str]] = {"picture": partial(_picture, language=Language.CHINESE)}

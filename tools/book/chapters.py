"""Write the generated parts of a chapter: the stage's docstring, its diff, pictures and verdicts, and figures for the prose.

Each function takes the words of the part's marker. A part within a sentence has no line end.
"""

from collections.abc import Callable, Iterable
from functools import partial

from app.lock import Claim, Stage
from app.locks import stages
from lab.errors import BadInput, choose_from
from lab.language import NAMES, Language
from lab.paths import HOME
from lab.report import comparison, matrix, reference
from lab.report.matrix import Cell
from lab.scenario import reader
from lab.scenario.stage_diff import changes, code, difference
from lab.story import say, say_run
from lab.story.say import ENGLISH, text
from lab.text import table
from tools.book import figures
from tools.book.figures import result, timeline

FOLDER = HOME / "docs" / "ladder"
# from a chapter
CLAIMS, MATRIX, WORDS = "../scenarios.md#the-claims", "../scenarios.md#the-reference-matrix", "../README.md#how-to-read-a-chapter"
UP = "../../"  # from a chapter to the project's top


def _stage(name: str) -> Stage:
    by_name = stages()
    return by_name[choose_from("stage", name, by_name)]


def id_of_problem(stage: Stage) -> str:
    """Return the id of a stage's problem in the lab's words: of an item of an earlier stage's Still, or of its own problem."""
    problem, before = stage.story.problem, stage
    while before.follows:
        before = stages()[before.follows]
        if problem in before.story.still:
            return f"stage.{before.name}.still_{before.story.still.index(problem) + 1}"
    return f"stage.{stage.name}.problem"


def _problem(name: str, *, language: Language = ENGLISH) -> str:
    stage = _stage(name)
    problem = say.translated(id_of_problem(stage), stage.story.problem, language)
    idea, source = (say.translated(f"stage.{name}.{part}", getattr(stage.story, part), language) for part in ("idea", "source"))
    cited = text("chapter", "source", language, source=source) if source else ""
    return text("chapter", "problem", language, problem=problem, idea=idea) + cited


def _still(name: str, *, language: Language = ENGLISH) -> str:
    story = _stage(name).story
    answers: dict[str, list[str]] = {}
    for follower in stages().values():
        answers.setdefault(id_of_problem(follower), []).append(f"[`{follower.name}`]({follower.name}.md)")
    gap, comma = (say.words(language)["mark"][name] for name in ("gap", "names_comma"))
    left = {f"stage.{name}.still_{number}": line for number, line in enumerate(story.still, 1)}
    solved = {problem: f"{gap}→ {comma.join(stages)}" for problem, stages in answers.items()}
    lines = [f"- {say.translated(problem, line, language)}{solved.get(problem, '')}" for problem, line in left.items()]
    commands = "\n".join(f".venv/bin/{line}" for line in story.see_it)
    return "\n".join([*lines, "", text("chapter", "see_it", language), "", "```sh", commands, "```", ""])


def _diff(name: str, *, language: Language = ENGLISH) -> str:
    stage, say_it = _stage(name), partial(text, "chapter", language=language)
    if stage.follows is None:
        promised = say_it("claims", claims=_names(stage.claims, language))
        return "\n".join(["```python", "".join(code(stage)).strip(), "```", "", promised, ""])
    old = stages()[stage.follows]
    lines, changed_record = difference(old, stage), changes(old, stage)
    link = f"[`{old.name}`]({old.name}.md)"
    changed = [say_it("changes", stage=link), "", "```diff", *lines, "```"] if lines else [say_it("same_lock", stage=link)]
    settings = [f"- `{name}`: {before} → {after}" for name, before, after in changed_record.settings]
    claim_changes = (("gained", changed_record.gained), ("lost", changed_record.lost))
    gained_or_lost = [say_it(kind, page=CLAIMS, claims=_names(claims, language)) for kind, claims in claim_changes if claims]
    return "\n".join([*changed, "", *(gained_or_lost or [say_it("same_claims")]), *settings, ""])


def _names(claims: Iterable[Claim], language: Language) -> str:
    comma = say.words(language)["mark"]["names_comma"]
    claim_names = [f"`{claim.name}`" for claim in Claim if claim in set(claims)]
    return str(comma).join(claim_names) or text("chapter", "no_claim", language)


def _neighbours(name: str, *, language: Language = ENGLISH) -> str:
    order = list(stages())
    place = order.index(choose_from("stage", name, order))
    before = [f"← [`{order[place - 1]}`]({order[place - 1]}.md)"] if place else []
    after = [f"[`{order[place + 1]}`]({order[place + 1]}.md) →"] if place + 1 < len(order) else []
    contents, which = (text("chapter", word, language) for word in ("contents", "which_lock"))
    other_language, up = (ENGLISH, "../../") if language is Language.CHINESE else (Language.CHINESE, "../zh/")
    switch = f"[{NAMES[other_language].button}]({up}ladder/{name}.md)"
    return " · ".join([*before, f"[{contents}](../README.md)", *after, f"[{which}](../which-lock.md)", switch]) + "\n"


def _picture(stage: str, scenario_name: str, *, language: Language = ENGLISH) -> str:
    picture = figures.of(stage, scenario_name)
    title = say.translated(f"scenario.{scenario_name}", reader.load(scenario_name).title, language)
    source = UP + picture.shown(language).relative_to(HOME).as_posix()
    mark = say.words(language)["mark"]
    caption = f"{say_run.caption(timeline(picture), language)}{mark['gap']}{result(picture).judgement.verdict}{mark['end']}"
    name = text("run", "title", language, stage=stage, what=title)
    return f"![{name}]({source})\n\n*{caption}*\n\n```sh\n.venv/bin/{' '.join(picture.command)}\n```\n"


def _figure(stage: str, name: str, replicas: str = "3") -> str:
    """Return a figure of the reference ladder; share: the speed of the stage against one atomic command."""
    if name == "share":
        ratio = comparison.share(reference.of_stage(stage), reference.of_stage(comparison.CEILING))
        return f"{ratio.value:.0%}" if ratio else "–"
    return reference.figure(reference.of_stage(stage, int(replicas)), name)


def _cell(scenario_name: str, stage: str, *, language: Language = ENGLISH) -> str:
    """Return the result of a cell in one or two words. If the scenario fits the stage and has no cell, it is "not tried yet"."""
    scenario = reader.load(choose_from("scenario", scenario_name, reader.names()))
    if cells := reference.measured_cells(_stage(stage).name, scenario_name):
        return matrix.in_short(cells[0], language)
    if scenario.misfit(_stage(stage)) is None:
        return text("cell", "not_tried", language)
    raise BadInput(f"the reference matrix has no run of {stage} under {scenario_name}")


def _proven(name: str) -> dict[str, Cell]:
    """Return the cells of a stage, by scenario, without cells that are VOID: these prove nothing."""
    return {cell.scenario: cell for cell in reference.measured_cells(name) if cell.verdict != "VOID"}


def _outcome(cell: Cell) -> tuple[str, bool]:
    """Return the verdict of a cell, and whether increments were lost by another cause: equal pairs count as equal outcomes."""
    return cell.verdict, matrix.lost_otherwise(cell)


def _verdicts(name: str, *, language: Language = ENGLISH) -> str:
    """Return the scenarios with another outcome than for the stage before, and the scenarios that were not tried with that stage.

    The first stage of the ladder has all its outcomes.
    """
    stage, say_it = _stage(name), partial(text, "chapter", language=language)
    before = [_proven(stage.follows)] if stage.follows else []
    now = _proven(name)
    if not all([now, *before]):
        return say_it("not_tried") + "\n"
    rows = [
        [f"`{at}`", f"`{cell.claim}`", *(matrix.in_short(old[at], language) for old in before), matrix.in_short(cell, language)]
        for at, cell in now.items()
        if all(at in old and _outcome(old[at]) != _outcome(cell) for old in before)
    ]
    form = "first_verdicts" if not before else "verdicts_changed" if rows else "no_verdict_changed"
    lines = [say_it(form, before=f"[`{stage.follows}`]({stage.follows}.md)", all=MATRIX, words=WORDS)]
    if rows:
        head = [say_it("scenario"), say_it("claim"), *(f"`{header}`" for header in (stage.follows, name) if header)]
        lines += ["", table(head, rows).rstrip("\n")]
    outcomes: dict[str, list[str]] = {}
    for at, cell in sorted(now.items(), key=lambda item: item[1].verdict != "KEPT"):
        if any(at not in old for old in before):
            outcomes.setdefault(matrix.in_short(cell, language), []).append(f"`{at}`")
    if outcomes:
        comma, part = (say.words(language)["mark"][name] for name in ("names_comma", "part"))
        groups = [
            text("cell", "seen", language, scenarios=comma.join(names), seen=outcome) for outcome, names in outcomes.items()
        ]
        lines += ["", say_it("tried", stage=name, before=stage.follows, cells=part.join(groups))]
    return "\n".join(lines) + "\n"


PARTS: dict[str, Callable[..., str]] = {
    "problem": _problem,
    "still": _still,
    "diff": _diff,
    "neighbours": _neighbours,
    "picture": _picture,
    "shown": figures.figure,
    "figure": _figure,
    "cell": _cell,
    "verdicts": _verdicts,
}

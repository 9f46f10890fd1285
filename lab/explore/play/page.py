"""Write the pages of levels, and their index. A page is one file with its whole graph, and needs no server."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup

from app.lock import Claim, Stage
from lab.errors import BadInput
from lab.explore.model import NUMBER
from lab.explore.play.board import CodeLine, in_brief, stage_code, with_marks, work_code
from lab.explore.play.encoding import encoded
from lab.explore.play.graph import Graph, searched
from lab.explore.play.levels import Level, LevelKind, levels_to_play
from lab.explore.questions import PAIR
from lab.explore.schedule import in_shell, options_of
from lab.explore.search.event import short
from lab.explore.search.replay import confirm
from lab.explore.search.search import random_schedules
from lab.explore.store.real_redis import RealRedis
from lab.language import Language
from lab.paths import DOCS, HOME
from lab.report.html import in_both
from lab.report.run_page import LEVELS, LevelPage
from lab.scenario.stages import find_stage
from lab.story import say
from lab.story.say import ENGLISH
from lab.story.verdict import promise

TEMPLATES = Path(__file__).with_name("templates")
SEARCH_S, OWN_SEARCH_S = 120.0, 20.0  # seconds of processor time: for a level of the book, and of a user's lock
CHECKED = 20  # random schedules of each level that are run again on an empty server


class Unfinished(BadInput):
    """The search of a level took too long: the machine is slow, or other programs use it."""


@dataclass
class PreparedLevel:
    """A level with its graph, ready to be written."""

    level: Level
    stage: Stage
    # by language: the tables of the page's graph
    data: dict[Language, dict[str, Any]]
    schedules: int
    # the number of states of the search; the page merges states with the same future
    states: int
    # the number of schedules that reach the goal
    breaking: int
    # a shortest schedule that reaches the goal; empty if there is none
    shortest: str
    par: int
    redis: str
    # SAME_MOVES: the schedule to play
    given: str
    code: list[CodeLine]
    work: list[CodeLine]


def prepare(level: Level, real: RealRedis, given: str = "", seen: Collection[Claim] = ()) -> list[PreparedLevel]:
    """Search a level, run its shortest schedule and random ones again on an empty server, and encode its graph.

    A level of a user's lock becomes a level for each claim that breaks there, except the ``seen`` claims. given: the schedule to
    play. Raises Unfinished.
    """
    stage = find_stage(level.stage)
    with searched(stage, level.question, real, SEARCH_S if level.claims else OWN_SEARCH_S) as result:
        if not result.complete:
            raise Unfinished(f"the level {level.name} cannot be played: its search was not complete in time")
        levels = levels_to_play(level, result.broken, seen)
        return [_prepared(each, stage, Graph(result, each.claims), real.version, given) for each in levels]


def _prepared(level: Level, stage: Stage, graph: Graph, redis: str, given: str) -> PreparedLevel:
    until_ms, world, shortest = level.question.horizon_ms, graph.world, graph.shortest()
    for events in [*([shortest] if shortest else []), *random_schedules(world, level.question.budget, until_ms, CHECKED, 1)]:
        confirm(world, events, until_ms)
    in_each = {language: encoded(graph, language) for language in Language}
    waits = in_each[ENGLISH][1]
    sent = {line: {wait.command for wait in waits if wait.work_line == line} for line in {wait.work_line for wait in waits} - {0}}
    return PreparedLevel(
        level=level,
        stage=stage,
        data={language: data for language, (data, _) in in_each.items()},
        schedules=graph.result.schedules,
        states=graph.result.states,
        breaking=graph.breaking(),
        shortest=short(shortest),
        par=len(shortest),
        redis=redis,
        given=given,
        code=with_marks(stage_code(Path(str(stage.path))), {wait.line for wait in waits if wait.line}),
        work=in_brief(work_code(world.program), sent),
    )


def write(levels: Sequence[Level], real: RealRedis, into: Path) -> tuple[Path, list[str]]:
    """Write the page of each level, and the index, in each language.

    Return the path of the index, and the names of levels whose searches took too long. Raises Unfinished if no level is left.
    """
    done, left_out, seen = list[PreparedLevel](), list[str](), set[Claim]()
    for level in levels:
        given = next((prepared.shortest for prepared in done if prepared.level.name == level.moves_of), "")
        if level.moves_of and not given:
            left_out.append(level.name)
            continue
        try:
            new = prepare(level, real, given, seen)
        except Unfinished:
            if level is levels[-1] and not done:
                raise
            left_out.append(level.name)
            continue
        done += new
        seen.update(*(prepared.level.claims for prepared in new if prepared.par))
    into.mkdir(parents=True, exist_ok=True)
    for before, prepared, after in zip([None, *done], done, [*done[1:], None], strict=False):
        _write("play.html", into / f"{prepared.level.name}.html", partial(_level, prepared, before, after, done, into))
    # the stage and the claims of each level: the page of a run leads to its level
    own = [prepared.level for prepared in done if prepared.level.kind is not LevelKind.SAME_MOVES]
    listed = [LevelPage(level.name, level.stage, [claim.name for claim in level.claims]) for level in own]
    (into / LEVELS).write_bytes(msgspec.json.format(msgspec.json.encode(listed), indent=1) + b"\n")
    values = {language: {"title": say.text("scheduler", "be_the_scheduler", language), "levels": done} for language in Language}
    return _write("play_index.html", into / "index.html", values.__getitem__), left_out


def _write(template: str, path: Path, values: Callable[[Language], dict[str, Any]]) -> Path:
    """Write a page in each language, and return the path of the English page."""

    def with_words(language: Language) -> dict[str, Any]:
        texts = _json(say.words(language)["scheduler_script"])
        words = {"says": partial(written, language), "promise": promise, "texts": texts, "ending": ending(language)}
        return words | values(language)

    return in_both(template, path, with_words, Language, TEMPLATES)[0]


def written(language: Language, name: str, /, **places: object) -> Markup:
    """Return a text of the templates or of the scripts as HTML. places: the values of its placeholders, as plain text."""
    texts = say.words(language)["scheduler"] | say.words(language)["scheduler_script"]
    return Markup(texts[name]).format(**places)  # noqa: S704 - the lab's own words


def _json(values: object) -> str:
    """Return values as JSON inside a script: no text in it can end the script."""
    return msgspec.json.encode(values).decode().replace("<", "\\u003c")


def ending(language: Language) -> str:
    """Return the end of an address, after the name of a page, that leads to this language."""
    return f"{'' if language is ENGLISH else f'.{language}'}.html?lang={language}"


def _level(
    prepared: PreparedLevel,
    before: PreparedLevel | None,
    after: PreparedLevel | None,
    others: Sequence[PreparedLevel],
    into: Path,
    language: Language,
) -> dict[str, Any]:
    """Return the values for the page of a level. before, after, others: levels to which it may lead. into: its folder."""
    level, graph = prepared.level, prepared.data[language]
    same = [other for other in others if other.level.moves_of == level.name]
    broken = {name for finding in graph["findings"] for name, _ in finding}  # the claims that some move breaks
    data = {
        "name": level.name,
        "stage": prepared.stage.lookup,
        "kind": level.kind.name,
        "clients": PAIR,
        "number": NUMBER,
        "goal": [claim.name for claim in level.claims],
        "promises": {
            claim.name: [promise(claim.name, language), claim in prepared.stage.claims] for claim in Claim if claim.name in broken
        },
        "options": options_of(level.question),
        "ttl_ms": level.question.task.ttl_ms,
        **{name: getattr(prepared, name) for name in ("schedules", "breaking", "par", "shortest", "given")},
        "lesson": level.lesson(language),
        "budget": level.question.budget._asdict(),
        "next": [[other.level.name, other.stage.name] for other in same],
        "after": after.level.name if after else "",
        "ending": ending(language),
        **graph,
    }
    return {
        "title": say.text("scheduler", "title", language, goal=level.goal(language)),
        "prepared": prepared,
        "level": level,
        "before": before,
        "after": after,
        "claims": [claim for claim in level.claims if claim.name in broken],
        "chapter": _chapter(prepared.stage.name, into, language),
        "options": options_of(level.question),
        "in_shell": in_shell,
        "data": _json(data),
        "expires": any(key.ttl_ms for keys in graph["locks"] for key in keys),
    }


def _chapter(stage: str, into: Path, language: Language) -> str:
    """Return the address of a stage's chapter from a folder of the project; "" from other folders."""
    path = (DOCS if language is ENGLISH else DOCS / "zh") / "ladder" / f"{stage}.md"
    return os.path.relpath(path, into.resolve()) if path.exists() and into.resolve().is_relative_to(HOME) else ""

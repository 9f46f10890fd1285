"""Write the pages of levels: each is one file with its whole graph, and needs no server. An index leads to them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from app.lock import Claim, Stage
from lab.errors import BadInput
from lab.explore.model import NUMBER
from lab.explore.play.board import CodeLine, in_brief, stage_code, with_marks, work_code
from lab.explore.play.encoding import encoded
from lab.explore.play.graph import Graph, searched
from lab.explore.play.levels import Level, LevelKind, asked
from lab.explore.play.texts import TEMPLATES, Said, both, faults, for_scripts, in_one, label, promised, shown, text
from lab.explore.questions import PAIR
from lab.explore.schedule import in_shell, options_of
from lab.explore.search.event import short
from lab.explore.search.replay import confirm
from lab.explore.search.search import random_schedules
from lab.explore.store.real_redis import RealRedis
from lab.paths import DOCS, HOME
from lab.report.html import page
from lab.report.run_page import LEVELS, LevelPage
from lab.scenario.stages import find_stage

SEARCH_S, OWN_SEARCH_S = 120.0, 20.0  # of processor time
CHECKED = 20  # random schedules of each level that are run again on an empty server


class Unfinished(BadInput):
    """The search of a level took too long: the machine is slow, or other programs use it."""


@dataclass
class Made:
    """A level with its graph, ready to be written."""

    level: Level
    stage: Stage
    data: dict[str, Any]
    schedules: int
    # how many states the search found; states that differ in nothing that can follow are one in the page
    states: int
    # how many of them reach the goal
    breaking: int
    # a shortest schedule that reaches the goal; empty if there is none
    shortest: str
    par: int
    redis: str
    # SAME_MOVES: the moves that are given
    given: str
    code: list[CodeLine]
    work: list[CodeLine]


def make(level: Level, real: RealRedis, given: str = "", seen: Collection[Claim] = ()) -> list[Made]:
    """Search a level, run its shortest schedule and random ones again on an empty server, and encode its graph.

    A level of one's own becomes one for each claim that breaks there and was not seen yet.
    """
    stage = find_stage(level.stage)
    with searched(stage, level.question, real, SEARCH_S if level.claims else OWN_SEARCH_S) as found:
        if not found.complete:
            raise Unfinished(f"the level {level.name} cannot be played: its search was not complete in time")
        return [_made(one, stage, Graph(found, one.claims), real.version, given) for one in asked(level, found.broken, seen)]


def _made(level: Level, stage: Stage, graph: Graph, redis: str, given: str) -> Made:
    until_ms, world, shortest = level.question.horizon_ms, graph.world, graph.shortest()
    for events in [*([shortest] if shortest else []), *random_schedules(world, level.question.budget, until_ms, CHECKED, 1)]:
        confirm(world, events, until_ms)
    data, waits = encoded(graph)
    sent = {
        line: {in_one(one.command) for one in waits if one.work_line == line} for line in {one.work_line for one in waits} - {0}
    }
    return Made(
        level=level,
        stage=stage,
        data=data,
        schedules=graph.found.schedules,
        states=graph.found.states,
        breaking=graph.breaking(),
        shortest=short(shortest),
        par=len(shortest),
        redis=redis,
        given=given,
        code=with_marks(stage_code(Path(str(stage.path))), {one.line for one in waits if one.line}),
        work=in_brief(work_code(world.program), sent),
    )


def write(levels: Sequence[Level], real: RealRedis, into: Path, language: str) -> tuple[Path, list[str]]:
    """Write the page of each level, and the index. Return the path of the index, and the levels whose searches took too long.

    language: in which a page is before its reader has chosen one; empty for that of the reader's browser.
    Raises Unfinished where no level is left.
    """
    made, left_out, seen = list[Made](), list[str](), set[Claim]()
    for level in levels:
        given = next((one.shortest for one in made if one.level.name == level.moves_of), "")
        if level.moves_of and not given:
            left_out.append(level.name)
            continue
        try:
            found = make(level, real, given, seen)
        except Unfinished:
            if level is levels[-1] and not made:
                raise
            left_out.append(level.name)
            continue
        made += found
        seen.update(*(one.level.claims for one in found if one.par))
    into.mkdir(parents=True, exist_ok=True)
    for before, one, after in zip([None, *made], made, [*made[1:], None], strict=False):
        (into / f"{one.level.name}.html").write_text(level_page(one, before, after, made, language, into), encoding="utf-8")
    write_list((one.level for one in made), into)
    index = into / "index.html"
    index.write_text(index_page(made, language), encoding="utf-8")
    return index, left_out


def write_list(levels: Iterable[Level], into: Path) -> None:
    """Write which level is about which claims of which stage: the page of a run leads to its level."""
    own = [one for one in levels if one.kind is not LevelKind.SAME_MOVES]
    found = [LevelPage(one.name, one.stage, [claim.name for claim in one.claims]) for one in own]
    (into / LEVELS).write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def index_page(made: Sequence[Made], language: str) -> str:
    """Return the page that leads to the levels. language: as in ``write``."""
    title = text("scheduler", "be_the_scheduler")
    return _page("play_index.html", title, language, made=made)


def _page(template: str, title: Said, language: str, **about: Any) -> str:
    about |= {"both": both, "shown": shown, "label": label, "faults": faults, "promise": promised}
    return page(template, TEMPLATES, title=in_one(title), texts=for_scripts(title), language=language, **about)


def level_page(one: Made, before: Made | None, after: Made | None, others: Sequence[Made], language: str, into: Path) -> str:
    """Return the page of a level. before, after, others: the levels to which it may lead. language: as in ``write``.

    into: the folder of the page, from which it leads to the chapter of its stage.
    """
    same = [other for other in others if other.level.moves_of == one.level.name]
    found = {name for finding in one.data["findings"] for name, _ in finding}  # the claims that some move breaks
    data = {
        "name": one.level.name,
        "stage": one.stage.lookup,
        "kind": one.level.kind.name,
        "clients": PAIR,
        "number": NUMBER,
        "goal": [claim.name for claim in one.level.claims],
        "promises": {claim.name: [promised(claim), claim in one.stage.claims] for claim in Claim if claim.name in found},
        "options": options_of(one.level.question),
        "ttl_ms": one.level.question.task.ttl_ms,
        **{name: getattr(one, name) for name in ("schedules", "breaking", "par", "shortest", "given")},
        "lesson": one.level.lesson,
        "budget": one.level.question.budget._asdict(),
        "next": [[other.level.name, other.stage.name] for other in same],
        "after": after.level.name if after else "",
        **one.data,
    }
    return _page(
        "play.html",
        text("scheduler", "title", goal=one.level.goal),
        language,
        one=one,
        level=one.level,
        before=before,
        after=after,
        claims=[claim for claim in one.level.claims if claim.name in found],
        chapters=_chapters(one.stage.name, into),
        options=options_of(one.level.question),
        in_shell=in_shell,
        data=msgspec.json.encode(data).decode().replace("<", "\\u003c"),
        expires=any(key.ttl_ms for keys in one.data["locks"] for key in keys),
    )


def _chapters(stage: str, into: Path) -> dict[str, str]:
    """Return the addresses of a stage's chapter by language, from a folder of the project; none from elsewhere."""
    found = {"en": DOCS / "ladder" / f"{stage}.md", "zh": DOCS / "zh" / "ladder" / f"{stage}.md"}
    if not into.resolve().is_relative_to(HOME):
        return {}
    return {name: os.path.relpath(path, into.resolve()) for name, path in found.items() if path.exists()}

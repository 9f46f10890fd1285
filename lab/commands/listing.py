"""Print the stages and scenarios that can be run: ``lab list stages``, ``lab list scenarios`` and ``lab diff``."""

from __future__ import annotations

import inspect
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator

from rich.markup import escape
from rich.syntax import Syntax

from app.lock import Claim, Stage
from app.locks import part, stages
from lab.errors import BadInput
from lab.evidence.decided import current, of_claims, why_not
from lab.evidence.run_folder import as_json
from lab.language import of_environment
from lab.paths import COMMAND
from lab.report.run_data import load_in_words
from lab.report.terminal import terminal
from lab.scenario import reader
from lab.scenario.fault import Fault, kind_of
from lab.scenario.requirements import MEASURES
from lab.scenario.scenario import Scenario
from lab.scenario.stage_diff import changes, difference
from lab.scenario.stages import find_stage
from lab.story.say import text, translated
from lab.story.searches import summary
from lab.text import WIDTH, hanging

LABEL = 12  # columns for the name of a part


def print_stages(name: str | None = None, is_json: bool = False) -> None:
    """Print the ladder, a line for each stage; or, with a name, all that is known of that stage. Raises BadInput."""
    if is_json:
        chosen = stages().values() if name is None else [find_stage(name)]
        sys.stdout.write(as_json([_facts(one) for one in chosen]))
        return
    if name is not None:
        _print_stage(find_stage(name))
        return
    shelf, before, language = stages(), "", of_environment(os.environ)
    wide = max(map(len, shelf))
    for stage in shelf.values():
        if before != (before := part(stage.name)):
            _say(f"\n[bold]{escape(text('part', before, language))}[/]")
        title = translated(f"stage.{stage.name}.title", stage.story.title, language)
        _say(f"  [bold]{stage.name:<{wide}}[/]  {escape(in_few_words(title, WIDTH - wide - 4))}")
    _say(f"\n{text('page', 'more_of_stage', language)}{COMMAND} list stages NAME", style="dim")


def _facts(stage: Stage) -> dict[str, object]:
    claims = [claim.name for claim in Claim if claim in stage.claims]
    return {"name": stage.name, "title": stage.story.title, "follows": stage.follows, "store": stage.store, "claims": claims}


def _print_stage(stage: Stage) -> None:
    """Print the parts of a stage's docstring, and its claims."""
    story = stage.story
    follows = stage.follows or "no stage: the ladder begins here"
    _say(f"[bold]{escape(stage.name)}[/]")
    _say(escape(hanging("", story.title, 0)))
    lines = [("Follows", follows), ("Problem", story.problem), ("Idea", story.idea), ("Source", story.source)]
    lines += [("Still wrong" * (number == 0), line) for number, line in enumerate(story.still)]
    claims = [f"{claim.name}: {claim.value}" for claim in Claim if claim in stage.claims] or ["none"]
    lines += [("Claims" * (number == 0), line) for number, line in enumerate(claims)]
    lines += [("See it" * (number == 0), f"{COMMAND} {line.removeprefix('lab ')}") for number, line in enumerate(story.see_it)]
    why = why_not(stage)
    lines += [("All orders", f"not explored: {why}" if why else f"{COMMAND} explore {stage.name}")]
    _print_parts(lines if why else [*lines, *(("", line) for line in _decided(stage))])


def _decided(stage: Stage) -> Iterator[str]:
    """Yield the decision of every order for each claim, if it is kept for the stage's present code; promises come first."""
    found = current(stage)
    if found is None:
        return
    answers = of_claims(found)
    for claim in sorted(answers, key=lambda claim: claim not in stage.claims):
        if claim in stage.claims or answers[claim].broken:
            yield f"{claim.name}{'' if claim in stage.claims else ' (not promised)'} {summary(answers[claim], found.ttl_ms)}"


def _print_parts(lines: Iterable[tuple[str, str]]) -> None:
    for label, said in lines:
        if said:
            _say(escape(hanging(label, said, LABEL)).replace(label, f"[bold]{label}[/]", 1 if label else 0))


def _say(text: str, style: str | None = None) -> None:
    """Print lines that are short enough already."""
    terminal().print(text, style=style, soft_wrap=True)


def in_few_words(text: str, width: int) -> str:
    """Return the beginning of a sentence that fits: to a colon, or to a late comma, otherwise to the end of a word."""
    text = text.rstrip(".")
    if len(text) <= width:
        return text
    ends = {found.start(): found[0] for found in re.finditer(r"[:;,](?=\s)", text[: width + 2])}
    colons = [place for place, sign in ends.items() if sign != "," and place >= width // 4]
    commas = [place for place, sign in ends.items() if sign == "," and place >= width * 3 // 4]
    cut = max(colons or commas, default=0)
    return text[:cut] if cut else textwrap.shorten(text, width, placeholder=" …")


def print_diff(one: str, other: str | None) -> None:
    """Print the change of the new stage: its problem and idea, the diff of the code, and the claims gained and lost."""
    new = find_stage(other or one)
    if other is None and new.follows is None:
        raise BadInput(f"{one} follows no other stage; name two: lab diff {one} OTHER")
    old = find_stage(one if other else str(new.follows))
    console = terminal()
    console.print(
        f"[bold]{escape(old.name)} → {escape(new.name)}[/]\n{escape(new.story.problem)}\n[bold]{escape(new.story.idea)}[/]\n"
    )
    text = "".join(f"{line}\n" for line in difference(old, new)) or f"The lock is the same as in {old.name}.\n"
    if sys.stdout.isatty():
        console.print(Syntax(text, "diff", theme="ansi_dark", word_wrap=True))
    else:
        sys.stdout.write(text)
    console.print()
    found = changes(old, new)
    for title, claims in (("gained", found.gained), ("lost", found.lost)):
        console.print(f"[bold]claims {title}[/]: {', '.join(claim.name for claim in claims) or '(none)'}")
    for name, before, after in found.settings:
        console.print(f"[bold]{name}[/]: {before} → {after}")
    for line in new.story.still:
        console.print(f"Still wrong: {escape(line)}", style="dim")


def print_scenarios(name: str | None = None, is_json: bool = False) -> None:
    """Print a line for each scenario; or, with a name, all that is known of that scenario. Raises BadInput."""
    if is_json:
        loaded = map(reader.load, reader.names() if name is None else [name])
        sys.stdout.write(as_json([{"name": one.name, "title": one.title, "tests": one.tests.name} for one in loaded]))
        return
    if name is not None:
        _print_scenario(reader.load(name), name)
        return
    names = reader.names()
    wide = max(map(len, names))
    for each in names:
        _say(f"[bold]{each:<{wide}}[/]  {escape(reader.load(each).title)}")
    _say(f"\nMore about a scenario: {COMMAND} list scenarios NAME", style="dim")


def _print_scenario(scenario: Scenario, name: str) -> None:
    """Print the actions of a scenario, the claim that it tests, and its danger. name: its name, or the path of its file."""
    _say(f"[bold]{scenario.name}[/]")
    _say(escape(hanging("", scenario.title, 0)))
    lines = [("Tests", f"{scenario.tests.name}: {scenario.tests.value}"), ("Load", load_in_words(vars(scenario)))]
    lines += [("Faults" * (number == 0), _in_words(fault)) for number, fault in enumerate(scenario.faults)]
    lines += [("Stages", ", ".join(stage.name for stage in stages().values() if scenario.misfit(stage) is None))]
    if scenario.danger:
        lines += [("Danger", "A pass counts only if the run reached all of these:")]
        lines += [("", f"{name} ≥ {least} ({MEASURES[name]})") for name, least in scenario.danger.items()]
    _print_parts([*lines, ("See it", f"{COMMAND} run {name} --stage NAME")])


def _in_words(fault: Fault) -> str:
    """Return a fault's kind, its place and its duration, and a sentence on such faults."""
    lasts = f" for {fault.for_ms} ms" if fault.for_ms else ""
    meaning = str(inspect.getdoc(inspect.getmodule(type(fault)))).partition("\n")[0]
    return f"{kind_of(fault)} at {fault.at}{lasts}: {meaning}"

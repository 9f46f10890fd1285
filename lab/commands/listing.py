"""``lab stages``, ``lab diff`` and ``lab scenarios``: print what there is to run."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.markup import escape
from rich.syntax import Syntax

from app.lock import Stage
from app.locks import part, stages
from lab.errors import BadInput
from lab.report.terminal import terminal
from lab.scenario import scenario
from lab.scenario.fault import kind_of
from lab.scenario.scenario import Scenario
from lab.scenario.stage_diff import changes, difference
from lab.scenario.stages import find_stage
from lab.text import WIDTH, counted, hanging, in_few_words

LABEL = 12  # columns for the name of a part


def print_stages(name: str | None = None) -> None:
    """Print the ladder, a line for each stage; or all there is to know about one stage. Raises BadInput."""
    if name is not None:
        _print_stage(find_stage(name))
        return
    shelf = stages()
    wide = max(map(len, shelf))
    title = ""
    for stage in shelf.values():
        if title != (title := part(stage.name)):
            _say(f"\n[bold]{escape(title)}[/]")
        _say(f"  [bold]{stage.name:<{wide}}[/]  {escape(in_few_words(stage.story.title, WIDTH - wide - 4))}")
    _say("\nMore about a stage: lab stages NAME", style="dim")


def _print_stage(stage: Stage) -> None:
    """Print the parts of a stage's docstring, and its promises."""
    story = stage.story
    follows = f"{stage.name} follows {stage.follows}" if stage.follows else f"{stage.name} is where the ladder begins"
    _say(f"[bold]{escape(stage.name)}[/]")
    _say(escape(hanging("", story.title, 0)))
    lines = [("Place", follows), ("Problem", story.problem), ("Idea", story.idea), ("Source", story.source)]
    lines += [("Still" * (number == 0), line) for number, line in enumerate(story.still)]
    lines += [("Claims", ", ".join(sorted(claim.name for claim in stage.claims)) or "none")]
    lines += [("See it" * (number == 0), line) for number, line in enumerate(story.see_it)]
    _print_parts(lines)


def _print_parts(lines: Iterable[tuple[str, str]]) -> None:
    for label, text in lines:
        if text:
            _say(escape(hanging(label, text, LABEL)).replace(label, f"[bold]{label}[/]", 1 if label else 0))


def _say(text: str, style: str | None = None) -> None:
    """Print lines that are short enough already."""
    terminal().print(text, style=style, soft_wrap=True)


def print_diff(one: str, other: str | None) -> None:
    """Print what the new stage changes: its problem and idea, the diff of the code, and the promises gained and lost."""
    new = find_stage(other or one)
    if other is None and new.follows is None:
        raise BadInput(f"{one} follows no other stage; name two: lab diff {one} OTHER")
    old = find_stage(one if other else str(new.follows))
    console = terminal()
    console.print(
        f"[bold]{escape(old.name)} → {escape(new.name)}[/]\n{escape(new.story.problem)}\n[bold]{escape(new.story.idea)}[/]\n"
    )
    text = "".join(f"{line}\n" for line in difference(old, new)) or f"The lock is that of {old.name}.\n"
    if sys.stdout.isatty():
        console.print(Syntax(text, "diff", theme="ansi_dark", word_wrap=True))
    else:
        sys.stdout.write(text)
    console.print()
    found = changes(old, new)
    for title, claims in (("gained", found.gained), ("lost", found.lost)):
        console.print(f"[bold]promises {title}[/]: {', '.join(claim.name for claim in claims) or 'none'}")
    for name, before, after in found.settings:
        console.print(f"[bold]{name}[/]: {before} → {after}")
    for line in new.story.still:
        console.print(f"Still: {escape(line)}", style="dim")


def print_scenarios(name: str | None = None) -> None:
    """Print a line for each scenario; or all there is to know about one scenario. Raises BadInput."""
    if name is not None:
        _print_scenario(scenario.load(name))
        return
    names = scenario.names()
    wide = max(map(len, names))
    for each in names:
        _say(f"[bold]{each:<{wide}}[/]  {escape(in_few_words(scenario.load(each).title, WIDTH - wide - 2))}")
    _say("\nMore about a scenario: lab scenarios NAME", style="dim")


def _print_scenario(one: Scenario) -> None:
    """Print what a scenario does, which claim it tests, and its danger."""
    _say(f"[bold]{one.name}[/]")
    _say(escape(hanging("", one.title, 0)))
    danger = ", ".join(f"{key.replace('_', ' ')} ≥ {least}" for key, least in one.danger.items())
    senders = f"{one.rate:g} arrivals a second" if one.rate else counted(one.users, "user")
    lines = [
        ("Tests", f"{one.tests.name}: {one.tests.value}"),
        ("Load", f"{counted(one.requests, 'request')} from {senders}, {counted(one.replicas, 'replica')}"),
        ("Faults", ", ".join(kind_of(fault).replace("_", " ") for fault in one.faults)),
        ("Stages", ", ".join(stage.name for stage in stages().values() if one.misfit(stage) is None)),
        ("Danger", f"{danger} (a pass counts only if this happened)" if danger else ""),
        ("See it", f"lab run {one.name} --stage NAME"),
    ]
    _print_parts(lines)

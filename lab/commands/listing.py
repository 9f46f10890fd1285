"""``lab stages``, ``lab diff`` and ``lab scenarios``: the shelves on the terminal."""

from __future__ import annotations

import sys

from rich.markup import escape
from rich.syntax import Syntax
from rich.tree import Tree

from app.locks import stages
from lab.errors import BadInput
from lab.report.terminal import terminal
from lab.scenario import scenario
from lab.scenario.stage_diff import changes, difference
from lab.scenario.stages import find_stage
from lab.text import counted


def print_stages() -> None:
    """The ladder as a tree."""
    shelf = stages()
    branches: dict[str | None, Tree] = {
        None: Tree("the ladder: a stage answers a problem that the one above it still has", guide_style="dim")
    }
    for name, stage in shelf.items():
        claims = ", ".join(sorted(claim.name for claim in stage.claims)) or "nothing about safety"
        text = f"[bold]{escape(name)}[/]  [italic]{escape(stage.story.problem)}[/]\n{escape(stage.story.idea)}"
        branches[name] = branches[stage.follows].add(f"{text}\n[dim]claims {escape(claims)}[/]")
    console = terminal()
    console.soft_wrap = False  # a tree's lines are wrapped within their branch, or they are cut
    console.print(branches[None])


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


def print_scenarios() -> None:
    """Each scenario: the story, the claim under stress, the danger."""
    console = terminal()
    for name in scenario.names():
        one = scenario.load(name)
        danger = ", ".join(f"{key.replace('_', ' ')} ≥ {least}" for key, least in one.danger.items())
        console.print(f"[bold]{name}[/]  {escape(one.title)}")
        console.print(f"    tests {one.tests.name}: {escape(one.tests.value)}", style="dim")
        load = ", ".join((counted(one.requests, "request"), counted(one.users, "user"), counted(one.replicas, "replica")))
        console.print(f"    {load}; counts only if {danger}", style="dim")

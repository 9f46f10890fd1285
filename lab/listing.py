"""The shelves on the terminal: the ladder as a tree, the difference between two stages, the scenarios."""

from __future__ import annotations

import difflib
import inspect
import sys
from pathlib import Path

from rich.markup import escape
from rich.syntax import Syntax
from rich.tree import Tree

from app.lock import Claim, Stage
from app.locks import stage as load_stage
from app.locks import stages
from lab import scenario
from lab.check import counted
from lab.choice import BadInput, chosen
from lab.words import terminal


def find_stage(name: str) -> Stage:
    """A stage by name or by the path of a file. Raises BadInput."""
    if not name:
        raise BadInput(
            f"no stage was named: make scenario STAGE=lua, or lab run rush --stage lua; there are {', '.join(stages())}"
        )
    if not name.endswith(".py"):
        chosen("stage", name, stages())
    try:
        return load_stage(name)
    except FileNotFoundError:
        raise BadInput(
            f"there is no file {name!r} to read a stage from; the stages on the shelf: {', '.join(stages())}"
        ) from None
    except (ImportError, SyntaxError) as error:
        raise BadInput(f"{name} holds no stage: {error}") from None
    except KeyError as error:  # most likely a claim that nobody knows
        chosen("claim", str(error.args[0]), [claim.name for claim in Claim], name)
        raise
    except Exception as error:  # somebody's own file: whatever it does, it is not our lock that is broken
        raise BadInput(f"{name} cannot be read: {type(error).__name__}: {error}") from error


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
    """The difference below the docstrings, with the new one's problem and idea above it."""
    new = find_stage(other or one)
    if other is None and new.follows is None:
        raise BadInput(f"{one} follows no other stage; name two: lab diff {one} OTHER")
    old = find_stage(one if other else str(new.follows))
    console = terminal()
    console.print(
        f"[bold]{escape(old.name)} → {escape(new.name)}[/]\n{escape(new.story.problem)}\n[bold]{escape(new.story.idea)}[/]\n"
    )
    text = "".join(f"{line}\n" for line in difference(old, new))
    if sys.stdout.isatty():
        console.print(Syntax(text, "diff", theme="ansi_dark", word_wrap=True))
    else:
        sys.stdout.write(text)
    for line in new.story.still:
        console.print(f"Still: {escape(line)}", style="dim")


def difference(old: Stage, new: Stage) -> list[str]:
    """The lines of a unified diff of two stages, below their docstrings."""
    return [line.rstrip("\n") for line in difflib.unified_diff(code(old), code(new), old.name, new.name, n=2)]


def code(stage: Stage) -> list[str]:
    """A stage's file without its docstring."""
    lines = Path(inspect.getfile(stage.lock)).read_text(encoding="utf-8").splitlines(keepends=True)
    end = next(number for number, line in enumerate(lines) if number and '"""' in line)
    return lines[end + 1 :]


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

"""``lab scorecard``: test each lock of the shelf ``libraries/``, and keep what was found, a file for each.

Each lock is tested by a ``lab test`` of its own, in a process and a folder of its own: two libraries may have modules of the same
name, and their packages may not fit each other.
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace
from rich.console import Console

from lab.errors import BadInput, ExitStatus, NothingShown, in_short
from lab.evidence.record_lines import write_line
from lab.experiments.runs import child_command
from lab.interrupts import Interrupted, interruptible
from lab.libraries import environments, scorecard
from lab.libraries.shelf import LibraryLock, load, names, scenarios_of
from lab.own_lock.page import TestedLock, headline
from lab.paths import COMMAND, HOME, REPORTS, need_clone, shown
from lab.report.terminal import terminal
from lab.text import counted

PUBLISHED = 3  # so many rounds are in the reference
WITHIN_S = 1800  # for one library, on a busy machine
ENDING = 600  # letters of the errors that are quoted
BUDGET_S = 12  # of the explorer: what it decides of a lock in one store, it mostly decides within that


class ToMeasure(NamedTuple):
    """What ``lab scorecard`` was asked for."""

    names: Sequence[str] = ()
    rounds: int = 3
    jobs: int = 2
    scenarios: Sequence[str] = ()
    out: Path | None = None


def measure(asked: ToMeasure) -> int:
    """Measure libraries, write a line for each as it is done, and the page. Return the exit status. Raises BadInput."""
    need_clone("the scorecard of libraries")
    if asked.scenarios and asked.out is None:
        raise BadInput("--scenario: a part of a measurement does not belong in the reference. Give a folder: --out FOLDER")
    if asked.rounds < PUBLISHED and asked.out is None:
        raise BadInput(f"--rounds: a break is published only if {PUBLISHED} runs of {PUBLISHED} show it. For fewer: --out FOLDER")
    locks = [load(name) for name in dict.fromkeys(asked.names or names())]
    folder, console = asked.out or scorecard.FOLDER, terminal()
    folder.mkdir(parents=True, exist_ok=True)
    ready = [lock for lock in locks if not lock.stage.environment or environments.is_made(lock.stage.environment)]
    left_out = [lock.name for lock in locks if lock not in ready]
    _say_missing(console, [lock for lock in locks if lock not in ready])
    runs = sum(len(asked.scenarios or scenarios_of(lock)) for lock in ready) * asked.rounds
    libraries = counted(len(ready), "library", "libraries")
    console.print(f"{libraries}, at most {counted(runs, 'run')}, {asked.jobs} at a time", style="dim")
    with interruptible():
        for number, lock in enumerate(ready, 1):
            try:
                tested = _measured(lock, asked, folder)
            except Interrupted:
                left = " ".join(one.name for one in ready[number - 1 :])
                console.print(f"Interrupted. What is done is kept; {COMMAND} scorecard {left} measures the rest.", soft_wrap=True)
                raise
            except NothingShown as why:
                left_out.append(lock.name)
                console.print(f"{lock.name}: left out: {why}", style="bold red", soft_wrap=True, markup=False)
                continue
            how_far = f" ({number} of {len(ready)}, {tested.took_s:.0f} s)"
            console.print(f"{lock.name}: {headline(tested)}{how_far}", soft_wrap=True, markup=False)
            scorecard.write_page(folder)
    console.print(str(shown(scorecard.write_page(folder).resolve())), style="dim", soft_wrap=True)
    if left_out:
        console.print(f"left out: {', '.join(left_out)}", style="bold red", soft_wrap=True)
    return ExitStatus.CANNOT_RUN if left_out else ExitStatus.GOOD


def _say_missing(console: Console, locks: Sequence[LibraryLock]) -> None:
    """Print a line for each environment that is missing: whom it leaves out, and the command that makes it."""
    for place in dict.fromkeys(lock.stage.environment for lock in locks):
        without = ", ".join(lock.name for lock in locks if lock.stage.environment == place)
        line = f"{place} is not installed, without which {without} cannot be measured. Run: {COMMAND} libraries --install {place}"
        console.print(line, style="bold red", soft_wrap=True)


def _measured(lock: LibraryLock, asked: ToMeasure, folder: Path) -> TestedLock:
    """Test one lock, and keep what was found. Raises NothingShown."""
    began_s = time.monotonic()
    home = (REPORTS / "scorecard" / lock.name).resolve()  # its runs stay there, with a page of their own
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    words = ["test", str(lock.path), "--repeat", str(asked.rounds), "--jobs", str(asked.jobs), "--speed", "--out", "test"]
    words += ["--requests", str(scorecard.REQUESTS), "--budget", str(BUDGET_S), "--no-draw"]
    words += [word for name in asked.scenarios or scenarios_of(lock) for word in ("--scenario", name)]
    try:
        status, _, errors = child_command(words, home, within_s=WITHIN_S)
        text = (home / "test" / "test.json").read_text(encoding="utf-8")
        tested = msgspec.json.decode(text.replace(f"{HOME}/", "").replace(f"{home}/", ""), type=TestedLock)
    except NothingShown as error:
        raise NothingShown(str(error).replace(f"{HOME}/", "")) from None
    except (OSError, msgspec.MsgspecError) as error:
        raise NothingShown(errors.strip()[-ENDING:] or in_short(error)) from None
    if status == ExitStatus.INTERRUPTED:
        raise Interrupted
    if status not in (ExitStatus.GOOD, ExitStatus.BROKEN, ExitStatus.NOTHING_SHOWN) or not tested.claims:
        raise NothingShown(errors.strip()[-ENDING:] or f"lab test ended with status {status}")
    return _kept(lock.name, replace(tested, took_s=time.monotonic() - began_s), asked, folder, home / "test")


def _kept(name: str, tested: TestedLock, asked: ToMeasure, folder: Path, page: Path) -> TestedLock:
    """Write the result of a library, and next to it the pictures of the schedules that break its promises."""
    for old in folder.glob(f"{name}-*.svg"):
        old.unlink()
    for one in tested.claims:
        if one.schedule:
            picture = f"{name}-{one.claim}.svg"
            shutil.copy(page / one.schedule, folder / picture)
            one.schedule = picture
        for cell in one.cells:
            cell.run = ""  # the folders of the runs are not kept
    scenarios = [word for scenario in asked.scenarios for word in ("--scenario", scenario)]
    tested.command = shlex.join(["lab", "scorecard", name, "--rounds", str(asked.rounds), *scenarios])
    tested.took_s = round(tested.took_s, 1)
    write_line(folder / scorecard.RESULTS, name, msgspec.json.encode(tested))
    return tested

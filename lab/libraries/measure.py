"""``lab libraries measure``: test each lock of the shelf ``libraries/``, and keep the results, a file for each.

Each lock is tested by a ``lab test`` of its own, in a process and a folder of its own: two libraries may have modules of the same
name, and their packages may not fit each other.
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from lab.errors import BadInput, ExitStatus, NothingShown
from lab.evidence.record_lines import write_line
from lab.experiments.runs import child_command
from lab.interrupts import Interrupted, interruptible
from lab.libraries import environments, scorecard, shelf
from lab.libraries.shelf import LibraryLock
from lab.own_lock.page import TestedLock, headline
from lab.paths import COMMAND, HOME, REPORTS, need_clone, shown
from lab.report.terminal import terminal

PUBLISHED = 3  # the number of rounds in the reference
WITHIN_S = 1800  # for one library, on a busy machine
ENDING = 600  # letters of the errors that are quoted
BUDGET_S = 12  # the explorer's time: it is enough for most claims of a lock in one store


def measure(names: Sequence[str], rounds: int = 3, jobs: int = 2, scenarios: Sequence[str] = (), out: Path | None = None) -> int:
    """Measure libraries, keep a line for each as it is done, and write the pages. Return the exit status. Raises BadInput."""
    need_clone("the scorecard of libraries")
    if scenarios and out is None:
        raise BadInput("--scenario: a part of a measurement does not belong in the reference. Give a folder: --out FOLDER")
    if rounds < PUBLISHED and out is None:
        raise BadInput(f"--rounds: a break is published only if {PUBLISHED} runs of {PUBLISHED} show it. For fewer: --out FOLDER")
    locks = [shelf.load(name) for name in dict.fromkeys(names or shelf.names())]
    folder, console, left_out = out or scorecard.FOLDER, terminal(), []
    folder.mkdir(parents=True, exist_ok=True)
    with interruptible():
        for number, lock in enumerate(locks, 1):
            chosen = list(scenarios or shelf.scenarios_of(lock))
            try:
                tested = _measured(lock, chosen, rounds, jobs)
            except Interrupted:
                left = " ".join(one.name for one in locks[number - 1 :])
                rest = f"{COMMAND} libraries measure {left}"
                console.print(f"Interrupted. What is done is kept; {rest} measures the rest.", soft_wrap=True)
                raise
            except NothingShown as why:
                left_out.append(lock.name)
                console.print(f"{lock.name}: left out: {why}", style="bold red", soft_wrap=True, markup=False)
                continue
            words = ["lab", "libraries", "measure", lock.name, "--rounds", str(rounds), *_options(scenarios)]
            _kept(lock.name, replace(tested, command=shlex.join(words)), folder)
            how_far = f" ({number} of {len(locks)}, {tested.took_s:.0f} s)"
            console.print(f"{lock.name}: {headline(tested)}{how_far}", soft_wrap=True, markup=False)
    console.print(str(shown(scorecard.write_page(folder).resolve())), style="dim", soft_wrap=True)
    return ExitStatus.CANNOT_RUN if left_out else ExitStatus.GOOD


def _options(scenarios: Sequence[str]) -> list[str]:
    return [word for name in scenarios for word in ("--scenario", name)]


def _measured(lock: LibraryLock, scenarios: Sequence[str], rounds: int, jobs: int) -> TestedLock:
    """Test one lock. Its runs and their pages stay in a folder of its own. Raises NothingShown, Interrupted."""
    if lock.stage.environment and not environments.is_made(lock.stage.environment):
        place = lock.stage.environment
        raise NothingShown(f"{place} is not installed. Run: {COMMAND} libraries install {place}")
    began_s, home = time.monotonic(), (REPORTS / "scorecard" / lock.name).resolve()
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    words = ["test", str(lock.path), "--repeat", str(rounds), "--jobs", str(jobs), "--speed", "--out", "test", "--no-draw"]
    words += ["--requests", str(scorecard.REQUESTS), "--budget", str(BUDGET_S), *_options(scenarios)]
    status, _, errors = child_command(words, home, within_s=WITHIN_S)
    if status == ExitStatus.INTERRUPTED:
        raise Interrupted
    if status not in (ExitStatus.GOOD, ExitStatus.BROKEN, ExitStatus.NOTHING_SHOWN):
        raise NothingShown(errors.strip()[-ENDING:] or f"lab test ended with status {status}")
    text = (home / "test" / "test.json").read_text(encoding="utf-8").replace(f"{HOME}/", "").replace(f"{home}/", "")
    return replace(msgspec.json.decode(text, type=TestedLock), took_s=round(time.monotonic() - began_s, 1))


def _kept(name: str, tested: TestedLock, folder: Path) -> None:
    """Write the result of a library, and next to it the pictures of the schedules that break its promises."""
    for old in folder.glob(f"{name}-*.svg"):
        old.unlink()
    for one in tested.claims:
        if one.schedule:
            picture = f"{name}-{one.claim}.svg"
            shutil.copy(REPORTS / "scorecard" / name / "test" / one.schedule, folder / picture)
            one.schedule = picture
        for cell in one.cells:
            cell.run = ""  # the folders of the runs are not kept
    write_line(folder / scorecard.RESULTS, name, msgspec.json.encode(tested))

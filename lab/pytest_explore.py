"""A fixture for pytest that explores a lock: ``explore``.

    def test_my_lock(explore):
        explore("my_lock.py")

The exploration is a process of its own: it starts its servers and ends them, and what it replaces in Python's library, such as
``time.sleep``, is replaced there and not in the process of the tests.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

HOLDS, BREAKS, OPEN, FAILED = "holds", "breaks", "not decided", "failed"
END_S = 20.0  # for an exploration to end its servers


class Explored(NamedTuple):
    """What an exploration has decided."""

    # by promise: holds, breaks, not_decided or not_looked_at
    promises: Mapping[str, str]
    # what ``lab explore`` prints
    text: str


Explore = Callable[..., Explored]


@pytest.fixture
def explore(request: pytest.FixtureRequest) -> Explore:
    """Return a function that decides every order of events of a lock, and fails the test where a promise breaks."""

    def decided(
        lock: Any,
        *,
        claims: Iterable[Any] | None = None,
        budget_s: float | None = None,
        allow_undecided: bool = False,
        **options: Any,
    ) -> Explored:
        """Explore a lock. Fail the test where a promise breaks, with the picture of a shortest schedule, or is not decided.

        lock: the path of a file with a STAGE, from the folder of the test or from where pytest runs; the name of a stage; or a
        STAGE that the test has imported from its file. claims: in place of the promises of the STAGE. budget_s: seconds for all
        searches. allow_undecided: pass where nothing breaks, and some searches could not be decided; a lock that fails without a
        fault does not pass. options: as those of ``lab explore``: clients, requests, ttl_ms, work_ms, wait_ms, nap_ms, nested,
        pauses, crashes, lost_replies, resends, restarts, failures.
        """
        __tracebackhide__ = True
        about = {
            "lock": _found(lock, request.path.parent),
            "claims": None if claims is None else [getattr(one, "name", one) for one in claims],
            "budget_s": budget_s,
            "options": options,
        }
        kind, promises, text = _in_a_process(about)
        if kind != HOLDS and not (kind == OPEN and allow_undecided):
            pytest.fail(text, pytrace=False)
        return Explored(promises, text)

    return decided


def _found(lock: Any, folder: Path) -> str:
    """Return the name of a stage, or the path of its file."""
    if not isinstance(lock, str | os.PathLike):
        module = sys.modules[lock.lock.__module__]
        return str(lock.lookup or module.__file__)
    name = os.fspath(lock)
    near = folder / name
    return str(near) if name.endswith(".py") and near.is_file() else name


def _in_a_process(about: dict[str, Any]) -> tuple[str, dict[str, str], str]:
    """Explore in a process of its own, and end it whatever happens here."""
    command = [sys.executable, "-m", __name__]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        try:
            out, _ = process.communicate(json.dumps(about).encode())
        except BaseException:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
            process.kill()
            raise
    if not out:
        return FAILED, {}, f"the exploration ended with status {process.returncode}, and has decided nothing"
    kind, promises, text = json.loads(out)
    return kind, promises, text


def main() -> None:
    """Explore what the standard input names, and write what was decided. What the lock prints is not a part of that."""
    from lab.errors import LabError
    from lab.interrupts import raise_on_signals

    raise_on_signals()
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        try:
            answer = _decided(**json.load(sys.stdin))
        except LabError as error:
            answer = FAILED, {}, str(error)
        out.write(json.dumps(answer).encode())


def _decided(
    lock: str, claims: list[str] | None, budget_s: float | None, options: dict[str, Any]
) -> tuple[str, dict[str, str], str]:
    asked, chosen = _asked(options), _claims(claims)  # bad input is named at once, before what takes longer is imported

    from rich.console import Console

    from lab.commands.explore import Wanted, explored, report, within_s
    from lab.commands.shortest import found_shortest
    from lab.explore.decision import Decision, Explorer, Undecided
    from lab.explore.questions import TTL_MS
    from lab.explore.server import servers
    from lab.explore.store.real_redis import RealRedis
    from lab.explore.workers import MOST_WORKERS, decide
    from lab.text import WIDTH

    stage = explored(lock)
    stage = stage if chosen is None else dataclasses.replace(stage, claims=chosen)
    decision = Decision(stage, asked.ttl_ms or TTL_MS, asked.questions(stage))
    with servers(min(MOST_WORKERS, os.cpu_count() or 1)) as running, contextlib.ExitStack() as stack:
        real = stack.enter_context(contextlib.closing(RealRedis(running[0].host, running[0].port)))
        explorer = stack.enter_context(contextlib.closing(Explorer(stage, real)))
        decide(decision, running, within_s(stage, budget_s))
        decision.redis = decision.redis or real.version
        shortest = [one for one in found_shortest(decision, explorer) if one.claim in stage.claims]
        console = Console(file=io.StringIO(), width=WIDTH, no_color=True, highlight=False)
        report(console, decision, shortest, Wanted())
    assert isinstance(console.file, io.StringIO)  # noqa: S101 - made above
    broken = stage.claims & decision.broken().keys()
    fails = any(one.undecided in (Undecided.FAILS, Undecided.NOBODY_SERVED) for one in decision.answers)
    kind = BREAKS if broken else HOLDS if decision.is_whole else FAILED if fails else OPEN
    return kind, {claim.name: status for claim, status in decision.promises().items()}, console.file.getvalue().strip()


def _claims(names: list[str] | None) -> Any:
    """Return the claims of these names. Raises BadInput for one that there is not."""
    from app.lock import Claim
    from lab.errors import choose_from

    return (
        None if names is None else frozenset(Claim[choose_from("claim", one, [claim.name for claim in Claim])] for one in names)
    )


def _asked(options: dict[str, Any]) -> Any:
    """Return the options as those of ``lab explore``. Raises BadInput for one that there is not."""
    from lab.errors import choose_from
    from lab.explore.questions import SearchOptions
    from lab.explore.search.event import Budget

    names = [*(name for name in SearchOptions._fields if name != "budget"), *Budget._fields]
    for name in options:
        choose_from("option", name, names)
    faults = {name: options[name] for name in Budget._fields if name in options}
    others = {name: value for name, value in options.items() if name not in faults}
    return SearchOptions(**others, budget=Budget(**faults) if faults else None)


if __name__ == "__main__":
    main()

"""``lab worker``: run after run in one process, for a matrix.

A run of its own process spends most of its time on imports: of the lab, of the drawing, of what replicas and Locust import. A
worker imports all of it once, and the site of runs is written once, at the end. Requests and answers are lines of JSON:
``{"words", "cwd"}``, the words of a ``lab`` command and its folder → ``{"status", "out", "err"}``.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from lab.errors import ExitStatus


def execute_lines(command: Callable[[list[str]], int]) -> int:
    """Execute command lines until the standard input ends, or until a run was interrupted. Return the last exit status."""
    from lab.pipeline import site_at_the_end
    from lab.servers.supervisor import one_supervisor

    status: int = ExitStatus.GOOD
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers, one_supervisor(), site_at_the_end():
        for line in sys.stdin:
            answer = _execute(command, **json.loads(line))
            print(json.dumps(answer), file=answers, flush=True)
            status = answer["status"]
            if status == ExitStatus.INTERRUPTED:
                break
    return status


def _execute(command: Callable[[list[str]], int], words: list[str], cwd: str) -> dict[str, Any]:
    os.chdir(cwd)
    sys.argv[1:] = words  # the record of a run quotes the command line that makes it again
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _writing_to(out.fileno(), err.fileno()):
            status = command(words)
        texts = {}
        for name, file in (("out", out), ("err", err)):
            file.seek(0)
            texts[name] = file.read().decode(errors="replace")
    return {"status": int(status), **texts}


@contextlib.contextmanager
def _writing_to(out: int, err: int) -> Iterator[None]:
    """While the block runs, let the standard output and the standard error of this process be other files."""
    kept = os.dup(1), os.dup(2)
    os.dup2(out, 1)
    os.dup2(err, 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, file in zip((1, 2), kept, strict=True):
            os.dup2(file, number)
            os.close(file)

"""Find the stage that a command names: by its name, or by the path of its file."""

from __future__ import annotations

import contextlib
import sys
import traceback
from pathlib import Path

from app import locks
from app.lock import Claim, NotInstalled, Stage, claims
from app.locks import NotAStage
from lab.errors import BadInput, MissingPackage, choose_from
from lab.interrupts import Interrupted

SHELF = Path(locks.__file__).parent


def find_stage(name: str) -> Stage:
    """Return a stage by its name or by the path of a file. Raises BadInput, or MissingPackage."""
    if not name:
        raise BadInput(
            "no stage was named; give one, as in `make scenario STAGE=lua` or `lab run rush --stage lua`. "
            "`lab list stages` lists the stages."
        )
    if not name.endswith(".py"):
        if Path(name).is_file():
            raise BadInput(f"{name} is not a file of Python. A lock in another language: lab new NAME --worker LANGUAGE")
        choose_from("stage", name, locks.names())
    try:
        with contextlib.redirect_stdout(sys.stderr):  # stdout of a command may be JSON
            return locks.stage(name)
    except Interrupted:  # the user interrupted, and not the file
        raise
    except FileNotFoundError:
        raise BadInput(
            f"there is no file {name!r}. Give the name of a stage, or the path of its file. `lab list stages` lists the names."
        ) from None
    except NotInstalled as error:
        raise MissingPackage(f"{name}: {error}") from None
    except NotAStage as error:
        raise BadInput(f"{name} is not a stage: {error}") from None
    except BaseException as error:  # any error of a user's own file is bad input, and not a broken lock
        if isinstance(error, KeyError) and any(frame.name == claims.__name__ for frame in _frames(error)):
            choose_from("claim", str(error.args[0]), [claim.name for claim in Claim], name)
        raise BadInput(f"{name} cannot be loaded: {_described(error, Path(name))}") from error


def broken_stage(error: BaseException) -> str:
    """Return a sentence about a file of ``app/locks`` that could not be imported; empty if the error has another cause."""
    files = [frame.filename for frame in _frames(error) if frame.name == "<module>" and Path(frame.filename).parent == SHELF]
    return f"{files[-1]} cannot be loaded: {_described(error, Path(files[-1]))}" if files else ""


def _described(error: BaseException, file: Path) -> str:
    """Return an error as text, with the last line of the file in its traceback."""
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    if isinstance(error, SyntaxError) and error.lineno:
        return f"line {error.lineno}: {error.msg}" if error.filename == str(file.resolve()) else what
    lines = [frame.lineno for frame in _frames(error) if frame.filename == str(file.resolve())]
    return f"line {lines[-1]}: {what}" if lines else what


def _frames(error: BaseException) -> traceback.StackSummary:
    return traceback.extract_tb(error.__traceback__)

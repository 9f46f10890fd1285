"""End a command: every error becomes a sentence and an exit status, even if its output cannot be written any more.

In `lab run … | head -1` no program reads the lines after the first, and a file that takes the output can be on a full disk. A
run must not be lost for that. So output that cannot be written is dropped, and the command's exit status reports it at the end.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Iterator

import click

from app.shelf.plugins import suggestion
from lab.commands.options import typed_as
from lab.errors import BadInput, CannotWrite, ExitStatus, LabError, LabFailed, in_short, of_the_place
from lab.prerequisites import lacking
from lab.text import printable


def status_of(command: click.Command, words: list[str] | None = None) -> int:
    """Run a command line, by default this process's own, and return its exit status.

    Status 1 means a broken promise, and never an error of the lab.
    """
    try:
        return command.main(words, prog_name="lab", standalone_mode=False) or ExitStatus.GOOD
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        click.echo(printable(f"error: {_in_a_line(error)}"), err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as interrupt:
        reason = str(interrupt.__cause__ or interrupt)  # click has an exception of its own
        why = reason if len(reason.split()) > 1 else ""  # not the name of a signal
        click.echo(f"interrupted{': ' if why else ''}{why}", err=True)
        return ExitStatus.INTERRUPTED
    except BaseException as error:  # noqa: BLE001 - all others: an error that is not caught would end Python with status 1
        foreseen = _foreseen(error)
        click.echo(printable(f"error: {foreseen}"), err=True)
        return foreseen.exit_status


def _in_a_line(error: click.ClickException) -> str:
    """Return a refusal of click in one line, like the lab's own errors: the thing, and the choices or a command for them."""
    context = getattr(error, "ctx", None)
    if context is None:
        return error.format_message()
    listed_by = f"{context.command_path} --help"
    match error:
        case click.NoSuchCommand(command_name=name):
            return f"there is no command {name!r}. {suggestion(name, _commands(context), listed_by)}"
        case click.NoSuchOption(option_name=name):
            options = [word for one in context.command.params for word in (*one.opts, *one.secondary_opts) if word[:2] == "--"]
            return f"there is no option {name!r}. {suggestion(name, options, listed_by)}"
        case click.MissingParameter():
            return f"{typed_as(error.param, context)} is missing. `{listed_by}` says what it is."
        case click.BadParameter():
            return f"{typed_as(error.param, context)}: {error.message}"
    return f"{error.format_message()}. `{listed_by}` says what there is."


def _commands(context: click.Context) -> Iterator[str]:
    """Yield the names of a group's commands, and of the commands in each of its groups: ``list``, ``list stages``."""
    group = context.command
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            yield name
            inner = group.get_command(context, name)
            yield from (f"{name} {one}" for one in (inner.list_commands(context) if isinstance(inner, click.Group) else ()))


def _foreseen(error: BaseException) -> LabError:
    """Return an error with a message for the user and its exit status. Print the traceback of an error of the lab itself."""
    from lab.scenario.stages import broken_stage

    if known := error if isinstance(error, LabError) else lacking(error):
        return known
    if reason := broken_stage(error):
        return BadInput(reason)
    if of_the_place(error):
        return CannotWrite(in_short(error))
    traceback.print_exception(error)
    return LabFailed(f"the lab itself failed: {in_short(error)}; this says nothing about a stage")


VERDICTS = (ExitStatus.GOOD, ExitStatus.BROKEN, ExitStatus.NOTHING_SHOWN)


class Output(io.FileIO):
    """A file to which every write succeeds; the first failure is kept."""

    failure: OSError | None = None

    def write(self, data: object) -> int:
        """Write, or drop the data if that is not possible."""
        try:
            return super().write(data)  # type: ignore[arg-type] # bytes, or an object with a buffer
        except OSError as error:
            self.failure = self.failure or error
            return len(memoryview(data))  # type: ignore[arg-type]


def attach() -> Output | None:
    """Replace the standard output and error by such files. Return the output; None if a test has replaced it already.

    A closed standard output or error is replaced by the null device, so that no file of the lab gets its number.
    """
    if os.environ.get("COLUMNS", "").strip("0 ") == "":  # no width: a text would be broken into lines of nothing
        os.environ.pop("COLUMNS", None)
    _attach("stderr")
    return _attach("stdout")


def _attach(name: str) -> Output | None:
    stream = getattr(sys, name)
    if stream is None:
        setattr(sys, name, os.fdopen(_null({"stdout": 1, "stderr": 2}[name]), "w", encoding="utf-8"))
        return None
    if stream is not getattr(sys, f"__{name}__"):
        return None
    stream.flush()
    output = Output(stream.fileno(), "w", closefd=False)
    # a letter that the encoding of the terminal does not have is written as \u2192, rather than not at all
    errors = "backslashreplace" if stream.errors == "strict" else stream.errors
    options = {"encoding": stream.encoding, "errors": errors, "line_buffering": stream.line_buffering}
    setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(output), **options))
    return output


def _null(number: int) -> int:
    """Open the null device under a number."""
    opened = os.open(os.devnull, os.O_WRONLY)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    return number


def final_status(output: Output | None, status: int) -> int:
    """Return the exit status of a command, given the end of its output. Report a failure that is not the reader's end."""
    sys.stdout.flush()
    if output is None or output.failure is None or status not in VERDICTS:
        return status
    if output.failure.errno == errno.EPIPE:
        return ExitStatus.OUTPUT_CLOSED
    sys.stderr.write(f"error: the output could not be written: {in_short(output.failure)}\n")
    return ExitStatus.CANNOT_WRITE

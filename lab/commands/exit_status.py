"""How a command ends: every error becomes a sentence and an exit status."""

from __future__ import annotations

import traceback

import click

from app.suggestion import suggestion
from lab.commands.options import typed_as
from lab.errors import BadInput, CannotWrite, ExitStatus, LabError, LabFailed, in_short, of_the_place


def status_of(command: click.Command, words: list[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return its exit status.

    Status 1 means a broken promise, and never an error of the lab.
    """
    try:
        return command.main(words, standalone_mode=False) or ExitStatus.GOOD
    except click.ClickException as error:
        click.echo(f"error: {_in_a_line(error)}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as interrupt:
        reason = str(interrupt.__cause__ or interrupt)  # click has an exception of its own
        why = reason if len(reason.split()) > 1 else ""  # not the name of a signal
        click.echo(f"interrupted{': ' if why else ''}{why}", err=True)
        return ExitStatus.INTERRUPTED
    except BaseException as error:  # noqa: BLE001 - all others: an error that nobody caught would end Python with status 1
        foreseen = _foreseen(error)
        click.echo(f"error: {foreseen}", err=True)
        return foreseen.exit_status


def _in_a_line(error: click.ClickException) -> str:
    """Return what click refuses in one line, as the lab's own errors are: the thing, and the choices or what lists them."""
    context = getattr(error, "ctx", None)
    if context is None:
        return error.format_message()
    listed_by = f"lab {context.command.name} --help"
    match error:
        case click.NoSuchOption(option_name=name):
            options = [word for one in context.command.params for word in (*one.opts, *one.secondary_opts) if word[:2] == "--"]
            return f"there is no option {name!r}. {suggestion(name, options, listed_by)}"
        case click.MissingParameter():
            return f"{typed_as(error.param, context)} is missing. `{listed_by}` says what it is."
        case click.BadParameter():
            return f"{typed_as(error.param, context)}: {error.message}"
    return f"{error.format_message()}. `{listed_by}` says what there is."


def _foreseen(error: BaseException) -> LabError:
    """Return an error with a message for the user and its exit status. Print the traceback of an error of the lab itself."""
    from lab.scenario.stages import broken_stage

    if isinstance(error, LabError):
        return error
    if reason := broken_stage(error):
        return BadInput(reason)
    if of_the_place(error):
        return CannotWrite(in_short(error))
    traceback.print_exception(error)
    return LabFailed(f"the lab itself failed: {in_short(error)}; this says nothing about a stage")

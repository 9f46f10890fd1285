"""The standard output and the standard error of a command, which may end before the command does.

In `lab run … | head -1` nobody reads what follows the first line, and a file that takes the output can be on a full disk. A
run must not be lost for that. So what cannot be written is dropped, and the command's exit status reports it at the end.
"""

from __future__ import annotations

import errno
import io
import os
import sys

from lab.errors import ExitStatus, in_short

VERDICTS = (ExitStatus.GOOD, ExitStatus.BROKEN, ExitStatus.NOTHING_SHOWN)


class Output(io.FileIO):
    """A file to which every write succeeds; the first failure is kept."""

    failure: OSError | None = None

    def write(self, data: object) -> int:
        """Write, or drop the data if that is not possible."""
        try:
            return super().write(data)  # type: ignore[arg-type] # bytes, or what is like them
        except OSError as error:
            self.failure = self.failure or error
            return len(memoryview(data))  # type: ignore[arg-type]


def attach() -> Output | None:
    """Replace the standard output and error by such files. Return the output; None where a test has replaced it already.

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
    # what the encoding of the terminal does not have is written as \u2192, rather than not at all
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
    """Return the exit status of a command, given what became of its output. Report a failure that is not the reader's end."""
    sys.stdout.flush()
    if output is None or output.failure is None or status not in VERDICTS:
        return status
    if output.failure.errno == errno.EPIPE:
        return ExitStatus.OUTPUT_CLOSED
    sys.stderr.write(f"error: the output could not be written: {in_short(output.failure)}\n")
    return ExitStatus.CANNOT_WRITE

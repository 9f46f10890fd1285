"""Test a command whose output ends before the command does: its exit status reports this."""

import subprocess
from pathlib import Path

import pytest

from lab.errors import ExitStatus
from tests.command import LAB
from tests.every import every


def shell(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line; ``lab`` in it is the lab's command."""
    script = f'lab() {{ "{LAB}" "$@"; }}; {words}'
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.whole
@every(
    "words, status, message",
    [
        ("lab list stages | true; exit ${PIPESTATUS[0]}", ExitStatus.OUTPUT_CLOSED, ""),
        ("lab diff lua >/dev/full", ExitStatus.CANNOT_WRITE, "error: the output could not be written: No space left on device\n"),
        ("lab list stages >&-", ExitStatus.GOOD, ""),
        ("lab run rush --stage lau 2>/dev/full", ExitStatus.BAD_INPUT, ""),
    ],
)
def test_output_that_ends_early(tmp_path, words, status, message):
    """A closed pipe, a full disk and a closed output have a status, and at most one sentence."""
    done = shell(words, tmp_path)

    assert (done.returncode, done.stderr) == (status, message)


@pytest.mark.whole
@every(
    "words, status",
    [
        ("COLUMNS=0 lab list stages lua", ExitStatus.GOOD),
        ("PYTHONIOENCODING=ascii lab diff local lua", ExitStatus.GOOD),
        ("mkdir gone; cd gone; rmdir ../gone; lab check latest", ExitStatus.BAD_INPUT),
    ],
)
def test_odd_places_to_print(tmp_path, words, status):
    """Without a width, arrows in the encoding or a current folder, a command prints something, and no traceback."""
    done = shell(words, tmp_path)

    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert done.stdout.strip() if status == ExitStatus.GOOD else done.stderr.startswith("error: the current folder was deleted")

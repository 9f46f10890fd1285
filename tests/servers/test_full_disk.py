"""If the output or the files of a run can no longer be written, the run is kept as far as it came, and its status tells why."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from lab.errors import ExitStatus
from tests.command import LAB, Done
from tests.pages import rows_of

RUN = f'"{LAB}" run rush --stage lua --users 10 --requests'


def shell(script: str, folder: Path) -> Done:
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    return Done(done.returncode, done.stdout, done.stderr, (folder / "reports" / "runs" / "latest").resolve())


def test_output_that_nobody_reads(tmp_path):
    """A run is completed and published, and is in the site with its page, if the reader of its output ends after one line."""
    done = shell(f"{RUN} 60 | head -1; exit ${{PIPESTATUS[0]}}", tmp_path)

    assert (done.status, done.err) == (ExitStatus.OUTPUT_CLOSED, "")
    assert done.verdict["acknowledged"] == 60
    assert (done.folder / "report.html").exists()
    (row,) = rows_of(tmp_path / "reports" / "index.html")
    assert (row["run"], row["page"], row["final"]) == (done.folder.name, "report.html", 60)


def test_files_that_take_no_more(tmp_path):
    """If journals cannot be written any more, the run ends, is VOID with that reason, and is kept.

    A limit on the size of files stands for a full disk: a test may not fill one.
    """
    done = shell(f"ulimit -f 50; {RUN} 5000 --wait-ms 2000 --no-draw", tmp_path)

    assert done.status == ExitStatus.CANNOT_WRITE, done.err
    assert done.verdict["verdict"] == "VOID"
    assert done.verdict["why"][0]["name"] == "not_written"
    assert "Traceback" not in done.err
    record = json.loads((done.folder / "run.json").read_text(encoding="utf-8"))
    assert ".jsonl" in record["unwritten"]
    assert f"error: a part of the run could not be written: {record['unwritten']}\n" in done.err

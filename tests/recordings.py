"""Recordings: what the runs of the locks on trial left, packed, so that the judge can be tried without a server.

``python -m tests.recordings [NAME ...]`` makes the runs whose name contains one of the words anew, and keeps those that hold what
is expected; without a word, all that are missing. Each recording is the evidence of one run; its ``run.json`` names the commit.
"""

import lzma
import shutil
import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from lab.evidence import run_folder
from lab.evidence.run_record import inventory
from lab.judge.judgement import VERDICT, Judgement
from lab.judge.verdict import judge_again
from lab.servers.supervisor import Supervisor
from tests.locks_on_trial import Trial, trials
from tests.trial import trial, until_settled

RECORDED = Path(__file__).parent / "recorded"
ENDING = ".tar.xz"


def recorded() -> list[Trial]:
    """Return the trials of which a run is kept: all but the longest, in which the sound locks of the trial do nothing unusual."""
    return [one for one in trials() if not one.name.startswith("trial/sound/") or one.scenario != "rush"]


def path_of(one: Trial) -> Path:
    """Return where the recording of a trial is kept."""
    lock, scenario = one.name.split()
    return RECORDED / lock / f"{scenario}{ENDING}"


def pack(folder: Path, path: Path) -> None:
    """Pack the evidence of a run folder, and what binds it together. The same evidence makes the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wb", preset=9) as file, tarfile.open(fileobj=file, mode="w") as tar:
        for name in sorted({*inventory(folder), run_folder.RUN, VERDICT}):
            facts = tarfile.TarInfo(name)
            facts.size = (folder / name).stat().st_size
            with (folder / name).open("rb") as content:
                tar.addfile(facts, content)


def judged(path: Path, into: Path) -> tuple[Judgement, set[str]]:
    """Unpack a recording, and judge it. Return the judgement, and the names of the claims that the stage makes."""
    with tarfile.open(path) as tar:
        for one in tar:  # by hand: Python 3.11.2 has no filter for extractall, and later ones want one
            (into / one.name).parent.mkdir(parents=True, exist_ok=True)
            (into / one.name).write_bytes(tar.extractfile(one).read())  # type: ignore[union-attr] - all members are files
    return judge_again(into)[0], {*run_folder.load(into).stage["claims"]}


def record(one: Trial, supervisor: Supervisor) -> str:
    """Make the runs of a trial until one settles it, and keep that one. Return what is wrong; empty if it was kept."""
    reports = Path(tempfile.mkdtemp())
    try:
        made = until_settled(
            lambda: trial(supervisor, one.scenario, str(one.path), one.options, reports),
            one.is_settled,
            one.most,
            lambda judgement: None,
        )
        one.hold(made.judgement, made.claims)
    except AssertionError as error:
        return f"not as expected: {error}"
    else:
        pack(made.folder, path_of(one))
        return ""
    finally:
        shutil.rmtree(reports, ignore_errors=True)


def main(words: list[str]) -> int:
    """Record what the words name. Return 1 if a run was not as expected: its old recording stays."""
    chosen = [one for one in recorded() if any(word in one.name for word in words) or (not words and not path_of(one).exists())]
    failed = 0
    with closing(Supervisor()) as supervisor:
        for one in chosen:
            wrong = record(one, supervisor)
            failed += bool(wrong)
            sys.stdout.write(f"{one.name}: {wrong or path_of(one).stat().st_size}\n")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Read and record the corpus: locks with known answers, the expected judgement of each, and recorded runs for the judge.

``python -m tests.corpus [--busy] [WORD ...]`` runs the locks whose name contains one of the words, and keeps each run that is
as expected in place of its old recording; without a word, it records all runs that are missing. With ``--busy`` it records the
runs that need a busy machine. ``corpus/README.md`` explains the files.
"""

import io
import lzma
import os
import shutil
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.evidence import run_folder
from lab.evidence.run_record import inventory
from lab.judge.judgement import VERDICT, Judgement, Verdict
from lab.judge.verdict import judge_again
from lab.paths import HOME
from lab.servers.supervisor import Supervisor
from lab.story.verdict import why as reasons
from tests.trial import condemned, is_evidence, trial, until_settled

CORPUS = HOME / "corpus"
SHELVES = ("broken", "sound", "trial/wrong", "trial/sound")
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((CORPUS / "expected.toml").read_text(encoding="utf-8"))
ENDING = ".tar.xz"


class Trial(NamedTuple):
    """One run by which a lock is tried."""

    # such as ``trial/wrong/two_clients``: the lock's file without its ending
    lock: str
    scenario: str
    options: dict[str, int | float]

    @property
    def name(self) -> str:
        """Return the name of the trial, such as ``broken/no_nx rush``."""
        return f"{self.lock} {self.scenario}"

    @property
    def shelf(self) -> str:
        """Return the shelf of the lock."""
        return self.lock.rpartition("/")[0]

    @property
    def path(self) -> Path:
        """Return the lock's file."""
        return CORPUS / f"{self.lock}.py"

    @property
    def verdicts(self) -> list[str]:
        """Return the names of the expected verdicts."""
        verdicts: list[str] = EXPECTED[self.lock].get("verdict", ["KEPT" if self.shelf.endswith("sound") else "BROKEN"])
        return verdicts

    def is_settled(self, judgement: Judgement) -> bool:
        """Return whether no further run is needed. A lock can be wrong only by chance."""
        return (condemned if Verdict.BROKEN.name in self.verdicts else is_evidence)(judgement)

    @property
    def most(self) -> int:
        """Return the largest number of runs."""
        return 3 if Verdict.BROKEN.name in self.verdicts else 2

    def hold(self, judgement: Judgement, claims: set[str]) -> None:
        """Raise an AssertionError if a judgement is not as expected. claims: the names of the stage's claims."""
        expected, found = EXPECTED[self.lock], [one for one in judgement.violations if one.claim in claims]
        assert judgement.verdict.name in self.verdicts, reasons(judgement)
        assert expected.get("reason", "") in reasons(judgement)
        if judgement.verdict is Verdict.BROKEN:
            mechanisms, wanted = {str(one.mechanism) for one in found}, {*expected["mechanism"]}
            assert mechanisms & wanted, mechanisms
            assert "also" not in expected or mechanisms <= {*wanted, *expected["also"]}, mechanisms
            assert {one.claim for one in found} & {*expected["breaks"]}, reasons(judgement)
            assert all(one.evidence or one.seen for one in found)
        else:
            assert found == [], found


def trials() -> list[Trial]:
    """Return each run by which a lock of the corpus is tried."""
    return [Trial(lock, *split(run)) for lock, expected in EXPECTED.items() for run in expected.get("runs", [])]


class Busy(NamedTuple):
    """A run that was recorded while the machine was busy. It must be judged as it was then, and no sound lock is accused."""

    # such as ``stage/lua rush load-20-nice-4``: the lock, the scenario, and the load average of a machine with two processors
    name: str
    run: bytes

    def hold(self, judgement: Judgement, claims: set[str]) -> None:
        """Raise an AssertionError if a judgement is not as expected. claims: the names of the stage's claims."""
        then = msgspec.json.decode(files_of(self.run)[VERDICT])
        is_sound = self.name.startswith(("stage/", "sound/", "trial/sound/"))
        if is_sound and then["verdict"] == Verdict.BROKEN.name:
            is_accused = "accused" in EXPECTED[self.name.split()[0]]
            assert (judgement.verdict is Verdict.BROKEN) == is_accused, reasons(judgement)
            return
        assert judgement.verdict.name == then["verdict"], reasons(judgement)
        found, before = judgement.violations, then["violations"]
        assert {(one.claim, one.mechanism) for one in found} == {(one["claim"], one["mechanism"]) for one in before}


def busy() -> list[Busy]:
    """Return the runs that were recorded while the machine was busy."""
    return [Busy(name.removeprefix("busy/"), run) for name, run in runs("busy").items()]


def split(run: str) -> tuple[str, dict[str, int | float]]:
    """Return the scenario and the options of ``rush --requests 60 --work-ms 3``."""
    scenario, *words = run.split()
    options = zip(words[::2], words[1::2], strict=True)
    return scenario, {name[2:].replace("-", "_"): float(value) if "." in value else int(value) for name, value in options}


def recorded() -> list[Trial]:
    """Return the trials of which a run is kept: all but the longest, in which the sound locks of the trial do nothing unusual."""
    return [one for one in trials() if one.shelf != "trial/sound" or one.scenario != "rush"]


def archive(shelf: str) -> Path:
    """Return the file with the recorded runs of a shelf: a plain tar, so that Git stores little if one of its members changes."""
    return CORPUS / "runs" / f"{shelf.replace('/', '-')}.tar"


def runs(shelf: str) -> dict[str, bytes]:
    """Return the recorded runs of a shelf, packed, by the names of their trials."""
    if not archive(shelf).exists():
        return {}
    return {f"{shelf}/{name.removesuffix(ENDING)}": data for name, data in files_of(archive(shelf).read_bytes()).items()}


def keep(shelf: str, name: str, run: bytes) -> None:
    """Keep a packed run in place of the earlier one of this name. The other runs keep their bytes."""
    members = {one.removeprefix(f"{shelf}/") + ENDING: data for one, data in {**runs(shelf), name: run}.items()}
    new = archive(shelf).with_suffix(".new")
    new.write_bytes(tar_of(members))
    new.replace(archive(shelf))


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """Return a tar of files. The same content makes the same bytes."""
    with io.BytesIO() as into:
        with tarfile.open(fileobj=into, mode="w") as tar:
            for name in sorted(files):
                facts = tarfile.TarInfo(name)
                facts.size = len(files[name])
                tar.addfile(facts, io.BytesIO(files[name]))
        return into.getvalue()


def files_of(archive: bytes) -> dict[str, bytes]:
    """Return the files in a tar."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr] - all members are files


def pack(folder: Path) -> bytes:
    """Return the evidence of a run folder, packed with the files that bind it together."""
    names = {*inventory(folder), run_folder.RUN, VERDICT}
    return lzma.compress(tar_of({name: (folder / name).read_bytes() for name in names}), preset=9)


def unpack(run: bytes, into: Path) -> None:
    """Unpack a recorded run."""
    for name, data in files_of(run).items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        (into / name).write_bytes(data)


def judged(run: bytes, into: Path) -> tuple[Judgement, set[str]]:
    """Unpack a recorded run, and judge it. Return the judgement, and the names of the claims that the stage makes."""
    unpack(run, into)
    return judge_again(into)[0], {*run_folder.load(into).stage["claims"]}


def record(one: Trial, supervisor: Supervisor) -> str:
    """Make the runs of a trial until one settles it, and keep that run. Return the error; empty if the run was kept."""
    reports = Path(tempfile.mkdtemp())
    try:
        made = until_settled(
            lambda: trial(supervisor, one.scenario, str(one.path), one.options, reports),
            one.is_settled,
            one.most,
            lambda judgement: None,
        )
        one.hold(made.judgement, made.claims)
        keep(one.shelf, one.name, pack(made.folder))
    except AssertionError as error:
        return f"not as expected: {error}"
    else:
        return ""
    finally:
        shutil.rmtree(reports, ignore_errors=True)


def record_busy(lock: str, run: str, supervisor: Supervisor) -> str:
    """Make a run while the machine is busy, and keep it. Return its verdict."""
    scenario, options = split(run)
    path = lock.removeprefix("stage/") if lock.startswith("stage/") else str(CORPUS / f"{lock}.py")
    reports = Path(tempfile.mkdtemp())
    try:
        made = trial(supervisor, scenario, path, options, reports)
        keep("busy", f"busy/{lock} {scenario} load-{os.getloadavg()[0]:.0f}-nice-{os.nice(0)}", pack(made.folder))
    finally:
        shutil.rmtree(reports, ignore_errors=True)
    return made.judgement.verdict.name


def main(words: list[str]) -> int:
    """Record the runs that the words name. Return 1 if a run was not as expected: its old recording stays."""
    if words[:1] == ["--busy"]:
        with closing(Supervisor()) as supervisor:
            for lock, run in ((lock, run) for lock, expected in EXPECTED.items() for run in expected.get("busy", [])):
                if any(word in f"{lock} {run}" for word in words[1:]) or not words[1:]:
                    sys.stdout.write(f"{lock} {run}: {record_busy(lock, run, supervisor)}\n")
        return 0
    there = {name for shelf in SHELVES for name in runs(shelf)}
    chosen = [one for one in recorded() if any(word in one.name for word in words) or (not words and one.name not in there)]
    failed = 0
    with closing(Supervisor()) as supervisor:
        for one in chosen:
            wrong = record(one, supervisor)
            failed += bool(wrong)
            sys.stdout.write(f"{one.name}: {wrong or 'kept'}\n")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

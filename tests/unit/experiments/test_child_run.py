"""A worker executes one command line of the lab after another, each as a process of its own would."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from lab.errors import NothingShown
from lab.experiments.child_run import WarmRuns, Worker
from lab.paths import HOME
from tests.command import lab
from tests.kept_runs import folders


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with closing(Worker()) as one:
        yield one


@pytest.fixture
def ended() -> Iterator[Worker]:
    """A worker that the test ends."""
    with closing(Worker()) as one:
        yield one


@pytest.mark.whole
def test_worker_answers_as_the_command_does(worker, tmp_path):
    """A worker answers with the command's exit status, output and errors, line after line."""
    for words in (["stages"], ["run", "rush", "--stage", "lau"]):
        done = lab(*words, cwd=tmp_path)

        assert worker.execute(words, tmp_path) == (done.status, done.out, done.err)


@pytest.mark.whole
def test_end_of_a_stage_file_does_not_end_a_worker(worker, tmp_path):
    """A stage file that raises SystemExit is bad input, and the worker goes on."""
    (tmp_path / "mine.py").write_text("raise SystemExit(0)\n", encoding="utf-8")

    status, out, err = worker.execute(["run", "rush", "--stage", "./mine.py", "--json"], tmp_path)

    assert (status, out) == (2, "")
    assert "mine.py cannot be loaded" in err
    assert worker.execute(["stages"], tmp_path)[0] == 0


def test_killed_worker(ended, tmp_path):
    """A worker that was killed gives no verdict, and the message has the command line."""
    ended._process.kill()

    with pytest.raises(NothingShown, match="lab stages was ended: it took longer than 180 s, or its process was killed"):
        ended.execute(["stages"], tmp_path)


def test_slow_run_is_ended(ended, tmp_path):
    """A run that takes too long is ended with its worker."""
    with pytest.raises(NothingShown, match="took longer"):
        ended.execute(["stages"], tmp_path, within_s=0.01)
    assert ended._process.wait() < 0


@pytest.mark.whole
def test_workers_are_used_again(tmp_path):
    """Each of two threads has a worker of its own; what follows uses them again, until a worker has made enough runs."""
    with closing(WarmRuns()) as warm, ThreadPoolExecutor(2) as two:
        done = list(two.map(lambda _: warm.execute(["stages"], tmp_path), range(4)))
        first = {one._process.pid for one in warm._idle}
        for one in warm._idle:
            one.left = 1
        warm.execute(["stages"], tmp_path)

        assert len(set(done)) == 1
        assert len(first) <= 2
        assert len({one._process.pid for one in warm._idle} & first) == len(first) - 1


@pytest.mark.whole
def test_each_run_has_its_folder(worker, tmp_path):
    """A worker executes each command line in the folder that is given: a stage file is found from there."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text("nothing = 0\n", encoding="utf-8")

    found = [worker.execute(["run", "rush", "--stage", f"./{name}.py"], tmp_path / name)[2] for name in ("one", "two")]

    assert [line.partition(". ")[0] for line in found] == [
        f"error: ./{name}.py is not a stage: no STAGE = Stage(…) in it" for name in ("one", "two")
    ]


TWO_THREADS_DECODE = """
import sys, threading
from lab.experiments.child_run import child_run
from lab.experiments import child_run as module

sys.setswitchinterval(1e-6)
out = open(sys.argv[1], encoding="utf-8").read()
module.child_command = lambda words, cwd: (0, out, "")
both = threading.Barrier(4)
threads = [threading.Thread(target=lambda: (both.wait(), child_run(["rush"]))) for _ in range(4)]
for one in threads: one.start()
for one in threads: one.join()
"""


@pytest.mark.whole
def test_first_verdicts_read_by_threads_at_once(tmp_path):
    """Threads that are the first to read a verdict, all at once, do not end the interpreter."""
    verdict = folders(tmp_path, most=1)[0] / "verdict.json"

    done = [
        subprocess.run([sys.executable, "-c", TWO_THREADS_DECODE, verdict], cwd=HOME, check=False).returncode for _ in range(3)
    ]

    assert done == [0, 0, 0]

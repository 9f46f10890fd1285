"""``lab explore`` as its user sees it: a clear verdict, the same in the exit status, and nothing left behind."""

from __future__ import annotations

import json
import os
import shlex
import signal
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from lab.errors import ExitStatus
from lab.explore.commands.explore import WITHIN_S
from lab.explore.decision import Undecided
from lab.language import Language
from lab.servers.own_redis import PREFIX, sweep
from lab.story import say
from lab.text import WIDTH, letters_of
from tests.command import Started, gone, lab, wait_for, warm
from tests.corpus import CORPUS

ONLY_RAISES = CORPUS / "trial" / "wrong" / "only_raises.py"
MOST_LINES = 56  # most claims need two lines of 80 letters in words
SMALL = ("--pauses", "0")
LOOPS = textwrap.dedent(
    '''\
    """Waits for nothing that anybody knows."""
    from app.locks import lua
    class Lock(lua.Lock):
        def acquire(self):
            while True:
                pass
    STAGE = lua.STAGE.__class__(lock=Lock, store="redis", claims=lua.STAGE.claims)
    '''
)


def verdict_of(done):
    """Return the lines from the verdict on, and the verdict without the name of the stage."""
    name = done.out.partition(":")[0]
    lines = done.out.splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith((f"{name} ", "Nothing is decided about ")))
    return lines[place:], lines[place].removeprefix(f"{name} ")


def command_of(done):
    """Return the words with which ``lab explore`` runs the printed schedule again."""
    return next("--replay " + line.partition(" --replay ")[2] for line in done.out.splitlines() if " --replay " in line)


def test_a_line_for_each_promise(tmp_path):
    """If all promises are kept, the output is short: the verdict, a line for each promise, and the next command."""
    done = lab("explore", "local", "--budget", "90", cwd=tmp_path)

    lines, verdict = verdict_of(done)
    assert done.status == ExitStatus.GOOD
    assert verdict.startswith("keeps 5 promises")
    assert sum(line.startswith("  holds ") for line in lines) == 5
    assert lines[-1].endswith(" --claim exclusive")
    assert len(done.out.splitlines()) <= MOST_LINES


def test_a_broken_promise(tmp_path):
    """A broken promise comes first, then its story, the table, the agreement of real replicas, and the next command. Status 1."""
    done = lab("explore", CORPUS / "broken" / "compares_in_two_steps.py", "--pauses", "1", cwd=tmp_path)

    lines, verdict = verdict_of(done)
    text = "\n".join(lines)
    assert (done.status, verdict) == (ExitStatus.BROKEN, "breaks 1 promise")
    assert done.out.index("  breaks ") < done.out.index("A is paused") < done.out.index(" --replay ") < done.out.index(verdict)
    assert text.index("  breaks ") < text.index("  holds ") < text.index("Real replicas agree") < text.index("bin/lab play ")
    assert " --claim " in lines[-1]
    assert warm("explore", *shlex.split(command_of(done)), cwd=tmp_path).status == ExitStatus.BROKEN


def test_a_schedule_of_several_requests(tmp_path):
    """The printed command runs a schedule of several requests again, and prints the same story."""
    task = ("--at-once", "2", "--wait-ms", "900", *SMALL, "--claim", "exclusive")
    done = warm("explore", "none", *task, "--no-confirm", cwd=tmp_path)

    again = warm("explore", *shlex.split(command_of(done)), cwd=tmp_path)
    assert "One increment is lost" in again.out
    assert again.out.strip() in done.out


def test_in_chinese(tmp_path):
    """In a Chinese environment, the story and the verdict are Chinese, and the verdict's lines fit into 80 columns."""
    words = ("uuid", "--claim", "releases_atomically", "--pauses", "1", "--no-confirm")
    done = lab("explore", *words, cwd=tmp_path, env={"LC_ALL": "zh_CN.UTF-8"})

    assert f"{say.text('lanes', 'counter', Language.CHINESE)}: 0 → 1" in done.out
    assert say.claim("releases_atomically", "breaks", Language.CHINESE) in done.out
    assert max(map(letters_of, done.out.splitlines()[-2:])) <= WIDTH


def test_lock_that_only_raises(tmp_path):
    """For a lock that only raises an error, nothing is decided, and the error is named with its line."""
    done = warm("explore", ONLY_RAISES, cwd=tmp_path)

    assert done.status == ExitStatus.NOTHING_SHOWN
    assert verdict_of(done)[1].startswith("Nothing is decided about only_raises")
    assert "NotImplementedError at only_raises.py:10" in " ".join(done.out.split())
    assert " holds" not in done.out


REFUSED = {
    "breaks_deadlock": "no search tests the claim breaks_deadlock: lab run nested_two_locks",
    "exclusiv": "exclusive",
}


@pytest.mark.parametrize("claim", REFUSED)
def test_claim_that_no_search_looks_at(claim, tmp_path):
    """A claim that no search tests or that does not exist is bad input, and the message names an alternative."""
    done = warm("explore", "uuid", "--claim", claim, cwd=tmp_path)

    assert (done.status, done.out) == (ExitStatus.BAD_INPUT, "")
    assert REFUSED[claim] in done.err


def test_one_claim(tmp_path):
    """``--claim`` decides one claim, also one that the stage does not promise; ``--json`` prints the same decision."""
    done = warm("explore", "uuid", "--claim", "releases_atomically", "--pauses", "1", cwd=tmp_path)
    data = json.loads(warm("explore", "uuid", "--claim", "releases_atomically", "--pauses", "1", "--json", cwd=tmp_path).out)

    assert done.status == ExitStatus.GOOD
    assert verdict_of(done)[1] == "breaks releases_atomically, which it does not promise"
    assert data["promises"] == {"releases_atomically": "breaks"}
    (search,) = data["searches"]
    assert search["faults"] == {"pauses": 1}
    assert search["schedules"] == 1552
    assert search["breaks"]["releases_atomically"]["events"] == 10


@pytest.mark.trial
def test_a_lock_taken_twice(tmp_path):
    """With ``--nested`` each request takes the lock twice: `reentrant` is decided, and its schedule is run again."""
    done = lab("explore", "uuid", "--nested", *SMALL, "--claim", "reentrant", cwd=tmp_path)

    assert done.status in (ExitStatus.GOOD, ExitStatus.NOTHING_SHOWN)  # the other promises were not decided
    assert "is refused its own lock" in lab("explore", *shlex.split(command_of(done)), cwd=tmp_path).out
    again = json.loads(lab("explore", "reentrant", "--nested", *SMALL, "--json", cwd=tmp_path).out)
    assert again["promises"]["reentrant"] == "holds"


def test_a_decision_is_kept(tmp_path):
    """``--out`` writes the decision into a file, as ``--json`` prints it."""
    data = json.loads(warm("explore", "uuid", "--pauses", "1", "--no-confirm", "--out", "kept", "--json", cwd=tmp_path).out)

    assert json.loads((tmp_path / "kept" / "decision.json").read_bytes()) == data


def test_a_lock_that_loops(tmp_path):
    """A lock that loops without end is ended when the budget is used up, and nothing is decided."""
    own = tmp_path / "loops.py"
    own.write_text(LOOPS, encoding="utf-8")
    began_s = time.monotonic()
    done = lab("explore", "loops.py", "--budget", "1", cwd=tmp_path)

    assert time.monotonic() - began_s < WITHIN_S  # the time without a budget: nothing else ends this lock
    assert done.status == ExitStatus.NOTHING_SHOWN
    assert verdict_of(done)[1].startswith("Nothing is decided about loops")


def folders():
    return set(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))


def started(cwd):
    """Start a long exploration, and return it when its folder is there."""
    one = Started(cwd, "explore", "cohort", "--no-confirm", "--budget", "60")
    wait_for(lambda: any(path.name.startswith(f"{PREFIX}{one.process.pid}-") for path in folders()))
    return one


def test_killed_explorations_leave_nothing(tmp_path):
    """An exploration that is killed or asked to end leaves no process, and a sweep removes its folder."""
    some = [started(tmp_path) for _ in range(2)]
    below = [process for one in some for process in one.descendants()]
    for place, one in enumerate(some):
        os.kill(one.process.pid, (signal.SIGTERM, signal.SIGKILL)[place % 2])
    for one in some:
        one.end()
    assert gone(below)
    sweep()

    assert not {path for path in folders() for one in some if path.name.startswith(f"{PREFIX}{one.process.pid}-")}


def test_interrupted(tmp_path):
    """Ctrl-C prints the claims decided by then, and the status is that of an interrupt."""
    one = started(tmp_path)
    wait_for(lambda: len(one.named("explore cohort")) >= 2)  # the searches have begun, each in a process
    os.kill(one.process.pid, signal.SIGINT)
    done = one.end()

    assert done.status == ExitStatus.INTERRUPTED
    assert "Decided: " in done.out
    assert say.text("undecided", Undecided.INTERRUPTED) in done.out
    assert say.text("undecided", Undecided.TIME) not in done.out
    assert "Traceback" not in done.err


LEAVES = textwrap.dedent(
    """\
    'Frees where an object ends, and once more where the process does.'
    import atexit
    import weakref
    from app.locks import lua
    class Handle:
        def __init__(self, release):
            self.release = release
        def __del__(self):
            self.release()
    class Lock(lua.Lock):
        def acquire(self):
            super().acquire()
            self.handle = Handle(super().release)
            atexit.register(self.store.delete, self.key)
            weakref.finalize(self.handle, self.store.delete, self.key + ":note")
        def release(self):
            self.handle = None
    STAGE = lua.STAGE.__class__(lock=Lock, store="redis", claims=lua.STAGE.claims, ttl_ms=3000)
    """
)


def test_ends_of_replicas(tmp_path):
    """Errors that a lock raises when an object or its process ends are not shown."""
    (tmp_path / "leaves.py").write_text(LEAVES, encoding="utf-8")
    done = lab("explore", tmp_path / "leaves.py", "--lost-replies", "1", "--no-confirm", cwd=tmp_path)

    assert "Traceback" not in done.err + done.out

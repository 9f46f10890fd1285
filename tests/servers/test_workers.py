"""The workers' programs: their answers to an error, and an answer that comes late."""

from __future__ import annotations

import queue
import subprocess
import sys

import pytest

from app.foreign.wire.worker import WireWorker, WorkerLane
from lab.paths import WORKERS

NODE = "export const lock = () => ({{ acquire: async () => 1, release: async () => {{ throw {}; }} }});"
PHP = "<?php return fn () => [fn () => 1, function () {{ throw {}; }}];"
GONE = 'new RedisException("read error on connection")'


@pytest.mark.parametrize(
    ("worker", "lock", "error", "answer"),
    [
        ("worker.mjs", NODE, "new Error('not mine')", "lost"),
        ("worker.mjs", NODE, "Object.assign(new Error('x'), { name: 'ClientClosedError' })", "error"),
        ("worker.mjs", NODE, "Object.assign(new Error('x'), { name: 'MaxRetriesPerRequestError' })", "error"),
        ("worker.mjs", NODE, "Object.assign(new Error('x'), { code: 'ETIMEDOUT' })", "error"),
        ("worker.mjs", NODE, "Object.assign(new Error('x'), { code: 'ECONNRESET' })", "error"),
        ("worker.mjs", NODE, "new Error('Connection is closed.')", "error"),
        ("worker.php", PHP, "new RuntimeException('not mine')", "lost"),
        ("worker.php", PHP, f"new RuntimeException('release failed', 0, {GONE})", "error"),
    ],
)
def test_error_at_a_release(worker, lock, error, answer, tmp_path):
    """If the store did not answer, a release is an error and not a lost lock, also if a library wraps the client's error."""
    language = {"mjs": "node", "php": "php"}[worker[-3:]]
    shim = "class_exists('RedisException') or eval('class RedisException extends Exception {}');"  # without the extension
    code = lock.format(error).replace("<?php ", f"<?php {shim} ")
    (file := tmp_path / f"lock.{worker[-3:]}").write_text(code, encoding="utf-8")
    command = [language, str(WORKERS / worker), str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write("lane 0 1\n0 acquire key 1000 0 10\n")
        process.stdin.flush()
        assert process.stdout.readline() == "0 yes\n"

        process.stdin.write("0 release\n")
        process.stdin.flush()

        assert process.stdout.readline().split()[:2] == ["0", answer]
        process.stdin.close()


ANSWERS_WHEN_DROPPED = """
import sys
for line in sys.stdin:
    first, second, *_ = line.split()
    if first == "drop":
        print(second, "lost", flush=True)
    elif first == "1":
        print("1 yes", flush=True)
"""


def test_answer_after_a_drop(tmp_path):
    """A late answer for a lane that was dropped during a call is no error of the worker, and its other lanes go on."""
    worker = WireWorker([sys.executable, "-c", ANSWERS_WHEN_DROPPED], tmp_path)
    slow, other = (WorkerLane(number, [], worker) for number in (0, 1))

    with worker._process as process:
        with pytest.raises(queue.Empty):
            slow.call(0, "release")
        slow.drop()

        assert other.call(10, "acquire", "key", 1000, 0, 10) == ["yes"]
        other.close()
        process.kill()

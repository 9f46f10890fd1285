"""A stage file of the user's own cannot change how the lab ends, nor where the lab prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = '''"""Mine."""
import atexit, os, sys, threading, time
from dataclasses import replace
from app.locks import lua
{line}
STAGE = replace(lua.STAGE, claims=lua.STAGE.claims)
'''
CODE = """
import sys
from lab.output import attach, final_status
from lab.scenario.stages import find_stage
output = attach()
find_stage(sys.argv[1])
print("the verdict")
sys.stderr.write("a note")
sys.exit(final_status(output, 3))
"""
TRICKS = {
    "exit_handler": "atexit.register(lambda: os._exit(0))",
    "noisy_exit_handler": "atexit.register(print, 'bye')",
    "prints": "print('at import')",
    "writes_to_the_output": "os.write(1, b'at import')",
    "closes_the_output": "sys.stdout.close()",
    "closes_the_number": "os.close(1)",
    "closes_all": "os.closerange(0, 3)",
    "takes_the_output": "sys.stdout = sys.stderr = None",
    "empties_the_words": "sys.argv.clear()",
    "goes_elsewhere": "os.chdir('/')",
    "thread_without_end": "threading.Thread(target=time.sleep, args=(600,)).start()",
}


@pytest.mark.parametrize("trick", TRICKS)
def test_lab_ends_as_it_would(tmp_path, trick):
    """The lab prints its verdict and ends at once, with its own status."""
    file = tmp_path / "mine.py"
    file.write_text(TOP.format(line=TRICKS[trick]), encoding="utf-8")
    words = [sys.executable, "-c", CODE, str(file)]
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}

    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=environment)

    assert (done.returncode, done.stdout) == (3, "the verdict\n")
    assert done.stderr.endswith("a note")

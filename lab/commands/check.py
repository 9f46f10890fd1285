"""``lab check``: judge a finished run again, from its folder alone."""

from __future__ import annotations

import sys

from lab.evidence import run_folder
from lab.judge.verdict import Verdict, judge
from lab.report.terminal import summarise, terminal


def check_again(name: str, as_json: bool) -> int:
    """``lab check``: the verdict that the folder gives, now; the exit status is the verdict's."""
    folder = run_folder.find(name)
    judgement, _ = judge(folder)
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(judgement), indent=1).decode() + "\n")
    else:
        summarise(terminal(), judgement, [folder])
    return Verdict[judgement.verdict].exit_status

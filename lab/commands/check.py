"""``lab check``: judge a finished run again, from its folder alone."""

from __future__ import annotations

import sys

from lab.evidence import run_folder
from lab.judge.verdict import judge
from lab.report.terminal import summarise, terminal, where_to_look


def check_again(name: str, as_json: bool) -> int:
    """Judge a run folder again and print the verdict. Return the exit status of the verdict."""
    folder = run_folder.find(name)
    judgement, findings = judge(folder)
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(judgement), indent=1).decode() + "\n")
    else:
        console = terminal()
        summarise(console, judgement, findings)
        where_to_look(console, folder)
    return judgement.exit_status

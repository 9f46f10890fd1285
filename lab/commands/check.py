"""``lab check``: judge a finished run again, from its folder alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.markup import escape

from lab.evidence import run_folder
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge_again
from lab.report.terminal import summarise, terminal, where_to_look


def check_again(name: str, as_json: bool) -> int:
    """Judge a run folder again and print the verdict. Return the exit status of this verdict, whatever ``verdict.json`` has."""
    folder = run_folder.find(name)
    judgement, findings = judge_again(folder)
    if findings.losses_unwritten:
        sys.stderr.write(f"note: nothing was written: {findings.losses_unwritten}\n")
    notices = [*disagreements(folder, judgement)]
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(judgement), indent=1).decode() + "\n")
        sys.stderr.writelines(f"{notice}\n" for notice in notices)
    else:
        console = terminal()
        summarise(console, judgement, findings)
        for notice in notices:
            console.print(f"{escape(notice)}\n", style="yellow")
        where_to_look(console, folder)
    return judgement.exit_status


def disagreements(folder: Path, judgement: Judgement) -> Iterator[str]:
    """Yield how ``verdict.json`` differs from a new judgement, as a sentence."""
    try:
        kept = Judgement.load(folder)
    except msgspec.MsgspecError as error:
        yield f"verdict.json disagrees: {error}. It was changed, or another judge wrote it."
        return
    except OSError as error:
        yield f"verdict.json cannot be read: {error.strerror}."
        return
    pairs = [(name, getattr(kept, name), getattr(judgement, name)) for name in Judgement.__struct_fields__]
    differ = [
        f"{name} {before} (now {now})" if isinstance(before, str | int) else f"another {name}"
        for name, before, now in pairs
        if before != now
    ]
    if differ:
        yield f"verdict.json disagrees: it has {', '.join(differ)}. It was changed, or another judge wrote it."

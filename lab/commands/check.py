"""``lab check``: judge a finished run again, from its folder alone."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
from rich.markup import escape

from lab.evidence import run_folder
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge
from lab.report.terminal import summarise, terminal, where_to_look

COMPARED = (
    "verdict",
    "claim",
    "claimed",
    "requests",
    "acknowledged",
    "failed",
    "unknown",
    "writes",
    "final",
    "lost",
    "duplicated",
)


def check_again(name: str, as_json: bool) -> int:
    """Judge a run folder again and print the verdict. Return the exit status of this verdict, whatever ``verdict.json`` has."""
    folder = run_folder.find(name)
    judgement, findings = judge(folder)
    if findings.losses_unwritten:
        sys.stderr.write(f"note: nothing was written: {findings.losses_unwritten}\n")
    disagreement = disagreement_with(folder, judgement)
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(judgement), indent=1).decode() + "\n")
        if disagreement:
            sys.stderr.write(f"{disagreement}\n")
    else:
        console = terminal()
        summarise(console, judgement, findings)
        if disagreement:
            console.print(f"{escape(disagreement)}\n", style="yellow")
        where_to_look(console, folder)
    return judgement.exit_status


def disagreement_with(folder: Path, judgement: Judgement) -> str:
    """Return how ``verdict.json`` differs from a new judgement, as a sentence; empty if it does not."""
    try:
        kept = Judgement.load(folder)
    except FileNotFoundError:
        return "verdict.json is missing."
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        return f"verdict.json cannot be read: {error}."
    pairs = [(name, getattr(kept, name), getattr(judgement, name)) for name in COMPARED]
    differ = [f"{name} {before} (now {now})" for name, before, now in pairs if before != now]
    return f"verdict.json disagrees: it has {', '.join(differ)}. It was changed, or another judge wrote it." if differ else ""

"""``lab check``: judge a finished run again, from its folder alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.markup import escape

from app.locks import stages
from lab.evidence import run_folder
from lab.evidence.run_record import RunRecord
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge_again
from lab.report.terminal import summarise, terminal, where_to_look
from lab.scenario import reader as scenarios

CHANGED = "It was changed, or is of another version."
FIGURES = (
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
    judgement, findings = judge_again(folder)
    if findings.losses_unwritten:
        sys.stderr.write(f"note: nothing was written: {findings.losses_unwritten}\n")
    notices = [*disagreements(folder, judgement), *differences_from_this_lab(run_folder.load(folder))]
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
    except OSError:
        return  # the reason of the verdict has it
    pairs = [(name, getattr(kept, name), getattr(judgement, name)) for name in Judgement.__struct_fields__]
    differ = [(name, f"{name} {before} (now {now})") for name, before, now in pairs if before != now]
    if shown := [text if name in FIGURES else f"another {name}" for name, text in differ]:
        yield f"verdict.json disagrees: it has {', '.join(shown)}. It was changed, or another judge wrote it."


def differences_from_this_lab(record: RunRecord) -> Iterator[str]:
    """Yield claims in ``run.json`` that differ from today's stage and scenario of the same name."""
    name, tested = record.stage["name"], record.scenario["tests"]
    if name in stages():
        here, there = {claim.name for claim in stages()[name].claims}, {*record.stage["claims"]}
        if here - there:
            yield f"The stage {name} claims {', '.join(sorted(here - there))} in this lab, and not in run.json. {CHANGED}"
        if there - here:
            yield f"The stage {name} claims {', '.join(sorted(there - here))} only in run.json. {CHANGED}"
    if record.scenario["name"] in scenarios.names() and (own := scenarios.load(record.scenario["name"]).tests.name) != tested:
        yield f"The scenario {record.scenario['name']} tests {own} in this lab, and {tested} in run.json. {CHANGED}"

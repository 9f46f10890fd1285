"""Make histories and runs by hand, in milliseconds, as the replicas, the load and the store would have written them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from app.journal import GaveUp, Got, Released, SoldOut, Stalled, Writing, Wrote
from lab.evidence.fault_record import Effect, FaultRecord
from lab.evidence.history import History, KeyEvent, Request
from lab.evidence.loss import GrantFacts, Loss
from lab.evidence.run_folder import save
from lab.evidence.run_record import Ending, RunRecord, inventory
from lab.judge.analysis import analyse
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement
from lab.judge.losses import Account, Losses
from lab.judge.promises import PROMISES
from lab.judge.run_facts import RunFacts
from lab.judge.verdict import judge, weigh
from lab.report.run_data import Result
from lab.report.timeline_reader import LIMIT, Reader
from lab.scenario.faults import faults
from lab.story.timeline import Timeline

MS = 1_000_000
OUTER = "outer_releasing_ns"
WHAT_IT_WROTE = -1  # no value
BEGAN_UTC = "2026-01-01T00:00:00.000+00:00"
STATUS = {"acknowledged": 200, "sold_out": 200, "failed": 503, "unknown": 0}


class Made:
    """Write a history line by line, then have it analysed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "journal").mkdir(parents=True)
        for name in ("requests.jsonl", "server.jsonl"):  # the lab begins both before the first request
            (folder / name).touch()
        self.encode = msgspec.json.Encoder().encode

    def line(self, path: str, record: msgspec.Struct) -> None:
        with (self.folder / path).open("ab") as file:
            file.write(self.encode(record) + b"\n")

    def increment(
        self,
        request: str,
        read: int,
        overwrote: int | None,
        at: tuple[int, int, int, int] | int = 0,
        replica: str = "replica-1",
        key: str = "lock",
        outcome: str | None = "acknowledged",
        turn: int = 1,
        commands: int = 1,
        release_commands: int = 1,
        answer: str = "1",
        command: str = "DEL",
        asked: int | None = None,
        told_no: bool = False,
        answered: int | None = WHAT_IT_WROTE,
        result: str = "ok",
        released: int | None = None,
        **more: Any,
    ) -> Made:
        """Add work that a request does once. at: when it got the lock, read, wrote, and began to release, in ms; a number: each
        step 1 ms after the other. asked: for the lock, by default just before; released: when the answer to the release was
        back. more: other fields of Got, and the time of OUTER. answered: the value in the answer; None: the load recorded none.

        overwrote None: it was about to write, and nothing later is known of it. outcome None: the load has no record of it.
        """
        moments = (at, at + 1, at + 2, at + 3) if isinstance(at, int) else at
        got, reading, wrote, releasing = (moment * MS for moment in moments)
        asked_ns = max(0, got - 1) if asked is None else asked * MS
        journal = f"journal/{replica}.jsonl"
        about = {"request": request, "turn": turn}
        granted = {"key": key, "asked_ns": asked_ns, "got_ns": got, "commands": commands, "told_no": told_no}
        granted |= {name: moment * MS if name.endswith("_ns") else moment for name, moment in more.items() if name != OUTER}
        self.line(journal, Got(**about, **granted))
        self.line(journal, Writing(**about, reading_ns=reading, read_ns=reading + 1, read=read, value=read + 1))
        if overwrote is not None:
            self.line(
                journal, Wrote(**about, writing_ns=max(reading + 1, got) + 1, wrote_ns=wrote, value=read + 1, overwrote=overwrote)
            )
            times = {"releasing_ns": releasing, "released_ns": releasing + MS // 2 if released is None else released * MS}
            times |= {"outer_releasing_ns": more.get(OUTER, 0) * MS}
            self.line(
                journal, Released(**about, **times, result=result, commands=release_commands, answer=answer, command=command)
            )
        if outcome is not None:
            self.answer(request, outcome, replica, got, releasing, read + 1 if answered == WHAT_IT_WROTE else answered)
        return self

    def sold_out(self, request: str, read: int | None, at: tuple[int, int, int], replica: str = "replica-1") -> Made:
        """Add a request that finds all items sold. at: when it got the lock, read, and began to release, in ms.

        read None: reading and writing are one command, which was about to be sent.
        """
        got, reading, releasing = (moment * MS for moment in at)
        journal, about = f"journal/{replica}.jsonl", {"request": request}
        self.line(journal, Got(**about, key="lock", asked_ns=max(0, got - 1), got_ns=got, commands=1))
        if read is None:
            self.line(journal, Writing(**about, reading_ns=reading, read_ns=reading + 1, read=None, value=None))
        self.line(journal, SoldOut(**about, sold_out_ns=releasing))
        times = {"releasing_ns": releasing, "released_ns": releasing + MS // 2}
        self.line(journal, Released(**about, **times, result="ok", commands=1, answer="1", command="DEL"))
        return self.answer(request, "sold_out", replica, got, releasing)

    def answer(
        self, request: str, outcome: str, replica: str = "", start_ns: int = 0, end_ns: int = 1, value: int | None = None
    ) -> Made:
        self.line("requests.jsonl", Request(request, start_ns, start_ns, end_ns, outcome, STATUS[outcome], replica, value))
        return self

    def stalled(self, since_ms: int, until_ms: int, ran_ms: int = 0, queued_ms: int = 0, replica: str = "replica-1") -> Made:
        gap = {"since_ns": since_ms * MS, "until_ns": until_ms * MS, "ran_ns": ran_ms * MS, "queued_ns": queued_ms * MS}
        self.line(f"journal/{replica}.jsonl", Stalled(request="", **gap))
        return self

    def fault(
        self,
        kind: str,
        request: str,
        at_ms: int,
        recovered_ms: int,
        failpoint: str = "read.after",
        replica: str = "replica-1",
        injected_ms: int = 0,
    ) -> Made:
        times = {"at_ns": at_ms * MS, "recovered_ns": recovered_ms * MS, "injected_ns": injected_ms * MS}
        times["recovering_ns"] = times["recovered_ns"]
        effect = faults()[kind].effect if kind in faults() else Effect.OTHER
        about = {
            "replica": replica,
            "pid": 1,
            "request": request,
            "kind": kind,
            "failpoint": failpoint,
            "effect": effect,
        }
        self.line("faults.jsonl", FaultRecord(name=f"{kind}-1", **about, **times))
        return self

    def gave_up(self, request: str, at_ms: int, asked_ms: int = 0, **keys: str) -> Made:
        times = {"asked_ns": asked_ms * MS, "gave_up_ns": at_ms * MS}
        self.line("journal/replica-1.jsonl", GaveUp(request=request, why="not free", commands=9, **times, **keys))
        return self.answer(request, "failed", "replica-1", *times.values())

    def key_event(self, event: str, at_ms: int, key: str = "lock") -> Made:
        self.line("server.jsonl", KeyEvent(at_ms * MS, event, key))
        return self

    def analyse(self, final: int | None, has_store: bool = True, ttl_ms: int = 0, **about: Any) -> Findings:
        """Analyse the history. By default, the work of its scenario takes as long as a lease."""
        return analyse(
            History(self.folder),
            RunFacts(
                has_store=has_store,
                final=None if final is None else {"": final},
                ttl_ms=ttl_ms,
                **{"lease_ms": ttl_ms, "work_ms": ttl_ms} | about,
            ),
        )


def scenario_of(**changes: Any) -> dict[str, Any]:
    """Return a scenario as run.json has it: with two users, three replicas, and the changes."""
    return {
        "name": "made", "title": "Made", "tests": "exclusive", "danger": {}, "seed": 1, "needs": [], "notes": [],
        "requests": 0, "users": 2, "replicas": 3, "rate": None, "retry_ms": 30, "ttl_ms": None,
        "work_ms": changes.get("ttl_ms") or 0,
    } | changes  # fmt: skip


def stage_of(**changes: Any) -> dict[str, Any]:
    """Return a stage as run.json has it: in Redis, without a promise, and with the changes."""
    return {"name": "mine", "title": "A title.", "store": "redis", "claims": [], "ttl_ms": None} | changes


def record_of(
    scenario: dict[str, Any] | None = None, stage: dict[str, Any] | None = None, final: int | None = 0, **changes: Any
) -> RunRecord:
    """Return the record of a run that ended as planned. scenario, stage: the differences from the usual ones."""
    about = {"run": "made", "command": "lab run", "commit": "abc", "started_utc": BEGAN_UTC}
    machine = {"versions": {"redis-server": "7"}, "machine": {"cores": 2, "processor": "one"}}
    held = {"scenario": scenario_of(**(scenario or {})), "stage": stage_of(**(stage or {})), "final": final}
    return RunRecord(**about | machine | held | changes)


def picture_of(
    made: Made,
    final: int,
    ttl_ms: int | None = None,
    tests: str = "exclusive",
    store: str | None = "redis",
    limit: int = LIMIT,
) -> Timeline:
    """Save the folder's run record, judge the run, and read its timeline."""
    scenario, stage = {"tests": tests, "ttl_ms": ttl_ms}, {"store": store, "ttl_ms": ttl_ms}
    save(made.folder / "run.json", record_of(scenario, stage, final, files=inventory(made.folder)))
    judgement, findings = judge(made.folder)
    save(made.folder / "verdict.json", judgement)
    return Reader(made.folder, judgement, findings, has_store=store is not None, limit=limit).picture


def outlived(made: Made) -> Made:
    """Add two requests: r0's lease of 300 ms ends while it works; r1 gets the lock, and overwrites the number of r0."""
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 330).key_event("set", 331).key_event(
        "expire", 331
    ).key_event("del", 470)
    made.increment("r0", 0, 0, at=(10, 11, 460, 461), replica="replica-1")
    return made.increment("r1", 0, 1, at=(331, 332, 770, 771), replica="replica-2", answer="0")


def made_run(folder: Path, stage: str = "mine") -> Path:
    """Write a finished run of three requests, of which one was lost."""
    made = Made(folder)
    made.increment("a", 0, 0, at=(0, 1, 6, 7), answered=1)
    made.increment("b", 0, 1, at=(1, 2, 8, 9), replica="replica-2", answered=1)
    made.increment("c", 1, 1, at=(20, 21, 22, 23), replica="replica-3", answered=2)
    rush = {"name": "rush", "title": "A small rush", "requests": 3, "danger": {"handovers": 0}, "notes": ["made by hand"]}
    mine = {"name": stage, "title": "A <title>.", "claims": []}
    commands = {"lock": {"set": 9}, "counter": {}}
    save(folder / "run.json", record_of(rush, mine, final=2, run=folder.name, commands=commands, files=inventory(folder)))
    save(folder / "verdict.json", judge(folder)[0])
    return folder


def violations(findings: Findings) -> list[tuple[str, str]]:
    """Return each violation as its claim and its mechanism."""
    return [(one.claim, one.mechanism) for promise in PROMISES.values() for one in promise.violations(findings)]


EXAMPLE = [Loss(1, "", GrantFacts("r1", "replica-1", 0, 1, 1, 0, 0, 0), None)]


def record_of_ten(claims: list[str] | None = None, ended: str = "complete", requests: int = 10, **changes: Any) -> RunRecord:
    """Return the record of a run of ten requests under a danger of five handovers."""
    danger = {"danger": {"handovers": 5}, "requests": requests}
    return record_of(danger, {"claims": claims or []}, **{"final": requests, "ended": Ending(ended)} | changes)


def findings_of_ten(lost: dict[str, int] | None = None, handovers: int = 5, requests: int = 10, **changes: Any) -> Findings:
    """Return the findings of a run of ten requests. lost: the number of lost increments by mechanism."""
    total = sum((lost or {}).values())
    found = Findings(account=Account(requests, total, total, 0))
    found.outcomes["acknowledged"] = requests
    found.measures["handovers"] = handovers
    found.losses = {
        mechanism: Losses(destroyed=number, number=1, examples=list(EXAMPLE)) for mechanism, number in (lost or {}).items()
    }
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def judgement_of(**figures: Any) -> Judgement:
    """Return the judgement on a run of ten requests that lost nothing. figures: the differences."""
    return msgspec.structs.replace(weigh(record_of_ten(), findings_of_ten()), **figures)


def result_of(folder: Path, **figures: Any) -> Result:
    """Return the result of this run for a picture, without curves."""
    return Result(record=record_of_ten(), judgement=judgement_of(**figures), folder=folder)

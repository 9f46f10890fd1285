"""Histories made by hand, in milliseconds, as the replicas, the load and the store would have written them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from app.journal import GaveUp, Got, Released, Writing, Wrote
from lab.evidence.fault_record import FaultRecord
from lab.evidence.history import History, KeyEvent, Request
from lab.judge.analysis import examine
from lab.judge.findings import Circumstances, Findings

MS = 1_000_000
STATUS = {"acknowledged": 200, "failed": 503, "unknown": 0}


class Made:
    """Write a history line by line, then have it examined."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "journal").mkdir(parents=True)
        self.encode = msgspec.json.Encoder().encode

    def line(self, path: str, record: msgspec.Struct) -> None:
        with (self.folder / path).open("ab") as file:
            file.write(self.encode(record) + b"\n")

    def increment(
        self,
        request: str,
        read: int,
        overwrote: int | None,
        at: tuple[int, int, int, int] = (0, 1, 2, 3),
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
    ) -> Made:
        """One doing of the work. at: when it got the lock, read, wrote, and began to release, in ms; asked: for the lock, by
        default just before.

        overwrote None: it meant to write and was never heard of again. outcome None: the load knows nothing of it.
        """
        got, reading, wrote, releasing = (moment * MS for moment in at)
        asked_ns = max(0, got - 1) if asked is None else asked * MS
        journal = f"journal/{replica}.jsonl"
        about = {"request": request, "turn": turn}
        granted = {"key": key, "asked_ns": asked_ns, "got_ns": got, "commands": commands, "told_no": told_no}
        self.line(journal, Got(**about, **granted))
        self.line(journal, Writing(**about, reading_ns=reading, read_ns=reading + 1, read=read, value=read + 1))
        if overwrote is not None:
            self.line(journal, Wrote(**about, wrote_ns=wrote, value=read + 1, overwrote=overwrote))
            times = {"releasing_ns": releasing, "released_ns": releasing + MS // 2}
            self.line(journal, Released(**about, **times, result="ok", commands=release_commands, answer=answer, command=command))
        if outcome is not None:
            self.answer(request, outcome, replica, got, releasing)
        return self

    def answer(self, request: str, outcome: str, replica: str = "", start_ns: int = 0, end_ns: int = 1) -> Made:
        self.line("requests.jsonl", Request(request, start_ns, start_ns, end_ns, outcome, STATUS[outcome], replica))
        return self

    def fault(
        self, kind: str, request: str, at_ms: int, recovered_ms: int, failpoint: str = "read.after", replica: str = "replica-1"
    ) -> Made:
        times = {"at_ns": at_ms * MS, "recovered_ns": recovered_ms * MS}
        about = {"replica": replica, "pid": 1, "request": request, "kind": kind, "failpoint": failpoint}
        self.line("faults.jsonl", FaultRecord(name=f"{kind}-1", **about, **times))
        return self

    def gave_up(self, request: str, at_ms: int, **keys: str) -> Made:
        times = {"asked_ns": 0, "gave_up_ns": at_ms * MS}
        self.line("journal/replica-1.jsonl", GaveUp(request=request, why="not free", commands=9, **times, **keys))
        return self.answer(request, "failed")

    def told(self, event: str, at_ms: int, key: str = "lock") -> Made:
        self.line("server.jsonl", KeyEvent(at_ms * MS, event, key))
        return self

    def examine(self, final: int | None, has_store: bool = True, ttl_ms: int = 0, **about: Any) -> Findings:
        return examine(
            History(self.folder),
            Circumstances(has_store=has_store, final=None if final is None else {"": final}, ttl_ms=ttl_ms, **about),
        )

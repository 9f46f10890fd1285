"""A schedule in words: each event with its command, the reply, and the stage's own line."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lab.explore.code.operation import LOST, Command
from lab.explore.code.program import Program
from lab.explore.search.event import (
    CHOICE,
    CLOCK,
    CRASH,
    FAILURE,
    LOST_COMMAND,
    LOST_REPLY,
    PAUSE,
    RESEND,
    RESTART,
    RESUME,
    Event,
    letter_of,
)
from lab.explore.search.state import Move
from lab.explore.store import transaction
from lab.explore.store.resp import Failure, Reply
from lab.explore.story.tokens import readable
from lab.explore.story.words import of_finding

SCRIPTS = (b"EVALSHA", b"EVAL")
NO_REPLY = (b"SUBSCRIBE", b"UNSUBSCRIBE", b"PSUBSCRIBE", b"PUNSUBSCRIBE")  # it is a message
DONE_TO = {PAUSE: "is paused", RESUME: "is resumed", CRASH: "is killed"}
REMARKS = {
    FAILURE: "the work fails",
    LOST_REPLY: "the reply is lost",
    LOST_COMMAND: "the command is lost",
    RESEND: "it is sent twice",
}
AT_ALL = {
    LOST_REPLY: "sends a command to all servers: all replies will be lost",
    LOST_COMMAND: "sends a command to all servers: it is lost at all of them",
    RESEND: "sends a command to all servers: it will be sent twice",
}


class Line(NamedTuple):
    """One event of a story."""

    # the letter of the replica; empty for the clock and the store
    who: str
    # the command, or what happens
    what: str
    # what the store answered; empty where nothing was sent
    reply: str
    # the file and line that sent the command; empty without one
    place: str
    # the text of that line
    source: str
    # what the event breaks; empty for most
    breaks: str


def lines(program: Program, moves: Sequence[Move]) -> list[Line]:
    """Return a schedule in words."""
    return [_line(program, move) for move in moves]


def _line(program: Program, move: Move) -> Line:
    event, command = move.event, move.command
    breaks = "; ".join(dict.fromkeys(map(of_finding, move.found)))
    who = letter_of(event.client) if event.client >= 0 else ""
    if event.kind in DONE_TO:
        return Line(who, DONE_TO[event.kind], "", "", "", breaks)
    if event.kind is CLOCK:
        return Line("", f"time passes: the clock reads {event.number} ms", "", "", "", breaks)
    if event.kind is RESTART:
        what = f"server {event.node} restarts" if event.node else "the store restarts"
        return Line("", f"{what} without its data", "", "", "", breaks)
    if event.kind is CHOICE:
        return Line(who, f"draws the random number {event.number}", "", "", "", breaks)
    return _of_command(program, event, who, command, move.reply, breaks)


def _of_command(program: Program, event: Event, who: str, command: Command | None, reply: Any, breaks: str) -> Line:
    kind = LOST_REPLY if event.kind is RESEND and reply is LOST else event.kind  # a client that sends nothing again
    remark = f" ({REMARKS[kind]})" if kind in REMARKS else ""
    if not event.own:
        remark += " (in another thread)"
    if command is None and event.kind in AT_ALL:
        return Line(who, AT_ALL[event.kind], "", "", "", breaks)
    if command is None:
        return Line(who, f"receives a message{remark}" if reply is not None else f"its sleep ends{remark}", "", "", "", breaks)
    source = source_of(command.file, command.line)
    at_server = f"server {command.node}: " if command.node else ""
    what = at_server + in_words(program, command) + remark
    return Line(
        who,
        what,
        reply_in_words(program, reply) if command.words[0] not in NO_REPLY else "",
        f"{Path(command.file).name}:{command.line}" if command.line else "",
        source,
        breaks,
    )


@cache
def _source(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def source_of(path: str, number: int) -> str:
    """Return one line of a stage; empty for line 0."""
    return _source(path)[number - 1].strip() if number else ""


def in_words(program: Program, command: Command) -> str:
    """Return a command as a person writes it: a script by its name in the stage, a token by its replica."""
    if transaction.is_one(command.words):
        parts = [in_words(program, command._replace(words=words)) for words in transaction.commands_of(command.words)]
        return "; ".join(["MULTI", *parts, "EXEC"])
    words = [readable(program, word) for word in command.words]
    if command.words[0] in SCRIPTS:
        name = script_names(program).get(_hash(command.words), "a script")
        return f"{name}({', '.join(words[3:])})"
    return " ".join(words)


def script_names(program: Program) -> dict[str, str]:
    """Return the names of the scripts of the stage and of its resource, by their hash."""
    found: dict[str, str] = {}
    for module in program.modules():
        for name, value in vars(module).items():
            if isinstance(value, str) and "redis.call" in value:
                found[_sha1(value.encode())] = name
    return found


def _hash(words: Sequence[bytes]) -> str:
    """Return the name that Redis has for the script of a command: EVAL sends the script itself."""
    return _sha1(words[1]) if words[0] == b"EVAL" else words[1].decode(errors="replace")


def _sha1(script: bytes) -> str:
    return hashlib.sha1(script).hexdigest()  # noqa: S324 - Redis names scripts by SHA-1


def reply_in_words(program: Program, reply: Any) -> str:
    """Return what the store answered."""
    match reply:
        case Reply(_, value):
            return reply_in_words(program, value)
        case None:
            return "nil"
        case Failure(message):
            return f"an error: {message}"
        case tuple():
            return f"[{', '.join(reply_in_words(program, one) for one in reply)}]"
        case bytes():
            return readable(program, reply)
        case _:
            return "no reply" if reply is LOST else str(reply)

"""A command and its reply as a person writes them: a script by its name in the stage, a token by its replica."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lab.explore.code.operation import LOST, CommandSent
from lab.explore.code.program import Program
from lab.explore.search.tokens import Namer, name_of, readable
from lab.explore.store import transaction
from lab.explore.store.resp import Failure, Reply

SCRIPTS = (b"EVALSHA", b"EVAL")
NO_REPLY = (b"SUBSCRIBE", b"UNSUBSCRIBE", b"PSUBSCRIBE", b"PUNSUBSCRIBE")  # it is a message


@cache
def _source(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def source_of(path: str, number: int) -> str:
    """Return one line of a stage; empty for line 0."""
    return _source(path)[number - 1].strip() if number else ""


def in_words(program: Program, command: CommandSent, token: Namer = name_of) -> str:
    """Return a command as a person writes it. token: names a token; English without it."""
    if transaction.is_one(command.words):
        parts = [in_words(program, command._replace(words=words), token) for words in transaction.commands_of(command.words)]
        return "; ".join(["MULTI", *parts, "EXEC"])
    words = [readable(program, word, token) for word in command.words]
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


def reply_in_words(program: Program, reply: Any, token: Namer = name_of) -> str:
    """Return what the store answered. token: as for a command."""
    match reply:
        case Reply(_, value):
            return reply_in_words(program, value, token)
        case None:
            return "nil"
        case Failure(message):
            return f"an error: {message}"
        case tuple():
            return f"[{', '.join(reply_in_words(program, one, token) for one in reply)}]"
        case bytes():
            return readable(program, reply, token)
        case _:
            return "no reply" if reply is LOST else str(reply)

"""Write a command and its reply for people: a script by its name, and a token by its replica, as in “A’s second token”."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from linecache import getline
from typing import Any

from lab.explore.code.operation import LOST, CommandSent
from lab.explore.code.program import Program
from lab.explore.search.event import letter_of
from lab.explore.store.commands import SHA, TEXT, TRANSACTION, commands_of, sha1
from lab.explore.store.resp import Failure, Reply
from lab.story import say

# returns the name of a token from the letter of its replica and its number, counted from 1
Namer = Callable[[str, int], str]


def readable(program: Program, word: bytes, token: Namer = say.token) -> str:
    """Return a word of a command or a reply in which each token is replaced by its name."""
    text = word.decode(errors="replace")
    for drawn, (replica, number) in program.drawing.known_tokens.items():
        form = next((form for form in _forms(drawn) if form in text), "")
        text = text.replace(form, token(letter_of(replica), number)) if form else text
    return text


@lru_cache(maxsize=1000)
def _forms(token: bytes) -> tuple[str, ...]:
    """Return the forms in which code may write a token: in hexadecimal, as a number, and as a UUID if it has 16 bytes."""
    hexed = token.hex()
    forms = [hexed, hexed.upper(), str(int.from_bytes(token, "big"))]
    if len(token) == 16:
        dashed = f"{hexed[:8]}-{hexed[8:12]}-{hexed[12:16]}-{hexed[16:20]}-{hexed[20:]}"
        versioned = f"{hexed[:12]}4{hexed[13:16]}{'89ab'[int(hexed[16], 16) & 3]}{hexed[17:]}"
        forms += [dashed, versioned, f"{versioned[:8]}-{versioned[8:12]}-{versioned[12:16]}-{versioned[16:20]}-{versioned[20:]}"]
    return tuple(forms)


def source_of(path: str, number: int) -> str:
    """Return the text of one line of a stage; empty for line 0."""
    return getline(path, number).strip()


def in_words(program: Program, command: CommandSent, token: Namer = say.token) -> str:
    """Return a command for people. token: returns the name of a token; in English if it is left out."""
    if command.words[0] == TRANSACTION:
        parts = [in_words(program, command._replace(words=words), token) for words in commands_of(command.words)]
        return "; ".join(["MULTI", *parts, "EXEC"])
    words = [readable(program, word, token) for word in command.words]
    if command.words[0] in SHA + TEXT:
        sha = sha1(command.words[1]) if command.words[0] in TEXT else command.words[1].decode(errors="replace")
        name = script_names(program).get(sha, "a script")
        return f"{name}({', '.join(words[3:])})"
    return " ".join(words)


def script_names(program: Program) -> dict[str, str]:
    """Return by hash the names of the scripts of the stage and its resource. A stage may put another text before a script."""
    names: dict[str, str] = {}
    for module in (*program.modules(), sys.modules[program.resource.__module__]):
        texts = {name: value for name, value in vars(module).items() if isinstance(value, str)}
        for name, value in texts.items():
            if "redis.call" in value:
                names |= {sha1(before + value): name for before in ("", *texts.values())}
    return names


def reply_in_words(program: Program, reply: Any, token: Namer = say.token) -> str:
    """Return a reply for people. token: as for a command."""
    match reply:
        case Reply(_, value):
            return reply_in_words(program, value, token)
        case None:
            return "nil"
        case Failure(message):
            return f"an error: {message}"
        case tuple():
            return f"[{', '.join(reply_in_words(program, part, token) for part in reply)}]"
        case bytes():
            return readable(program, reply, token)
        case _:
            return "no reply" if reply is LOST else str(reply)

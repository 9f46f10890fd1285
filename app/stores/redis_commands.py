"""Tell the keys of Redis' commands, and the meaning of an answer for a lock, as far as it is known without the lock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.foreign.wire import resp
from app.request.answer import AGREED, LOOKED, NOTHING, OPEN, REFUSED, Meaning

Command = Sequence[Any]  # its words; the first is its name, a text in capitals

SCRIPTS = frozenset({"EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"})
# these do nothing to a key if they answer zero or None
CONDITIONAL = frozenset(
    {"SETNX", "MSETNX", "HSETNX", "LPOP", "RPOP", "BLPOP", "BRPOP", "LMOVE", "BLMOVE", "RPOPLPUSH", "BRPOPLPUSH", "EXEC"}
)
LOOKS = frozenset(
    {"GET", "MGET", "STRLEN", "EXISTS", "TYPE", "TTL", "PTTL", "HGET", "HMGET", "HGETALL", "HEXISTS", "HLEN", "LRANGE", "LINDEX",
     "LLEN", "LPOS", "SMEMBERS", "SISMEMBER", "SCARD", "ZRANGE", "ZRANGEBYSCORE", "ZRANK", "ZSCORE", "ZCARD", "KEYS", "SCAN"}
)  # fmt: skip
NOT_ABOUT_THE_LOCK = frozenset(
    {"WATCH", "UNWATCH", "MULTI", "DISCARD", "PING", "TIME", "INFO", "SCRIPT", "FUNCTION", "SUBSCRIBE", "UNSUBSCRIBE",
     "PSUBSCRIBE", "PUNSUBSCRIBE", "PUBLISH"}
)  # fmt: skip
KINDS = dict.fromkeys(SCRIPTS, OPEN) | dict.fromkeys(LOOKS, LOOKED) | dict.fromkeys(NOT_ABOUT_THE_LOCK, NOTHING) | {"DEL": OPEN}
# names that are one word in capitals; other names are split and put in capitals
ONE_WORD = frozenset({"SET", *KINDS, *CONDITIONAL})
LISTENING = frozenset({"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "MONITOR"})
# the last word of these is how long they wait
WAITS_LAST = frozenset({"BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BZPOPMIN", "BZPOPMAX"})
GRANTS_LATE = WAITS_LAST | {"BLMPOP", "BZMPOP", "XREAD", "XREADGROUP"}  # the store grants when it answers
WAITING = GRANTS_LATE | {"WAIT"}
TRANSACTION = frozenset({"MULTI", "EXEC", "DISCARD"})
WITH_KEYS_ALONE = frozenset({"DEL", "UNLINK", "EXISTS", "MGET", "TOUCH"})
WITH_TWO_KEYS = frozenset({"RENAME", "RENAMENX", "LMOVE", "RPOPLPUSH", "COPY", "SMOVE"})
SETS_A_TTL = frozenset({"EVAL", "EVALSHA", "FCALL", "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "SETEX", "PSETEX"})
WITH_A_TIME = ("EX", "PX", "EXAT", "PXAT")  # options of SET and GETEX


def words(command: Sequence[Any]) -> Command:
    """Return the words of a command as Redis reads them: redis-py's name of a command can have two words."""
    name = command[0]
    if name in ONE_WORD:
        return command
    names = (name.decode() if isinstance(name, bytes) else str(name)).upper().split(" ")
    return (*names, *command[1:])


def unpacked(packed: bytes) -> list[Command]:
    """Return the commands in a text of the Redis protocol."""
    commands, at = [], 0
    while (parsed := resp.command(packed, at)) is not None:
        command, at = parsed
        commands.append(words(command))
    return commands


def text(word: object) -> str:
    """Return a word of a command or an answer as text."""
    return word.decode(errors="replace") if isinstance(word, bytes) else str(word)


def script(command: Command) -> str:
    """Return the script that a command runs, as its text, hash or name; empty for a command that runs none."""
    if command[0] not in SCRIPTS:
        return ""
    return command[1] if isinstance(command[1], str) else text(command[1])


def keys(command: Command) -> tuple[str, ...]:
    """Return the keys of a command that are known; empty for a command without one."""
    name = command[0]
    if name in SCRIPTS:
        return tuple(map(text, command[3 : 3 + int(command[2])])) if len(command) > 2 else ()
    if name in NOT_ABOUT_THE_LOCK or len(command) < 2:
        return ()
    if name in WITH_KEYS_ALONE:
        return tuple(map(text, command[1:]))
    if name in WITH_TWO_KEYS:
        return text(command[1]), text(command[2])
    if name in WAITS_LAST:
        return tuple(map(text, command[1:-1]))
    return (text(command[1]),)


def prolongs(command: Command) -> bool:
    """Return whether a command can prolong a lease: its name or an option sets a TTL, or it runs a script."""
    name = command[0]
    if name in SETS_A_TTL:
        return True
    return name in ("SET", "GETEX") and any(_has_word(command[2:], word) for word in WITH_A_TIME)


def meaning(command: Command, answer: object) -> Meaning:
    """Return the meaning of an answer for a lock. It is REFUSED only if no other reading of the answer is possible."""
    name = command[0]
    if name in KINDS:
        return KINDS[name]
    if name in CONDITIONAL or (name == "SET" and not _has_word(command[3:], "GET")):
        return AGREED if answer else REFUSED  # a SET without a condition, NX for example, is never refused
    return OPEN


def _has_word(words: Command, word: str) -> bool:
    """Return whether an option, in capitals, is among the words of a command: redis-py sends it as it is, or as bytes."""
    return word in words or word.encode() in words

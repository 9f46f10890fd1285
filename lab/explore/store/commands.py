"""Recognize commands that need more than a table of keys: transactions, scripts, blocking commands, and commands with a clock.

*A transaction* is one command: the server executes it as a whole, and no command of another client comes in between. In the
tables and in the events its words are TRANSACTION, and then each of its commands after the number of that command's words. The
real server gets MULTI, the commands and EXEC.

*A command that reads the server's clock*, or names a moment on it, gets the clock of the search. Redis runs this command, and
each script that may contain one, behind a few lines of Lua. These lines answer TIME, and turn a moment into a time to live:
PEXPIREAT into PEXPIRE, PXAT into PX. Redis executes all other commands as they are.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from lab.explore.store.resp import Words

TRANSACTION, MULTI, EXEC = b"TRANSACTION", b"MULTI", b"EXEC"
WATCH, UNWATCH = b"WATCH", b"UNWATCH"
# by command: whether it adds a subscription. The server confirms it by a message, not by a reply
SUBSCRIBING = {b"SUBSCRIBE": True, b"PSUBSCRIBE": True, b"UNSUBSCRIBE": False, b"PUNSUBSCRIBE": False}
SHA, TEXT = (b"EVALSHA", b"EVALSHA_RO"), (b"EVAL", b"EVAL_RO")  # run a script, by its hash and by its text
SCRIPT, FUNCTION, CLIENT = b"SCRIPT", b"FUNCTION", b"CLIENT"


def sha1(script: str | bytes) -> str:
    """Return the hash by which Redis knows a script."""
    return hashlib.sha1(script.encode() if isinstance(script, str) else script).hexdigest()  # noqa: S324 - as Redis has it


def as_transaction(commands: Sequence[Words]) -> Words:
    """Return the commands between MULTI and EXEC as one command."""
    return (TRANSACTION, *(part for words in commands for part in (str(len(words)).encode(), *words)))


def commands_of(transaction: Words) -> Iterator[Words]:
    """Yield the commands of a transaction."""
    place = 1
    while place < len(transaction):
        after = place + 1 + int(transaction[place])
        yield transaction[place + 1 : after]
        place = after


def each_of(command: Words) -> Sequence[Words]:
    """Return the commands of a transaction, or the command itself."""
    return tuple(commands_of(command)) if command[0] == TRANSACTION else (command,)


def loaded_by(command: Words) -> tuple[str, ...]:
    """Return the texts of the scripts that a command loads: EVAL loads its script as well."""
    texts = [words[1] for words in each_of(command) if words[0] in TEXT]
    texts += command[2:3] if command[:2] == (SCRIPT, b"LOAD") else ()
    return tuple([text.decode() for text in texts])


def asked_for(command: Words) -> set[bytes]:
    """Return the hashes of scripts if the reply to a command depends on whether they are loaded."""
    exists = command[2:] if command[:2] == (SCRIPT, b"EXISTS") else ()
    return {*exists, *(words[1] for words in each_of(command) if words[0] in SHA)}


# the blocking commands: the last word of each is its time-out in seconds, 0 for ever
WAITS = (b"BLPOP", b"BRPOP", b"BZPOPMIN", b"BZPOPMAX", b"BRPOPLPUSH", b"BLMOVE")


def can_wait(words: Words) -> bool:
    """Return whether a command waits in the server if it cannot be executed at once."""
    return words[0] in WAITS


CLOCKED = {b"TIME", b"EXPIREAT", b"PEXPIREAT", b"EXPIRETIME", b"PEXPIRETIME"}
OF_MOMENTS = {b"PXAT", b"EXAT"}
IN_SCRIPT = re.compile(r"\btime\b|expireat|exat|pxat|expiretime|xadd", re.IGNORECASE)
# finds a script that uses the reply to PUBLISH: the number of clients that got the message
ASKS_WHO_LISTENS = re.compile(
    rb"""([=(,<>~]|\b(return|if|not|and|or|until|while)\b)\s*redis\.p?call\s*\(\s*['"]publish['"]""", re.IGNORECASE
)
CALL = re.compile(rb"""\(\s*(['"])(\w+)\1""")  # the first text in a call of a script may be the name of a command

SHIM = """\
local redis = (function() \
local real, now = redis, tonumber(table.remove(ARGV)); \
local function d(n) return string.format('%.0f', n) end; \
local function run(call, name, ...) \
local c, a = string.upper(name), {...}; \
if c == 'TIME' then return {d(math.floor(now / 1000)), d((now % 1000) * 1000)} end; \
if c == 'EXPIREAT' then a[2] = d(a[2] * 1000 - now) return call('PEXPIRE', unpack(a)) end; \
if c == 'PEXPIREAT' then a[2] = d(a[2] - now) return call('PEXPIRE', unpack(a)) end; \
if c == 'EXPIRETIME' or c == 'PEXPIRETIME' then local t = call('PTTL', a[1]); \
if t < 0 then return t end; return c == 'PEXPIRETIME' and now + t or math.floor((now + t + 500) / 1000) end; \
if c == 'XADD' then for i = 2, #a do if a[i] == '*' then a[i] = d(now) .. '-*' break end end end; \
local ends = false; \
if c == 'SET' or c == 'GETEX' then for i = 2, #a - 1 do local o = string.upper(a[i]); \
if o == 'PXAT' or o == 'EXAT' then local left = a[i + 1] * (o == 'EXAT' and 1000 or 1) - now; \
if left > 0 then a[i], a[i + 1] = 'PX', d(left) else ends = true table.remove(a, i) table.remove(a, i) end; break end end end; \
local reply = call(name, unpack(a)); \
if ends and reply then real.call('PEXPIRE', a[1], -1) end; return reply end; \
return setmetatable({call = function(...) return run(real.call, ...) end, \
pcall = function(...) return run(real.pcall, ...) end}, {__index = real}) end)(); """
ONE = "return redis.call(unpack(ARGV))"


def is_clocked(script: str) -> bool:
    """Return whether a script may read the clock, or give a moment on it."""
    return IN_SCRIPT.search(script) is not None


def called_in(script: bytes) -> Iterator[bytes]:
    """Yield the names of the commands that a script may call, and perhaps other words."""
    return (call[2].upper() for call in CALL.finditer(script))


def with_shim(script: str) -> str:
    """Return a script that runs on the clock of its last argument."""
    first, newline, rest = script.partition("\n")
    return f"{first}\n{SHIM}{rest}" if first.startswith("#!") and newline else SHIM + script


def needs_clock(words: Words, clocked: frozenset[bytes] | set[bytes]) -> bool:
    """Return whether a command depends on the clock. clocked: the hashes and texts of the scripts that do."""
    name = words[0]
    if name in SHA + TEXT:
        return bool(clocked) and words[1] in clocked
    if name == TRANSACTION:
        return any(needs_clock(command, clocked) for command in commands_of(words))
    if name in CLOCKED:
        return True
    if name in (b"SET", b"GETEX"):
        return any(word.upper() in OF_MOMENTS for word in words[2:])
    return name == b"XADD" and b"*" in words[2:]

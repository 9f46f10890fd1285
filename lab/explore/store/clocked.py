"""Commands that read the server's clock, or name a moment on it: they get the clock of the search.

Such a command, and each script that may contain one, is run by Redis behind a few lines of Lua. These answer TIME, and turn a
moment into a time to live: PEXPIREAT into PEXPIRE, PXAT into PX. All other commands are Redis' own.
"""

from __future__ import annotations

import re

from lab.explore.store import transaction
from lab.explore.store.resp import Words

NAMES = {b"TIME", b"EXPIREAT", b"PEXPIREAT", b"EXPIRETIME", b"PEXPIRETIME"}
MOMENTS = {b"PXAT", b"EXAT"}
IN_SCRIPT = re.compile(r"\btime\b|expireat|exat|pxat|expiretime|xadd", re.IGNORECASE)
SHA, TEXT = b"EVALSHA", b"EVAL"

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
    """Return whether a script may ask for the time, or name a moment."""
    return IN_SCRIPT.search(script) is not None


def with_shim(script: str) -> str:
    """Return a script that runs on the clock that its last argument gives."""
    first, newline, rest = script.partition("\n")
    return f"{first}\n{SHIM}{rest}" if first.startswith("#!") and newline else SHIM + script


def needs_clock(words: Words, clocked: frozenset[bytes] | set[bytes]) -> bool:
    """Return whether a command depends on the clock. clocked: the hashes of the scripts that do."""
    name = words[0]
    if name in (SHA, TEXT):
        return bool(clocked) and words[1] in clocked
    if name == transaction.NAME:
        return any(needs_clock(one, clocked) for one in transaction.commands_of(words))
    if name in NAMES:
        return True
    if name in (b"SET", b"GETEX"):
        return any(one.upper() in MOMENTS for one in words[2:])
    return name == b"XADD" and b"*" in words[2:]

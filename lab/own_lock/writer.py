"""Write the declaration of a lock: the only place where the lab guesses what somebody's lock means.

A program of its own, which imports the module: ``python -m lab.own_lock.writer LOCK CLAIMS PORT FOLDER IMPORT_S``. Names propose
ways to use the lock, the likeliest first; trials on an idle server choose one, and correct it. What neither can tell becomes a
question.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import inspect
import json
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from app.foreign.declared import At, declared
from app.shelf.plugins import suggestion
from app.stores import lock_store
from lab.own_lock.trial import NAME, OTHER_NAME, IdleServer, Keys, Said, Trial

TTL_MS, OTHER_TTL_MS, WAIT_MS, BRIEF_MS = 3000, 8700, 10_000, 1000  # no TTL is near the other, nor near its double
NUMBERS, TEXTS, NEVER = (int, float, str), (str,), None
MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
TIMES = ("at.wait", "at.retry", "at.ttl")  # a unit comes behind them
# what a parameter is given, by what its name contains: the first row that fits. Next to it, the types of a default that may be
# replaced, besides an empty one; NEVER leaves every default
PARAMETERS = (
    (r"prefix|namespace|suffix", '"lab"', NEVER),
    (r"count|times|retries|attempts|max_retr|thread_local|^raise|errors$", "", NEVER),
    (r"^(func|function|fn|f|callback|wrapped)$", "at.work", NEVER),
    (r"wait|block(ing)?_?time|acquire_?time|acquisition_?time", "at.wait", NUMBERS),
    (r"sleep|poll|retry_?(interval|delay|ms|after|sleep|pause)?(_ms|_s)?$|^spin", "at.retry", NUMBERS),
    (r"ttl|expir|(?<!re)lease|lock_?time|life|hold|valid|release_?time|^(e|p|pe)x$|durat|^seconds$", "at.ttl", NUMBERS),
    (r"time_?out", "at.timeout", NUMBERS),
    (r"hosts$", 'f"{at.host}:{at.port}"', TEXTS),
    (r"url|dsn|uri", 'f"redis://{at.host}:{at.port}"', TEXTS),
    (r"host|addr", "at.host", TEXTS),
    (r"port$", "at.port", NUMBERS),
    (r"^(db_?)?user(_?name)?$", "at.user", TEXTS),
    (r"passw", "at.password", TEXTS),
    (r"database|^db_?name$", "at.database", TEXTS),
    (r"token|owner|identifier|uuid|value|secret|holder|^mine$", "at.token", NEVER),
    (r"pool", "at.client.connection_pool", ()),
    (r"redis|client|conn|rdb|store|server|nodes|masters|cache|backend|^r$|^db$|^cli$", "at.client", ()),
    (r"key|name|resource|lock|mutex|^id$|_id$|topic|subject|path", "at.key", TEXTS),
    (r"", "", NEVER),
)
WAITS = r", \w+=at\.wait_m?s|(?<=\()\w+=at\.wait_m?s(?:, )?"  # what can be left out of a call
# what a trial changes in a way that does not work: several servers, a record of settings, no wait, milliseconds, answers as texts
CHANGES = (("at.client", "[at.client]"), ('"lab"', "{}"), (WAITS, ""), ("at.ttl_s", "at.ttl_ms"), ("at.client", "at.text_client"))
IN_MS = re.compile(r"(ms|millis|milliseconds|px)$")
# words of the names of what acquires and of what releases, the likeliest first; and of what does neither
ACQUIRES = ["acquire", "aquire", "obtain", "claim", "grab", "take", "enter", "try", "lock", "mutex", "get", "set", "start"]
RELEASES = ["release", "unlock", "free", "remove", "delete", "del", "drop", "leave", "exit", "clear", "unset", "stop"]
NEITHER = {"extend", "renew", "refresh", "check", "is", "has", "reacquire", "owned", "all", "info", "locked"}
# errors that are no answers of a lock
BUGS = re.compile(r":((Type|Attribute|Name|Import|Connection|Response)Error|SystemExit)$|^app\.lock:NotAcquired$")
PASSED_MS = 400  # of a TTL, at most, until it was seen
STEPS_MS = (60_000, 10_000, 5000, 1000, 500, 100, 50, 10, 1)  # people choose a TTL on such a step
# by the library of another store: the store, what its locks take as a key, and what that makes of the key
STORES = {
    "kazoo": ("zookeeper", '"/" + at.key', "/{key}"),
    "pymysql": ("mysql", "at.key[-64:]", ""),
    "psycopg": ("postgresql", "at.key", ""),
    "etcd3gw": ("etcd", "at.key", ""),
}

TEXT = '''"""{lock}, as the lab understands it. Correct what is wrong: this file is never written over."""
{imports}

{use}


STAGE = Stage(
    lock=declared(use{options}),
    store="{store}",
    ttl_ms={ttl}
    claims=claims("""
{claims}
    """),
)
'''


def words_of(name: str) -> list[str]:
    """Return the words of a name."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").replace("un_lock", "unlock").split("_")


def row_of(name: str) -> tuple[str, tuple[type, ...] | None]:
    """Return what a parameter of this name is given, and the types of a default that it may replace."""
    return next((value, kinds) for pattern, value, kinds in PARAMETERS if re.search(pattern, "_".join(words_of(name))))


def block(function: Any) -> bool | None:
    """Return whether what a decorator made a block of is of asyncio; None if it is no block."""
    inner = inspect.unwrap(function) if callable(function) else None
    return inspect.isasyncgenfunction(inner) if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner) else None


def ranked(members: Mapping[str, Any], known: list[str], beside: str = "") -> list[str]:
    """Return the names that have a known word and none of NEITHER, the likeliest first, then the nearest to ``beside``."""
    public = {name: set(words_of(name)) for name, one in members.items() if not name.startswith("_") and callable(one)}
    found = [name for name, words in public.items() if words & set(known) and not words & NEITHER]
    near = set(words_of(beside))
    return sorted(found, key=lambda one: (min(map(known.index, public[one] & set(known))), len(public[one] ^ near), len(one)))


class Way(NamedTuple):
    """A way to use a lock, as expressions: a block is only made, and a function that is given the work only asked."""

    made: str = ""
    asks: str = ""
    frees: str = ""
    is_async: bool = False

    def but(self, old: str, new: str) -> Self:
        """Return it with a part replaced, which a pattern describes."""
        made, asks, frees = (re.sub(old, new, one) for one in (self.made, self.asks, self.frees))
        return self._replace(made=made, asks=asks, frees=frees)


class Looked(NamedTuple):
    """What one acquire and its release have shown, and another acquire while the lock was held."""

    first: Said
    second: Said = Said("waits")
    held: Keys = {}  # noqa: RUF012 - nobody changes it
    freed: tuple[str, ...] = ()
    end: Said = Said("waits")
    waited: bool = False  # whether the other waited by itself
    worked: bool = False

    @property
    def key(self) -> str:
        """The key of the lock; empty if there was none."""
        return min(self.freed or self.held, key=lambda one: (NAME not in one, self.held[one][1] < 0, len(one)), default="")

    @property
    def ttl_ms(self) -> int:
        """What was left of the TTL of the key; -1 if it had none, 0 without a key."""
        return self.held[self.key][1] if self.key else 0

    @property
    def score(self) -> list[bool]:
        """How far it went: a way that works has True everywhere."""
        lasts = self.ttl_ms < 0 or self.ttl_ms > TTL_MS // 100
        return [self.first.kind != "error", self.worked, bool(self.held), lasts, bool(self.freed), self.end.kind == "over"]


class Writer:
    """Writes the declaration of one lock."""

    def __init__(self, lock: str, module: Any, name: str, server: IdleServer) -> None:
        self.lock, self.module, self.name, self.server = lock, module, name, server
        self.names = {name: getattr(module, name)}  # what the file imports of the module
        self.way = Way()
        self.granted = "{}"  # when an answer is a grant; empty if it always is
        self.questions: list[tuple[str, str]] = []  # the name that is called, and what is asked there
        self.errors: set[tuple[str, str]] = set()  # that are answers: module and name
        self.came_from: set[tuple[str, int]] = set()  # the addresses of its connections
        self.store, self.key, self.ttl = "redis", "", f"{TTL_MS},  # what the lock promises"

    def call(self, words: str, function: Callable[..., Any], given: dict[str, str], answer: str = "") -> str:
        """Return a call with what its parameters ask for.

        given: what the lock has been given so far, by parameter; it grows. answer: in a release, the answer of acquire.
        """
        named = [one for one in inspect.signature(function).parameters.values() if one.kind not in MANY and one.name != "self"]
        found, rows = [], [(one, *row_of(one.name)) for one in named]
        before = " ".join(given.values())
        values = " ".join([before, *(value for _, value, _ in rows)])
        for one, meant, kinds in rows:
            needed, value = one.default is one.empty, meant
            if meant == "at.timeout":
                value = "at.wait" if "at.ttl" in values else "at.ttl"
            elif needed and meant in ("at.token", '"lab"') and not answer and "at.key" not in values:
                value = "at.key"
            is_told = any(said.startswith(value) for said in given.values())
            if answer and one.name in given:
                value = given[one.name]
            elif answer and (meant not in ("at.client", "at.key") or one.name in ("lock", "mutex")):
                value = "at.token" if "at.token" in before else answer
            elif value in TIMES:
                value += "_ms" if IN_MS.search(one.name.lower()) else "_s"
            is_empty = one.default is None or (hasattr(one.default, "__len__") and not one.default)
            may_be = kinds is not NEVER and (is_empty or type(one.default) in kinds)
            if needed or (may_be and not answer and not is_told):
                if not value:
                    self.ask(words, f"what is {one.name}?")
                given[one.name] = value or '"lab"'
                found.append(f"{'' if needed and one.kind is not one.KEYWORD_ONLY else f'{one.name}='}{given[one.name]}")
        return f"{words}({', '.join(found)})"

    def ways(self) -> Iterator[Way]:
        """Yield the ways to use the lock that names propose, the likeliest first."""
        thing, name, given = self.names[self.name], self.name, dict[str, str]()
        if isinstance(thing, type):
            yield from self.of_object(thing, self.call(name, thing, given), given)
        elif callable(thing):
            self.names |= {one: value for one, value in vars(self.module).items() if inspect.isfunction(value)}
            yield from self.of_members(self.names, [name], "", "", given)
        else:
            yield from self.of_object(type(thing), "", given, f"{name}.")

    def of_object(self, kind: Any, made: str, given: dict[str, str], prefix: str = "lock.") -> Iterator[Way]:
        """Yield the ways of an object of a class. made: the expression that makes it. prefix: its name."""
        members: dict[str, Any] = {name: getattr(kind, name, None) for name in dir(kind)}
        frees, asks = ranked(members, RELEASES), ranked(members, ACQUIRES)
        if frees and not set(asks) - set(frees):  # what acquire has returned
            yield Way("", made, self.call(f"got.{frees[0]}", members[frees[0]], dict(given), "got"))
        blocks = [one for one in members if one not in asks and block(members[one]) is not None]
        yield from self.of_members(members, asks + blocks, made, prefix, given)

    def of_members(
        self, members: Mapping[str, Any], asks: Sequence[str], made: str, prefix: str, given: dict[str, str]
    ) -> Iterator[Way]:
        """Yield the ways of methods, or of functions. asks: of those that may acquire."""
        frees = ranked(members, RELEASES)
        asks = [one for one in asks if one not in frees]
        for one in asks if frees else []:
            if block(members[one]) is None:
                told, near = dict(given), ranked(members, RELEASES, one)[0]
                asked = self.call(f"{prefix}{one}", members[one], told)
                freed = self.call(f"{prefix}{near}", members[near], told, answer="got")
                yield Way(made, asked, freed, inspect.iscoroutinefunction(members[one]))
        yield from (Way(made, is_async=one == "__aenter__") for one in ("__enter__", "__aenter__") if one in members)
        for one in asks:
            told = dict(given)
            asked = self.call(f"{made}.{one}" if made else f"{prefix}{one}", members[one], told)
            if (is_async := block(members[one])) is not None:
                yield Way(asked, is_async=is_async)
            elif inspect.isroutine(kind := self.kind_of(asked)):  # a decorator, or the function that it has made
                asked = asked if "at.work" in asked else f"{asked}(at.work)"
                yield Way("", f"{asked}()", is_async=inspect.iscoroutinefunction(self.kind_of(asked)))
            elif "at.work" in asked:
                yield Way("", asked, is_async=inspect.iscoroutinefunction(members[one]))
            elif kind.__module__ != "builtins":
                yield from self.of_object(kind, asked, told)

    def kind_of(self, made: str) -> Any:
        """Call an expression. Return the class of the object that it returns; if it returns a function, return that function."""
        lock = declared(len)(lock_store("redis", self.server.settings), NAME, TTL_MS, TTL_MS, 0)
        self.server.store.flushall()
        found = None
        for old, new in (("", ""), *CHANGES):
            with contextlib.suppress(Exception):  # a trial tells it
                found = eval(re.sub(old, new, made), self.names | {"at": At(lock, str)})  # noqa: S307 - it was just written
                break
        return found if inspect.isroutine(found) else type(found)

    def use(self, way: Way, granted: str) -> str:
        """Return the function ``use``. granted: the condition of the work; empty if there is none."""
        asyncs, awaits = ("async ", "await ") if way.is_async else ("", "")
        work, if_granted = f"{awaits}at.work()", f"if {granted.format('got')}:"
        if not way.asks:
            lines = [f"{asyncs}with {way.made}{' as got' if granted else ''}:{self._question(way.made)}"]
            lines += [f"    {if_granted}", f"        {work}"] if granted else [f"    {work}"]
        elif not way.frees:
            lines = [f"{awaits}{way.asks}{self._question(way.asks)}"]
        else:
            lines = [f"lock = {way.made}{self._question(way.made)}"] if way.made else []
            got = "got = " if granted or re.search(r"\bgot\b", way.frees) else ""
            body = ["try:", f"    {work}", "finally:", f"    {awaits}{way.frees}{self._question(way.frees)}"]
            lines += [f"{got}{awaits}{way.asks}{self._question(way.asks)}"]
            lines += [if_granted, *(f"    {one}" for one in body)] if granted else body
        return f"{asyncs}def use(at):\n" + "\n".join(f"    {one}" for one in lines)

    def _question(self, expression: str) -> str:
        found = dict.fromkeys(asked for of, asked in self.questions if of == expression.partition("(")[0])
        return f"  # QUESTION: {' '.join(found)}" if found else ""

    def ask(self, expression: str, question: str) -> None:
        """Ask at the line of an expression, besides what is asked there."""
        self.questions.append((expression.partition("(")[0], " ".join(question.split())))

    def look(self, way: Way, ttl_ms: int = TTL_MS, is_lost: bool = False, is_asked: bool = False, key: str = NAME) -> Looked:
        """Acquire the lock and release it. is_lost: the store loses it before that. is_asked: another process asks for it."""

        def lock(saw: Callable[[Any], bool]) -> Any:
            scope = self.names | {"saw": saw}
            exec(self.use(way, "saw({})"), scope)  # noqa: S102 - the function that was just written
            return declared(scope["use"])

        self.server.store.flushall()
        with contextlib.closing(Trial(self.server, lock, key, ttl_ms, WAIT_MS)) as holder:
            first = holder.next()
            if first.kind not in ("answer", "granted") or (first.kind == "answer" and holder.next().kind != "granted"):
                return Looked(first)
            held, second, asked_s = self.server.held(), first, time.monotonic()
            if is_lost:
                self.server.store.flushall()
            if is_asked:
                with contextlib.closing(Trial(self.server, lock, key, ttl_ms, BRIEF_MS)) as other:
                    second = other.next(BRIEF_MS / 1000 + 0.3)
            waited_s = time.monotonic() - asked_s
            holder.pipe.send(None)
            end = holder.next()
            self.came_from |= set(holder.came_from)
            return Looked(first, second, held, self.server.freed(held), end, waited_s > 0.8 * BRIEF_MS / 1000, True)

    def chosen(self) -> Looked:
        """Choose the way that works, or goes farthest, and return what was seen of it."""
        best = None
        for proposed in self.ways():
            way, seen = proposed, self.look(proposed)
            for old, new in CHANGES:
                changed = way.but(old, new)
                if changed != way and not all(seen.score) and seen.first.kind != "waits":
                    again = self.look(changed)
                    way, seen = (changed, again) if again.score > seen.score else (way, seen)
            if best is None or seen.score > best.score:
                self.way, best = way, seen
            if all(best.score) or seen.first.kind == "waits":
                return best
        return best or Looked(Said("error", "no way was found"))

    def correct(self) -> None:
        """Correct by trials what names have proposed."""
        found = vars(self.module).values()
        used = {str(getattr(one, "__module__", "") or getattr(one, "__name__", "")).partition(".")[0] for one in found}
        if "redis" not in used and used & set(STORES):  # the imports name the lock's store
            self.way = next(self.ways(), self.way)
            self.not_tried("")
            return
        seen = self.chosen()
        if not self.way.made and not self.way.asks:
            members = [one for one in dir(self.names[self.name]) if not one.startswith("_")]
            self.way = Way(f"{self.name}()", "lock.acquire()", "lock.release()")
            self.ask(self.name, f"how is it used? its methods are {', '.join(members) or 'none'}")
        if not seen.worked:
            self.not_tried(f"on an idle server: {seen.first.text}. What does the lock need?")
            return
        seen = self.look(self.way, is_asked=True)
        if seen.held and seen.end.kind == "error" and not seen.second.truth:  # who was let in as well may have its key
            self.ask(self.way.frees or self.way.made, f"on an idle server: {seen.end.text}. How is the lock released?")
        if not seen.waited:  # it does not wait: it is asked again
            self.way = self.way.but(WAITS, "")
        self.tell_key_and_ttl(seen)
        self.tell_grant(seen)
        for error in (seen.second, self.look(self.way, is_lost=True).end):
            if error.kind == "error" and not any(map(BUGS.search, error.types)):
                self.errors.add((error.types[0].partition(":")[0], error.types[0].partition(":")[2]))

    def tell_grant(self, seen: Looked) -> None:
        """Find out which answers are grants."""
        first, second, is_object = seen.first, seen.second, not self.way.asks and not seen.first.is_plain
        # two grants have the same answer, or two tokens; two numbers may be a yes and a no
        are_alike = first.types == second.types and (first.text == second.text or "builtins:int" not in first.types)
        if first.kind == "granted" or (not self.way.asks and first.text == "None"):
            self.granted = ""  # a block that is entered is a grant
        elif second.kind != "answer":
            self.granted = "{}" if first.truth and not is_object else ""
        elif not first.truth or (second.truth and not (first.is_plain and are_alike)):
            answers = f"it answered {first.text}, and {second.text} while another request held the lock"
            self.ask(self.way.asks or self.way.made, f"{answers}. Which of them is a grant?")

    def tell_key_and_ttl(self, seen: Looked) -> None:
        """Find out what the lock makes of its key, and whether its TTL follows what it is given, and in which steps."""
        calls, other = f"{self.way.made} {self.way.asks}", self.look(self.way, OTHER_TTL_MS, key=OTHER_NAME)
        self.key = seen.key.replace("{", "{{").replace("}", "}}").replace(NAME, "{key}")
        if not seen.key and not self.server.store.info("persistence")["rdb_changes_since_last_save"]:
            self.not_tried("it set no key: where does it keep the lock?")
        elif NAME not in seen.key and seen.key != other.key:
            self.ask(self.way.made or self.way.asks, f"{seen.key!r} is its key for {NAME!r}. Which function makes it (key=)?")
        is_given, timeout = "at.ttl_" in calls, re.search(r"\w*time_?out\w*=at\.ttl_(?=m?s\b)", calls)
        if seen.ttl_ms > 0 and abs(seen.ttl_ms - other.ttl_ms) < seen.ttl_ms / 5:  # one that followed would be much longer
            ends_ms = {step: -(-seen.ttl_ms // step) * step for step in STEPS_MS}
            fixed_ms = next(one for one in ends_ms.values() if one <= seen.ttl_ms + PASSED_MS)
            if timeout:
                self.way = self.way.but(timeout[0], timeout[0].replace("ttl", "wait"))
            asked = f"QUESTION: it was given {TTL_MS}. Which TTL does it promise?" if is_given and not timeout else ""
            self.ttl = f"{fixed_ms},  # {asked or 'the TTL in its code'}\n    has_fixed_ttl=True,"
        elif is_given and (other.first.kind == "error" or (other.ttl_ms > 0 and -other.ttl_ms % 1000 < PASSED_MS // 2)):
            self.ttl = f"{TTL_MS},  # what the lock promises, in whole seconds\n    ttl_step_ms=1000,"
        elif seen.ttl_ms < 0 and not is_given:
            self.ttl = f"{TTL_MS},  # its key has no expiry: when others expect it to be free"

    def not_tried(self, why: str) -> None:
        """Ask about a lock that did nothing in Redis. why: the question if it uses no library of another store."""
        mine = {name: one for name, one in vars(self.module).items() if isinstance(one, type) and issubclass(one, Exception)}
        self.errors = {(one.__module__, name) for name, one in mine.items() if one.__module__ == self.module.__name__}
        place = self.way.made or self.way.asks
        for library in sorted(set(STORES) & set(sys.modules))[:1]:
            self.store, expression, self.key = STORES[library]
            self.way = self.way.but("at.ttl_s", "at.wait_s").but("at.key", expression)
            self.ttl = f"{TTL_MS},  # the TTL, or the timeout of its session"
            self.questions = [(of, asked) for of, asked in self.questions if asked.startswith("what is")]
            why = f"a lock in {self.store} is not tried. Is each line right, also ttl_ms?"
        if self.store != "redis" or not self._question(place):
            self.ask(place, why)

    def text(self, claims: str) -> str:
        """Return the declaration. claims: the lines of what the lock promises."""
        self.correct()
        use, module = self.use(self.way, self.granted), self.module.__name__
        used = {name for name in self.names if re.search(rf"\b{re.escape(name)}\b", use)}
        mine = sorted({*used, *(name for of, name in self.errors if of == module)})
        imports = ["from app.foreign.declared import declared", "from app.lock import Stage, claims"]
        imports += [f"from {of} import {name}" for of, name in self.errors if of not in (module, "builtins")]
        is_importable, after = all(part.isidentifier() for part in module.split(".")), [""]
        if not is_importable:  # a file such as 1_lock.py
            after += [*(f'{name} = import_module("{module}").{name}' for name in mine), ""]
        imports.append(f"from {module} import {', '.join(mine)}" if is_importable else "from importlib import import_module")
        options = f", key={json.dumps(self.key)}" if self.key not in ("", "{key}") else ""
        options += f", errors=({', '.join(sorted(name for _, name in self.errors))},)" if self.errors else ""
        own = self.came_from - {self.server.address}
        options += ', leads_from="{}:{}"'.format(*min(own)) if own else ""
        if "at.host" in use and self.store == "redis" and self.key and not self.came_from:
            self.ttl += "\n    by_lane=True,  # its client is not redis-py's"
        about = {"lock": self.lock, "use": use, "options": options, "store": self.store, "ttl": self.ttl, "claims": claims}
        return TEXT.format(imports="\n".join(["", *sorted(imports), *after]), **about)


def main(lock: str, claims: str, port: str, folder: str, import_s: str) -> dict[str, str]:
    """Return the text of a declaration, or the error that there was. import_s: for the import of the module."""
    server = IdleServer(int(port))
    name, _, wanted = lock.rpartition(":")
    sys.path.insert(0, folder)
    sockets = socket.socket
    faulthandler.dump_traceback_later(float(import_s), exit=True)
    try:
        module = importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - whatever somebody's module raises, also an end of the process
        return {"error": f"{name} cannot be imported: {type(error).__name__}: {error}"}
    faulthandler.cancel_dump_traceback_later()
    if socket.socket is not sockets:
        return {"error": f"{name} replaces the sockets of its process, as gevent does. Use lab new NAME --worker python"}
    if not hasattr(module, wanted):
        choices = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
        return {"error": f"there is no {wanted!r}. {suggestion(wanted, choices)}"}
    return {"text": Writer(lock, module, wanted, server).text(claims)}


if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the module prints is no part of the answer
    out.write(json.dumps(main(*sys.argv[1:])))
    out.flush()
    os._exit(0)  # threads of the module go on

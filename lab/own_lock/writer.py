"""Write the declaration of a lock. Only here does the lab guess how a user's lock is meant to be used.

A program of its own, which imports the module: ``python -m lab.own_lock.writer LOCK CLAIMS FOLDER IMPORT_S``. Names propose ways
to use the lock, the likeliest first; trials on an idle server choose one, and correct it. The rest becomes a question.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import inspect
import json
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from traceback import extract_tb
from typing import Any, NamedTuple, Self

import redis

from app.foreign.declared import At
from app.lock import NotAcquired
from app.shelf import plugins, yours
from lab.interrupts import end_with_parent
from lab.own_lock.trial import NAME, OTHER_NAME, OTHER_TTL_MS, TTL_MS, WAIT_MS, CallResult, IdleServer, Looked, done

# the value of a parameter, by a part of its name: the first row that fits
PARAMETERS = (
    (r"prefix|namespace|suffix", '"lab"'),
    (r"count|times|retries|attempts|max_retr|thread_local|^raise|errors$", ""),
    (r"^(func|function|fn|f|callback|wrapped)$", "at.work"),
    (r"wait|block(ing)?_?time|acquire_?time|acquisition_?time", "at.wait"),
    (r"sleep|poll|retry_?(interval|delay|ms|after|sleep|pause)?(_ms|_s)?$|^spin", "at.retry"),
    (r"ttl|expir|(?<!re)lease|lock_?time|life|hold|valid|release_?time|^(e|p|pe)x$|durat|^seconds$", "at.ttl"),
    (r"time_?out", "at.timeout"),
    (r"hosts$", 'f"{at.host}:{at.port}"'),
    (r"url|dsn|uri", 'f"redis://{at.host}:{at.port}"'),
    (r"(host|port|user|password|database)(_?name)?$", r"at.\1"),
    (r"token|owner|identifier|uuid|value|secret|holder|^mine$", "at.token"),
    (r"pool", "at.client.connection_pool"),
    (r"redis|client|conn|rdb|store|server|nodes|masters|cache|backend|^r$|^db$|^cli$", "at.client"),
    (r"key|name|resource|lock|mutex|^id$|_id$|topic|subject|path", "at.key"),
    (r"", ""),  # its meaning is unknown
)
KEPT = ("", '"lab"', "at.work", "at.token")  # no default; a client replaces None, other values a default of their kind
NUMBERS = ("at.wait", "at.retry", "at.ttl", "at.timeout", "at.port")
UNKNOWN = r'"(\w+)\?"'  # finds the sign for an unknown value
WAITS = r", \w+=at\.wait_m?s|(?<=\()\w+=at\.wait_m?s(?:, )?"  # arguments that a call can do without
# changes that a trial makes to a way that does not work: several servers, settings, no wait, milliseconds, answers as texts
TO_TEXTS = (r"at\.client", "at.text_client")
CHANGES = ((r"at\.client", "[at.client]"), (UNKNOWN, r'{"\1?": ""}'), (WAITS, ""), ("at.ttl_s", "at.ttl_ms"), TO_TEXTS)
# words in the names of functions that acquire and that release, the likeliest first; and of functions that do neither
ACQUIRES = ["acquire", "aquire", "obtain", "claim", "grab", "take", "enter", "try", "lock", "mutex", "get", "set", "start"]
RELEASES = ["release", "unlock", "free", "remove", "delete", "del", "drop", "leave", "exit", "clear", "unset", "stop"]
NEITHER = {"extend", "renew", "refresh", "check", "is", "has", "reacquire", "owned", "all", "info", "locked"}
# errors that are no answers of a lock
OF_REDIS = (redis.ConnectionError, redis.ResponseError, redis.DataError)
BUGS = (TypeError, AttributeError, NameError, ImportError, ConnectionError, SystemExit, NotAcquired, *OF_REDIS)
PLAIN = (bool, int, float, str, bytes, type(None))  # types of answers whose meaning is plain
STEPS_MS = (60_000, 10_000, 5000, 1000, 500, 100, 50, 10, 1)  # a TTL is a multiple of the largest one that fits
LOOK_S = 3.0  # after that no further way is tried: a question must come soon
# by the library of another store: the store, the key as its locks take it, and the name that they make of it
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


def value_for(name: str) -> str:
    """Return the value of a parameter with this name; empty if its name does not tell."""
    found = ((re.search(pattern, "_".join(words_of(name))), value) for pattern, value in PARAMETERS)
    return next(match.expand(value) for match, value in found if match)


def ranked(members: Mapping[str, Any], known: list[str], beside: str = "") -> list[str]:
    """Return the names that have a known word and none of NEITHER, the nearest to ``beside`` first, then the likeliest."""
    public = {name: set(words_of(name)) for name, one in members.items() if not name.startswith("_") and callable(one)}
    found = [name for name, words in public.items() if words & set(known) and not words & NEITHER]
    far = {name: len(public[name] ^ set(words_of(beside))) if beside else 0 for name in found}
    return sorted(found, key=lambda one: (far[one], min(map(known.index, public[one] & set(known))), len(one)))


class Way(NamedTuple):
    """A way to use a lock, as expressions: a block is only made, and a function that is given the work only asked."""

    made: str = ""
    asks: str = ""
    frees: str = ""
    is_async: bool = False

    def sub(self, old: str, new: str) -> Self:
        """Return it with a part replaced, which a pattern describes."""
        made, asks, frees = (re.sub(old, new, one) for one in (self.made, self.asks, self.frees))
        return self._replace(made=made, asks=asks, frees=frees)

    def use(self, granted: str, questions: Mapping[str, str]) -> str:
        """Return the function ``use``. granted: the condition of the work; empty if there is none. questions: by field."""
        made, asks, frees = (f"  # QUESTION: {questions[one]}" if one in questions else "" for one in ("made", "asks", "frees"))
        asyncs, awaits = ("async ", "await ") if self.is_async else ("", "")
        work = [f"{awaits}at.work()"]
        if self.frees:
            work = ["try:", f"    {work[0]}", "finally:", f"    {awaits}{self.frees}{frees}"]
        if granted:
            work = [f"if {granted}:", *(f"    {one}" for one in work)]
        if not self.asks:
            lines = [f"{asyncs}with {self.made}{' as got' if granted else ''}:{made}", *(f"    {one}" for one in work)]
        else:
            got = "got = " if self.frees and (granted or re.search(r"\bgot\b", self.frees)) else ""
            lines = [f"lock = {self.made}{made}"] if self.made else []
            lines += [f"{got}{awaits}{self.asks}{asks}", *(work if self.frees else [])]
        text = f"{asyncs}def use(at):\n" + "\n".join(f"    {one}" for one in lines)
        return re.sub(r"\block(?= = |\.)", "it", text) if re.match(r"lock\b", self.made) else text  # their lock is called lock


class Writer:
    """Writes the declaration of one lock."""

    def __init__(self, lock: str, module: Any, name: str, server: IdleServer) -> None:
        self.lock, self.module, self.name, self.server = lock, module, name, server
        self.names = {name: getattr(module, name)}  # the name that the file imports from the module
        self.way, self.granted = Way(), "got"  # granted: the condition of the work; empty if there is none
        self.questions: dict[str, str] = {}  # by the field of the way
        self.errors: set[type] = set()  # the types of errors that are answers
        self.store, self.key, self.ttl = "redis", "", f"{TTL_MS},  # what the lock promises"

    def call(self, words: str, function: Callable[..., Any], given: dict[str, str], answer: str = "") -> str:
        """Return a call with values for its parameters.

        given: the values that the lock has so far, by parameter; it grows. answer: in a release, the answer of acquire.
        """
        every = [one for one in plugins.signature(function).parameters.values() if one.name != "self"]
        means = {one: value_for(one.name) for one in every if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
        found, before = [], " ".join(given.values())
        has_ttl = "at.ttl" in " ".join([before, *means.values()])
        for one, meaning in means.items():
            value = meaning if meaning != "at.timeout" else "at.wait" if has_ttl else "at.ttl"
            needed, is_empty = one.default is one.empty, one.default is None or one.default in ("", [], (), {})
            kinds = (int, float) if value in NUMBERS else () if value.startswith("at.client") else (str,)
            may_be = value not in KEPT and value not in before and not answer and (is_empty or type(one.default) in kinds)
            if one.name in given:
                value = given[one.name]
            elif answer and (value not in ("at.client", "at.key") or one.name in ("lock", "mutex")):
                value = "at.token" if "at.token" in before else answer
            elif value in NUMBERS[:3]:
                value += "_ms" if re.search(r"(ms|millis|milliseconds|px)$", one.name.lower()) else "_s"
            if needed or may_be:
                given[one.name] = value or f'"{one.name}?"'
                found.append(f"{'' if needed and one.kind is not one.KEYWORD_ONLY else f'{one.name}='}{given[one.name]}")
        return f"{words}({', '.join(found)})"

    def ways(self) -> Iterator[Way]:
        """Yield the ways to use the lock that names propose, the likeliest first."""
        thing, given = self.names[self.name], dict[str, str]()
        if isinstance(thing, type):
            yield from self.ways_of(thing, self.call(self.name, thing, given), "lock.", given)
        elif callable(thing):
            self.names |= {one: value for one, value in vars(self.module).items() if inspect.isfunction(value)}
            yield from self.ways_of(self.module, "", "", given, [self.name])
        else:
            yield from self.ways_of(type(thing), "", f"{self.name}.", given)

    def ways_of(self, owner: Any, expression: str, prefix: str, given: dict[str, str], only: Sequence[str] = ()) -> Iterator[Way]:
        """Yield the ways of an object of a class, which an expression makes, or of a module, of which one function acquires."""
        members: dict[str, Any] = self.names if only else {name: getattr(owner, name, None) for name in dir(owner)}
        plain = {name: inspect.unwrap(one) for name, one in members.items() if callable(one)}
        blocks = {name for name, one in plain.items() if inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one)}
        frees = ranked(members, RELEASES)
        asks = [one for one in only or dict.fromkeys([*ranked(members, ACQUIRES), *sorted(blocks)]) if one not in frees]
        if frees and not asks:  # the answer of acquire
            yield Way("", expression, self.call(f"got.{frees[0]}", members[frees[0]], dict(given), "got"))
        for one in asks if frees else []:
            if one not in blocks:
                values, near = dict(given), ranked(members, RELEASES, one)[0]
                asked = self.call(f"{prefix}{one}", members[one], values)
                freed = self.call(f"{prefix}{near}", members[near], values, answer="got")
                yield Way(expression, asked, freed, inspect.iscoroutinefunction(members[one]))
        yield from (Way(expression, is_async=one == "__aenter__") for one in ("__enter__", "__aenter__") if one in members)
        for one in asks:
            values = dict(given)
            asked = self.call(f"{expression}.{one}" if expression else f"{prefix}{one}", members[one], values)
            if one in blocks:
                yield Way(asked, is_async=inspect.isasyncgenfunction(plain[one]))
            elif inspect.isroutine(found := self.value_of(asked)):  # a decorator, or the function that it has made
                asked = asked if "at.work" in asked else f"{asked}(at.work)"
                yield Way("", f"{asked}()", is_async=inspect.iscoroutinefunction(self.value_of(asked)))
            elif "at.work" in asked:
                yield Way("", asked, is_async=inspect.iscoroutine(found))
            elif type(found).__module__ != "builtins":
                yield from self.ways_of(type(found), asked, "lock.", values)

    def value_of(self, expression: str) -> Any:
        """Return the value of an expression, or its error."""
        scope = self.names | {"at": At(self.server.lock(len), str)}
        for changed in (expression, *(re.sub(*change, expression) for change in CHANGES)):
            if (result := done(partial(eval, changed, scope))).kind == "answer":
                break
        return result.what

    def look(self, way: Way, **how: Any) -> Looked:
        """Try a way to use the lock."""
        return self.server.look(way.use("saw(got)", {}), self.names, **how)

    def chosen(self) -> Looked:
        """Choose the way that works, or goes farthest, and return its trial."""
        best, until_s = Looked(CallResult("error")), time.monotonic() + LOOK_S
        for proposed in self.ways():
            way = proposed if "at.key" in "".join(proposed[:3]) else proposed.sub(UNKNOWN, "at.key")
            seen = self.look(way)
            if way != proposed and NAME not in seen.key:  # an unknown value is not the key
                way, seen = proposed, self.look(proposed)
            for changed in (way.sub(*change) for change in CHANGES):  # each applies to the result of the changes before it
                if changed != way and not seen.is_over:
                    again = self.look(changed)
                    way, seen = (changed, again) if again.score > seen.score else (way, seen)
            if self.way == Way() or seen.score > best.score:
                self.way, best = way, seen
            if seen.is_over or time.monotonic() > until_s:
                break
        return best

    def ask(self, field: str, question: str) -> None:
        """Ask at the line of a field of the way; at another one if that is empty."""
        field = next(one for one in (field, "made", "asks") if getattr(self.way, one))
        self.questions[field] = " ".join(f"{self.questions.get(field, '')} {question}".split())

    def correct(self) -> None:
        """Correct by trials the proposals from names, and ask the questions that stay open."""
        found = vars(self.module).values()
        used = {str(getattr(one, "__module__", "") or getattr(one, "__name__", "")).partition(".")[0] for one in found}
        if "redis" not in used and used & set(STORES):  # the imports name the lock's store
            self.store, expression, self.key = STORES[min(used & set(STORES))]
            self.way = next(self.ways(), Way(self.name)).sub("at.ttl_s", "at.wait_s").sub("at.key", expression)
            self.ttl = f"{TTL_MS},  # the TTL, or the timeout of its session"
            which = "Is each line right, also ttl_ms? Which errors are answers (errors=)?"
            self.ask("made", f"a lock in {self.store} is not tried. {which}")
            return
        seen = self.chosen()
        if self.way == Way():
            members = [one for one in dir(self.names[self.name]) if not one.startswith("_")]
            made = self.call(self.name, thing, {}) if isinstance(thing := self.names[self.name], type) else self.name
            self.way = Way(made, "lock.acquire()", "lock.release()")
            self.ask("made", f"how is it used? its methods are {', '.join(members) or 'none'}")
        elif not seen.end.kind and not re.search(UNKNOWN, "".join(self.way[:3])):
            self.ask("made", f"on an idle server: {seen.first.text}. What does the lock need?")
        elif seen.key and seen.end.kind != "answer":
            self.ask("frees", f"on an idle server: {seen.end.text}. How is the lock released?")
        if seen.end.kind in ("", "waits"):
            return
        if WAIT_MS - seen.passed_ms < seen.ttl_ms <= WAIT_MS:  # the parameter that is called a wait is the TTL
            self.way = self.way.sub(r"at\.wait", "at.ttl")
            seen = self.look(self.way)
        other = self.look(self.way, ttl_ms=OTHER_TTL_MS, key=OTHER_NAME)
        disturbed = self.look(self.way, is_disturbed=True)  # at last: the request that asked may get the lock yet
        if not disturbed.waited:  # it does not wait: it is asked again
            self.way = self.way.sub(WAITS, "")
        self.tell_grant(seen.first, disturbed.second)
        self.tell_key_and_ttl(seen, other)
        for said in (disturbed.second, disturbed.end):
            if said.kind == "error" and not isinstance(said.what, BUGS):
                self.errors.add(type(said.what))

    def tell_grant(self, first: CallResult, second: CallResult) -> None:
        """Find out which answers are grants. second: the answer while another request held the lock."""
        is_plain, types = isinstance(first.what, PLAIN), {type(first.what), type(second.what)}
        # two grants have the same answer, or two tokens; two numbers may be a yes and a no
        are_alike = is_plain and len(types) == 1 and (first.text == second.text or types != {int})
        if first.kind == "granted" or (not self.way.asks and first.text == "None"):
            self.granted = ""  # a block that is entered is a grant
        elif second.kind != "answer":
            self.granted = "got" if first.what and (self.way.asks or is_plain) else ""
        elif not first.what or (second.what and not are_alike):
            answers = f"it answered {first.text}, and {second.text} while another request held the lock"
            self.ask("asks", f"{answers}. Which of them is a grant?")

    def tell_key_and_ttl(self, seen: Looked, other: Looked) -> None:
        """Find out the name that the lock makes of its key, whether its TTL follows the given one, and in which steps.

        other: a trial with another key and another TTL.
        """
        calls = f"{self.way.made} {self.way.asks}"
        self.key = seen.key.replace("{", "{{").replace("}", "}}").replace(NAME, "{key}")
        if not seen.key and not self.server.store.info("persistence")["rdb_changes_since_last_save"]:
            self.ask("made", "it set no key: where does it keep the lock?")
        elif NAME not in seen.key and seen.key != other.key:
            self.ask("made", f"{seen.key!r} is its key for {NAME!r}. Which function makes it (key=)?")
        is_given, timeout = "at.ttl_" in calls, re.search(r"\w*time_?out\w*=at\.ttl_(?=m?s\b)", calls)
        if seen.ttl_ms > 0 and abs(seen.ttl_ms - other.ttl_ms) < seen.ttl_ms / 5:  # one that followed would be much longer
            fixed_ms = next(ms for step in STEPS_MS if (ms := -(-seen.ttl_ms // step) * step) <= seen.ttl_ms + seen.passed_ms)
            if timeout:
                self.way = self.way.sub(timeout[0], timeout[0].replace("ttl", "wait"))
            asked = f"QUESTION: it was given {TTL_MS}. Which TTL does it promise?" if is_given and not timeout else ""
            self.ttl = f"{fixed_ms},  # {asked or 'the TTL in its code'}\n    has_fixed_ttl=True,"
        elif is_given and (other.first.kind == "error" or (other.ttl_ms > 0 and -other.ttl_ms % 1000 < 250)):
            self.ttl = f"{TTL_MS},  # what the lock promises, in whole seconds\n    ttl_step_ms=1000,"
        elif seen.ttl_ms < 0 and not is_given:
            self.ttl = f"{TTL_MS},  # its key has no expiry: when others expect it to be free"

    def text(self, claims: str) -> str:
        """Return the declaration. claims: the lines with the lock's promises."""
        self.correct()
        for field, expression in zip(("made", "asks", "frees"), self.way, strict=False):
            for name in re.findall(UNKNOWN, str(expression)):
                self.ask(field, f"what is {name}?")
        use, module = self.way.use(self.granted, self.questions), self.module.__name__
        use = re.sub(r"(?m)(.*at\.text_client[^#\n]*)$", r"\1  # decode_responses=True: with bytes it did not work", use)
        mine = {one.__name__ for one in self.errors if one.__module__ == module}
        mine |= {name for name in self.names if re.search(rf"\b{re.escape(name)}\b", use)}
        imports = ["from app.foreign.declared import declared", "from app.lock import Stage, claims"]
        others = [one for one in self.errors if one.__module__ not in (module, "builtins")]
        imports += [f"from {one.__module__} import {one.__name__}" for one in others]
        if all(part.isidentifier() for part in module.split(".")):
            imports.append(f"from {module} import {', '.join(sorted(mine))}")
        else:  # a file such as 1_lock.py
            imports.append("from importlib import import_module")
            use = "".join(f'{name} = import_module("{module}").{name}\n' for name in sorted(mine)) + f"\n\n{use}"
        options = f", key={json.dumps(self.key)}" if self.key not in ("", "{key}") else ""
        options += f", errors=({', '.join(sorted(one.__name__ for one in self.errors))},)" if self.errors else ""
        options += ', leads_from="{}:{}"'.format(*min(self.server.came_from)) if self.server.came_from else ""
        if "at.host" in use and self.store == "redis" and self.key and not self.server.came_from:
            self.ttl += "\n    by_lane=True,  # its client is not redis-py's"
        about = {"lock": self.lock, "use": use, "options": options, "store": self.store, "ttl": self.ttl, "claims": claims}
        return TEXT.format(imports="\n".join([*sorted(imports), ""]), **about)


def main(lock: str, claims: str, folder: str, import_s: str) -> str:
    """Return the text of a declaration. import_s: for the import of the module. Raises LookupError."""
    name, _, wanted = lock.rpartition(":")
    sys.path.insert(0, folder)
    sockets = socket.socket
    with contextlib.ExitStack() as until:
        server = IdleServer(until)
        try:
            with plugins.limited(int(import_s)):
                is_ours = name.partition(".")[0] in yours.take(Path(folder))
                module = importlib.import_module(f"{yours.YOURS}.{name}" if is_ours else name)
        except BaseException as error:  # noqa: BLE001 - a user's module may raise anything, also SystemExit
            lines = [f" at {one.filename}:{one.lineno}" for one in extract_tb(error.__traceback__) if one.name == "<module>"]
            raise LookupError(f"{name} cannot be imported: {type(error).__name__}: {error}{''.join(lines[-1:])}") from None
        if socket.socket is not sockets:
            raise LookupError(f"{name} replaces the sockets of its process, as gevent does. Use lab new NAME --worker python")
        if not hasattr(module, wanted):
            choices = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
            raise LookupError(f"there is no {wanted!r}. {plugins.suggestion(wanted, choices)}")
        return Writer(lock, module, wanted, server).text(claims)


if __name__ == "__main__":
    end_with_parent()
    gc.disable()  # the end of an object of the lock can hang
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the output of the module is no part of the answer
    try:
        out.write(main(*sys.argv[1:]))
    except LookupError as error:
        sys.stderr.write(f"\n{' '.join(str(error).split())}\n")
    sys.stderr.flush()
    out.flush()
    os._exit(0)  # threads of the module go on

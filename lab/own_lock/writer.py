"""Write the declaration of a lock: the only place where the lab guesses what somebody's lock means.

A program of its own, which imports the module: ``python -m lab.own_lock.writer LOCK CLAIMS PORT FOLDER IMPORT_S``. Names propose
what each parameter and each method is; trials on an idle server correct that. What neither can tell becomes a question.
"""

from __future__ import annotations

import faulthandler
import importlib
import inspect
import json
import os
import re
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from app.foreign.declared import At, declared
from app.journal import Journal
from app.shelf.plugins import suggestion
from app.stores import lock_store
from lab.own_lock.trial import NAME, IdleServer, Keys, Said, Trial

TTL_MS, OTHER_TTL_MS, WAIT_MS, BRIEF_MS = 3000, 1700, 10_000, 500
WHOLE_MS = 1000
# what a parameter is, by what its name contains: the first that fits
MEANINGS = {
    "": r"prefix|namespace|suffix|count|times|retries|attempts|max_retr|thread_local",
    "wait": r"wait|block(ing)?_?time|acquire_?time|acquisition_?time",
    "retry": r"sleep|poll|retry_?(interval|delay|ms|after|sleep|pause)?(_ms|_s)?$|^spin",
    "ttl": r"ttl|expir|(?<!re)lease|lock_?time|life|hold|valid|release_?time|^p?ex$|duration",
    "timeout": r"time_?out",
    "hosts": r"hosts$",
    "url": r"url|dsn|uri",
    "host": r"host|addr",
    "port": r"port$",
    "token": r"token|owner|identifier|uuid|value|secret|holder|^mine$",
    "pool": r"pool",
    "client": r"redis|client|conn|rdb|store|server|nodes|masters|cache|backend|^r$|^db$|^cli$",
    "key": r"key|name|resource|lock|^id$|_id$|topic|subject",
}
VALUES = {
    "wait": "at.wait_s",
    "retry": "at.retry_s",
    "ttl": "at.ttl_s",
    "timeout": "at.ttl_s",
    "key": "at.key",
    "token": "at.token",
}
VALUES |= {
    "host": "at.host",
    "port": "at.port",
    "client": "at.client",
    "hosts": 'f"{at.host}:{at.port}"',
    "pool": "at.client.connection_pool",
}
VALUES |= {"url": 'f"redis://{at.host}:{at.port}"'}
TIMES = ("wait", "retry", "ttl", "timeout")
IN_MS = re.compile(r"(ms|millis|milliseconds|px)$")
# words of the names of what acquires and of what releases, the likeliest first; and of what does neither
ACQUIRES = ["acquire", "aquire", "obtain", "claim", "grab", "take", "enter", "try", "lock", "get", "set", "start"]
RELEASES = ["release", "unlock", "free", "remove", "delete", "drop", "leave", "exit", "clear", "unset", "stop"]
NEITHER = {"extend", "renew", "refresh", "check", "is", "has", "reacquire", "owned", "all", "info", "locked"}
# errors that are no answers of a lock
BUGS = {"TypeError", "AttributeError", "NameError", "ImportError", "ConnectionError", "ResponseError", "SystemExit"}
PASSED_MS = 400  # of a TTL, at most, until it was seen
STEPS_MS = (60_000, 10_000, 5000, 1000, 500, 100, 50, 10, 1)  # people choose a TTL on such a step

TEXT = '''"""{lock}, as the lab understands it. Correct what is wrong: this file is never written over."""
{imports}

{use}


STAGE = Stage(
    lock=declared(use{options}),
    store="redis",
    ttl_ms={ttl}
    claims=claims("""
{claims}
    """),
)
'''


class Looked(NamedTuple):
    """What one acquire and its release have shown, and another acquire while the lock was held."""

    first: Said
    second: Said = Said("waits")
    held: Keys = {}  # noqa: RUF012 - nobody changes it
    freed: tuple[str, ...] = ()
    end: Said = Said("waits")

    @property
    def key(self) -> str:
        """The key of the lock; empty if there was none."""
        return min(self.freed or self.held, key=lambda one: (NAME not in one, self.held[one][1] < 0, len(one)), default="")

    @property
    def ttl_ms(self) -> int:
        """What was left of the TTL of the key; -1 if it had none, 0 without a key."""
        return self.held[self.key][1] if self.key else 0


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a call that have a name."""
    found = inspect.signature(function).parameters.values()
    return [one for one in found if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) and one.name != "self"]


def words_of(name: str) -> list[str]:
    """Return the words of a name."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")


def meaning(name: str) -> str:
    """Return what a parameter is; empty if its name does not tell."""
    return next((what for what, pattern in MEANINGS.items() if re.search(pattern, "_".join(words_of(name)))), "")


def block(function: Any) -> bool | None:
    """Return whether what a decorator made a block of is of asyncio; None if it is no block."""
    inner = inspect.unwrap(function) if callable(function) else None
    return inspect.isasyncgenfunction(inner) if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner) else None


def may_be(what: str, default: object) -> bool:
    """Return whether an optional parameter can be what its name says."""
    kinds = {"key": (str,), "host": (str,), "url": (str,), "port": (int, str)} | dict.fromkeys(TIMES, (int, float, str))
    return what != "token" and (default is None or type(default) in kinds.get(what, ()))


def pair(members: Mapping[str, Any], acquire: str = "") -> tuple[str, str] | None:
    """Return the names of what acquires and what releases, among methods or functions. acquire: the one that is known."""

    def ranks(known: list[str]) -> dict[str, int]:
        """Return by name how likely it is such a one; the others are left out."""
        public = {name: set(words_of(name)) for name, one in members.items() if not name.startswith("_") and callable(one)}
        return {
            name: min(map(known.index, found & set(known)))
            for name, found in public.items()
            if found & set(known) and not found & NEITHER
        }

    frees = ranks(RELEASES)
    asks = {name: rank for name, rank in ranks(ACQUIRES).items() if name not in frees and acquire in ("", name)}
    if not frees or not asks:
        return None
    best = min(asks, key=lambda one: (asks[one], len(one)))
    others = {one: len(set(words_of(one)) ^ set(words_of(best))) for one in frees}  # words that only one of the two has
    return best, min(frees, key=lambda one: (frees[one], others[one]))


class Writer:
    """Writes the declaration of one lock. Its function ``use`` consists of a few expressions."""

    def __init__(self, lock: str, module: Any, name: str, server: IdleServer) -> None:
        self.lock, self.module, self.name, self.server = lock, module, name, server
        self.thing = getattr(module, name)
        self.names = {name: self.thing}  # what the file imports of the module
        self.made = self.asks = self.frees = ""  # what makes it, acquires and releases it; a block is only made
        self.granted = "{}"  # when an answer is a grant; empty if it always is
        self.is_async = False
        self.questions: dict[str, str] = {}  # by one of the expressions
        self.errors: set[tuple[str, str]] = set()  # that are answers: module and name
        self.given: set[str] = set()  # what the lock has been given
        self.came_from: set[tuple[str, int]] = set()  # the addresses of its connections
        self.key, self.ttl = "{key}", f"{TTL_MS},  # what the lock promises"

    def call(self, words: str, function: Callable[..., Any], answer: str = "") -> str:
        """Return a call with what its parameters ask for. answer: in a release, what stands for the answer of acquire."""
        found, unknown, parameters = [], [], parameters_of(function)
        meanings = self.given | {meaning(one.name) for one in parameters}
        for one in parameters:
            what, needed = meaning(one.name), one.default is one.empty
            if what == "timeout" and "ttl" in meanings:
                what = "wait"
            elif what == "token" and not answer and "key" not in meanings:
                what = "key"
            value = VALUES.get(what, "")
            if answer and (what not in ("client", "key") or one.name in ("lock", "mutex")):
                value = "at.token" if "token" in self.given else answer
            if what in TIMES and IN_MS.search(one.name.lower()):
                value = f"{value[:-1]}ms"
            if needed or (not answer and value and what not in self.given and may_be(what, one.default)):
                unknown += [] if value else [one.name]
                self.given.add(what)
                found.append(value or "..." if needed and one.kind is not one.KEYWORD_ONLY else f"{one.name}={value or '...'}")
        expression = f"{words}({', '.join(found)})"
        if unknown:
            self.questions[expression] = f"what is {' and what is '.join(unknown)}?"
        return expression

    def read_names(self) -> None:
        """Propose by names how the lock is used."""
        functions = {name: one for name, one in vars(self.module).items() if inspect.isroutine(one)}
        if (of_asyncio := block(self.thing)) is not None:
            self.made, self.is_async = self.call(self.name, self.thing), of_asyncio
        elif self.name in functions and (both := pair(functions, self.name)):
            self.names[both[1]] = functions[both[1]]
            self.use_pair(functions, both, "")
        else:
            self.made = self.call(self.name, self.thing)
            self.use_object()

    def use_pair(self, members: Mapping[str, Any], both: tuple[str, str], of: str) -> None:
        """Use two methods, or two functions."""
        self.asks = self.call(f"{of}{both[0]}", members[both[0]])
        self.frees = self.call(f"{of}{both[1]}", members[both[1]], answer="token")
        self.is_async = inspect.iscoroutinefunction(members[both[0]])

    def use_object(self) -> None:
        """Use what the call makes: an object of the class, or what the function returns."""
        kind = self.thing
        if not isinstance(kind, type) and not self.questions:
            lock = declared(len)(lock_store("redis", self.server.settings, Journal(None)), NAME, TTL_MS, TTL_MS, 0)
            try:
                kind = type(eval(self.made, self.scope(at=At(lock, str))))  # noqa: S307 - the call of the function that was just written
            except Exception as error:  # noqa: BLE001 - whatever somebody's function raises
                self.questions[self.made] = f"it raised {type(error).__name__}: {error}. How is the lock made?"
        members: dict[str, Any] = {name: getattr(kind, name, None) for name in dir(kind)}
        both, is_block = pair(members), bool({"__enter__", "__aenter__"} & set(members))
        blocks = [(name, found) for name, one in members.items() if (found := block(one)) is not None]
        if both and not (is_block and set(words_of(both[0])) & set(ACQUIRES[-3:])):
            self.use_pair(members, both, "lock.")
        elif is_block:
            self.is_async = "__enter__" not in members
        elif len(blocks) == 1:
            name, self.is_async = blocks[0]
            self.made = self.call(f"{self.made}.{name}", members[name])
        else:
            methods = [name for name in members if not name.startswith("_") and callable(members[name])]
            self.asks, self.frees = "lock.acquire()", "lock.release()"
            about = f"its methods are {', '.join(methods)}" if methods else f"{kind.__name__} has no methods"
            self.questions.setdefault(self.made, f"how is it used? {about}")

    def use(self, granted: str | None = None) -> str:
        """Return the function ``use``. granted: the condition of a trial."""
        granted = self.granted if granted is None else granted
        asyncs, awaits = ("async ", "await ") if self.is_async else ("", "")
        work, lines = f"{awaits}at.work()", [f"lock = {self._asked(self.made)}"] if self.made and self.asks else []
        if not self.asks:
            made, _, question = self._asked(self.made).partition("  #")
            lines += [f"{asyncs}with {made}{' as got' if granted else ''}:{question and f'  #{question}'}"]
            lines += [f"    if {granted.format('got')}:", f"        {work}"] if granted else [f"    {work}"]
        else:
            asked, body = f"{awaits}{self.asks}", ["try:", f"    {work}", "finally:", f"    {awaits}{self._asked(self.frees)}"]
            if "token" in self.frees.replace("at.token", ""):
                lines, asked = [*lines, f"token = {awaits}{self._asked(self.asks)}"], "token"
            elif not granted or self.asks in self.questions:
                lines += [f"{'granted = ' if granted else ''}{awaits}{self._asked(self.asks)}"]
                asked = "granted"
            lines += [f"if {granted.format(asked)}:", *(f"    {one}" for one in body)] if granted else body
        return f"{asyncs}def use(at):\n" + "\n".join(f"    {one}" for one in lines)

    def _asked(self, expression: str) -> str:
        return f"{expression}  # QUESTION: {self.questions[expression]}" if expression in self.questions else expression

    def scope(self, **more: Any) -> dict[str, Any]:
        """Return the names that the expressions need."""
        return self.names | more

    def change(self, old: str, new: str) -> bool:
        """Replace a part of the expressions. Return whether there was one."""
        before = self.made, self.asks, self.frees
        self.made, self.asks, self.frees = (one.replace(old, new) for one in before)
        return before != (self.made, self.asks, self.frees)

    def look(self, ttl_ms: int = TTL_MS, is_lost: bool = False) -> Looked:
        """Acquire the lock, ask for it in another process as well, and release it. is_lost: the store loses it before that."""

        def lock(saw: Callable[[Any], bool]) -> Any:
            scope = self.scope(saw=saw)
            exec(self.use("saw({})"), scope)  # noqa: S102 - the function that was just written
            return declared(scope["use"])

        self.server.store.flushall()
        with Trial(self.server, lock, ttl_ms, WAIT_MS) as holder:
            first = holder.next()
            if first.kind != "answer" or holder.next().kind != "granted":
                return Looked(first)
            held, second = self.server.keys(), first
            if is_lost:
                self.server.store.flushall()
            elif ttl_ms == TTL_MS:
                with Trial(self.server, lock, ttl_ms, BRIEF_MS) as other:
                    second = other.next(BRIEF_MS / 1000 + 0.3)
            end = holder.go_on()
            self.came_from |= set(holder.came_from)
            return Looked(first, second, held, self.server.freed(held), end)

    def correct(self) -> None:
        """Correct by trials what names have proposed."""
        seen = self.look()
        if seen.first.kind != "answer":
            self.questions[self.made or self.asks] = f"on an idle server: {seen.first.text}. What does the lock need?"
            return
        if 0 <= seen.ttl_ms < TTL_MS // 100:
            seen = self.better("at.ttl_s", "at.ttl_ms", seen, lambda new: new.ttl_ms > TTL_MS // 2)
        if not seen.freed:
            seen = self.better("at.client", "at.text_client", seen, lambda new: bool(new.freed))
        if seen.held and seen.end.kind == "error" and not seen.second.truth:  # who was let in as well may have its key
            self.questions[self.frees or self.made] = f"on an idle server: {seen.end.text}. How is the lock released?"
        self.tell_key(seen)
        self.tell_ttl(seen)
        self.tell_grant(seen)
        for error in (seen.second, self.look(is_lost=True).end):
            if error.kind == "error" and not BUGS & {one.rpartition(":")[2] for one in error.types}:
                self.errors.add((error.types[0].partition(":")[0], error.types[0].partition(":")[2]))

    def better(self, old: str, new: str, seen: Looked, is_good: Callable[[Looked], bool]) -> Looked:
        """Return a look with a part replaced if that is good, or else the one of before."""
        if self.change(old, new):
            again = self.look()
            if is_good(again):
                return again
            self.change(new, old)
        return seen

    def tell_grant(self, seen: Looked) -> None:
        """Find out which answers are grants."""
        first, second = seen.first, seen.second
        if not self.asks and (not first.is_plain or first.text == "None"):
            self.granted = ""  # a block that is entered is a grant
        elif second.kind != "answer":
            self.granted = "{}" if first.truth else ""
        elif not first.truth or (second.truth and not _are_tokens(first, second)):
            answers = f"it answered {first.text}, and {second.text} while another request held the lock"
            self.questions[self.asks or self.made] = f"{answers}. Which of them is a grant?"

    def tell_key(self, seen: Looked) -> None:
        """Find the key of the lock."""
        if seen.key:
            self.key = seen.key.replace("{", "{{").replace("}", "}}").replace(NAME, "{key}")
        elif not self.server.store.info("persistence")["rdb_changes_since_last_save"]:
            self.questions[self.made or self.asks] = "it set no key: where does it keep the lock?"

    def tell_ttl(self, seen: Looked) -> None:
        """Find out whether the TTL follows what the lock is given, and in which steps."""
        calls = f"{self.made} {self.asks}"
        is_given, timeout = "at.ttl_" in calls, re.search(r"\w*time_?out\w*=at\.ttl_(?=m?s\b)", calls)
        other = self.look(OTHER_TTL_MS)
        if seen.ttl_ms > 0 and abs(seen.ttl_ms - other.ttl_ms) < seen.ttl_ms / 5:  # one that followed would be much shorter
            ends_ms = {step: -(-seen.ttl_ms // step) * step for step in STEPS_MS}
            fixed_ms = next(one for one in ends_ms.values() if one <= seen.ttl_ms + PASSED_MS)
            if timeout:
                self.change(timeout[0], timeout[0].replace("ttl", "wait"))
            is_question = is_given and not timeout
            why = f"QUESTION: it was given {TTL_MS}. Which TTL does it promise?" if is_question else "the TTL in its code"
            self.ttl = f"{fixed_ms},  # {why}\n    has_fixed_ttl=True,"
        elif is_given and (other.first.kind == "error" or (other.ttl_ms > 0 and -other.ttl_ms % WHOLE_MS < PASSED_MS // 2)):
            self.ttl = f"{TTL_MS},  # what the lock promises, in whole seconds\n    ttl_step_ms={WHOLE_MS},"
        elif seen.ttl_ms < 0 and not is_given:
            self.ttl = f"{TTL_MS},  # its key has no expiry: when others expect it to be free"

    def text(self, claims: str) -> str:
        """Return the declaration. claims: the lines of what the lock promises."""
        self.read_names()
        if not self.questions:
            self.correct()
        use, module = self.use(), self.module.__name__
        mine = sorted({*self.names, *(name for of, name in self.errors if of == module)})
        imports = ["from app.foreign.declared import declared", "from app.lock import Stage, claims"]
        imports += [f"from {of} import {name}" for of, name in self.errors if of not in (module, "builtins")]
        if all(part.isidentifier() for part in module.split(".")):
            lines = ["", *sorted([*imports, f"from {module} import {', '.join(mine)}"]), ""]
        else:  # a file such as 1_lock.py
            lines = ["", "from importlib import import_module", "", *sorted(imports), ""]
            lines += [*(f'{name} = import_module("{module}").{name}' for name in mine), ""]
        options = f", key={json.dumps(self.key)}" if self.key != "{key}" else ""
        options += f", errors=({', '.join(sorted(name for _, name in self.errors))},)" if self.errors else ""
        own = self.came_from - {("127.0.0.1", self.server.get(("", 0))[1])}
        options += ', leads_from="{}:{}"'.format(*min(own)) if own else ""
        if "at.host" in use and not self.came_from:
            self.ttl += "\n    by_lane=True,  # its client is not redis-py's"
        texts = {"imports": "\n".join(lines), "use": use, "options": options, "ttl": self.ttl}
        return TEXT.format(lock=self.lock, claims=claims, **texts)


def _are_tokens(first: Said, second: Said) -> bool:
    """Return whether two true answers are grants both: the same one, or two tokens. Two numbers may be a yes and a no."""
    return first.is_plain and first.types == second.types and (first.text == second.text or "builtins:int" not in first.types)


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
        return {
            "error": f"{name} replaces the sockets of its process, as gevent does. Use a worker: lab new NAME --worker python"
        }
    if not callable(getattr(module, wanted, None)):
        choices = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
        return {"error": f"there is no class or function {wanted!r}. {suggestion(wanted, choices)}"}
    return {"text": Writer(lock, module, wanted, server).text(claims)}


if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the module prints is no part of the answer
    out.write(json.dumps(main(*sys.argv[1:])))
    out.flush()
    os._exit(0)  # threads of the module go on

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
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from app.foreign.declared import At, declared
from app.journal import Journal
from app.shelf.plugins import suggestion
from app.stores import lock_store
from lab.own_lock.trial import NAME, OTHER_NAME, IdleServer, Keys, Said, Trial

TTL_MS, OTHER_TTL_MS, WAIT_MS, BRIEF_MS = 3000, 8700, 10_000, 1000  # no TTL is near the other, nor near its double
# what a parameter is, by what its name contains: the first that fits. What it is given, and the types of a default that it may
# replace, besides None; of a last None it is given only to a parameter without a default
PARAMETERS: dict[str, tuple[str, str, tuple[type, ...] | None]] = {
    "text": (r"prefix|namespace|suffix", '"lab"', None),
    "": (r"count|times|retries|attempts|max_retr|thread_local", "", None),
    "work": (r"^(func|function|fn|f|callback|wrapped)$", "at.work", None),
    "wait": (r"wait|block(ing)?_?time|acquire_?time|acquisition_?time", "at.wait_s", (int, float, str)),
    "retry": (r"sleep|poll|retry_?(interval|delay|ms|after|sleep|pause)?(_ms|_s)?$|^spin", "at.retry_s", (int, float, str)),
    "ttl": (r"ttl|expir|(?<!re)lease|lock_?time|life|hold|valid|release_?time|^(e|p|pe)x$|durat", "at.ttl_s", (int, float, str)),
    "timeout": (r"time_?out", "at.ttl_s", (int, float, str)),
    "hosts": (r"hosts$", 'f"{at.host}:{at.port}"', ()),
    "url": (r"url|dsn|uri", 'f"redis://{at.host}:{at.port}"', (str,)),
    "host": (r"host|addr", "at.host", (str,)),
    "port": (r"port$", "at.port", (int, str)),
    "token": (r"token|owner|identifier|uuid|value|secret|holder|^mine$", "at.token", None),
    "pool": (r"pool", "at.client.connection_pool", ()),
    "client": (r"redis|client|conn|rdb|store|server|nodes|masters|cache|backend|^r$|^db$|^cli$", "at.client", ()),
    "key": (r"key|name|resource|lock|^id$|_id$|topic|subject", "at.key", (str,)),
}
WAITS = r", \w+=at\.wait_m?s|(?<=\()\w+=at\.wait_m?s(?:, )?"  # what can be left out of a call
IN_MS = re.compile(r"(ms|millis|milliseconds|px)$")
# words of the names of what acquires and of what releases, the likeliest first; and of what does neither
ACQUIRES = ["acquire", "aquire", "obtain", "claim", "grab", "take", "enter", "try", "lock", "get", "set", "start"]
RELEASES = ["release", "unlock", "free", "remove", "delete", "del", "drop", "leave", "exit", "clear", "unset", "stop"]
NEITHER = {"extend", "renew", "refresh", "check", "is", "has", "reacquire", "owned", "all", "info", "locked"}
# errors that are no answers of a lock
BUGS = re.compile(r":((Type|Attribute|Name|Import|Connection|Response)Error|SystemExit|NotAcquired)$")
PASSED_MS = 400  # of a TTL, at most, until it was seen
# libraries of other stores, by which the lab knows a lock that is not in Redis; and how they name a key
STORES = {"kazoo": "zookeeper", "pymysql": "mysql", "psycopg": "postgresql", "etcd3gw": "etcd"}
KEYS = {"zookeeper": ('"/" + at.key', "/{key}"), "mysql": ("at.key[-64:]", "")}
STEPS_MS = (60_000, 10_000, 5000, 1000, 500, 100, 50, 10, 1)  # people choose a TTL on such a step

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


class Looked(NamedTuple):
    """What one acquire and its release have shown, and another acquire while the lock was held."""

    first: Said
    second: Said = Said("waits")
    held: Keys = {}  # noqa: RUF012 - nobody changes it
    freed: tuple[str, ...] = ()
    end: Said = Said("waits")
    waited: bool = False  # whether the other waited by itself

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


def takes_work(function: Callable[..., Any]) -> bool:
    """Return whether a function is given the work."""
    return "work" in (meaning(one.name) for one in parameters_of(function))


def words_of(name: str) -> list[str]:
    """Return the words of a name."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")


def meaning(name: str) -> str:
    """Return what a parameter is; empty if its name does not tell."""
    return next((what for what, (pattern, *_) in PARAMETERS.items() if re.search(pattern, "_".join(words_of(name)))), "")


def block(function: Any) -> bool | None:
    """Return whether what a decorator made a block of is of asyncio; None if it is no block."""
    inner = inspect.unwrap(function) if callable(function) else None
    return inspect.isasyncgenfunction(inner) if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner) else None


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
        # what makes it, acquires and releases it: a block is only made, and a function that is given the work only asked
        self.made = self.asks = self.frees = ""
        self.granted = "{}"  # when an answer is a grant; empty if it always is
        self.is_async = False
        self.questions: dict[str, str] = {}  # by one of the expressions
        self.errors: set[tuple[str, str]] = set()  # that are answers: module and name
        self.given: dict[str, str] = {}  # what the lock has been given, by the names of its parameters
        self.told: set[str] = set()  # and what that means
        self.came_from: set[tuple[str, int]] = set()  # the addresses of its connections
        self.store, self.key, self.ttl = "redis", "", f"{TTL_MS},  # what the lock promises"

    def call(self, words: str, function: Callable[..., Any], answer: str = "") -> str:
        """Return a call with what its parameters ask for. answer: in a release, what stands for the answer of acquire."""
        found, unknown, parameters = [], [], parameters_of(function)
        meanings = self.told | {meaning(one.name) for one in parameters}
        for one in parameters:
            what, needed = meaning(one.name), one.default is one.empty
            if what == "timeout" and "ttl" in meanings:
                what = "wait"
            elif needed and what in ("token", "text") and not answer and "key" not in meanings:
                what = "key"
            _, value, kinds = PARAMETERS[what]
            if answer and one.name in self.given:
                value = self.given[one.name]
            elif answer and (what not in ("client", "key") or one.name in ("lock", "mutex")):
                value = "at.token" if "at.token" in self.given.values() else answer
            elif value.endswith("_s") and IN_MS.search(one.name.lower()):
                value = f"{value[:-1]}ms"
            may_be = kinds is not None and (one.default is None or type(one.default) in kinds)
            if needed or (may_be and not answer and what not in self.told):
                unknown += [] if value else [one.name]
                self.told.add(what)
                self.given[one.name] = value = value or '"lab"'
                found.append(self.given[one.name] if needed and one.kind is not one.KEYWORD_ONLY else f"{one.name}={value}")
        expression = f"{words}({', '.join(found)})"
        if unknown:
            self.ask(expression, f"what is {' and what is '.join(unknown)}?")
        return expression

    def read_names(self) -> None:
        """Propose by names how the lock is used."""
        functions = {name: one for name, one in vars(self.module).items() if inspect.isfunction(one) and not takes_work(one)}
        if not callable(self.thing):
            self.use_object(type(self.thing), self.name, f"{self.name}.")
        elif (of_asyncio := block(self.thing)) is not None:
            self.made, self.is_async = self.call(self.name, self.thing), of_asyncio
        elif self.name in functions and (both := pair(functions, self.name)):
            self.names[both[1]] = functions[both[1]]
            self.use_pair(functions, both, "")
        else:
            made = self.call(self.name, self.thing)
            self.use_object(self.thing if isinstance(self.thing, type) else self.kind_of(made), made)

    def kind_of(self, made: str) -> Any:
        """Call an expression. Return the class of the object that it returns; if it returns a function, return that function."""
        lock = declared(len)(lock_store("redis", self.server.settings, Journal(None)), NAME, TTL_MS, TTL_MS, 0)
        try:
            found = eval(made, self.names | {"at": At(lock, str)})  # noqa: S307 - it was just written
        except Exception as error:  # noqa: BLE001 - whatever somebody's function raises
            self.ask(made, f"it raised {type(error).__name__}: {error}. How is the lock made?")
            found = None
        return found if inspect.isroutine(found) else type(found)

    def use_pair(self, members: Mapping[str, Any], both: tuple[str, str], of: str) -> None:
        """Use two methods, or two functions."""
        self.asks = self.call(f"{of}{both[0]}", members[both[0]])
        self.frees = self.call(f"{of}{both[1]}", members[both[1]], answer="got")
        self.is_async = inspect.iscoroutinefunction(members[both[0]])

    def use_object(self, kind: Any, made: str, of: str = "lock.") -> None:
        """Use an object of a class, or a function that another has made. made: the call that makes it. of: its name."""
        if inspect.isroutine(kind):
            made = made if "at.work" in made else f"{made}(at.work)"
            self.asks, self.is_async = f"{made}()", inspect.iscoroutinefunction(self.kind_of(made))
            return
        if "at.work" in made:
            self.asks, self.is_async = made, inspect.iscoroutinefunction(self.thing)
            return
        members: dict[str, Any] = {name: getattr(kind, name, None) for name in dir(kind)}
        both, is_block = pair(members), bool({"__enter__", "__aenter__"} & set(members))
        blocks = [name for name, one in members.items() if block(one) is not None]
        methods = [name for name in members if not name.startswith("_") and callable(members[name])]
        makers = [name for name in methods if "lock" in words_of(name)]
        if both:
            self.made = made if of == "lock." else ""
            self.use_pair(members, both, of)
        elif is_block:
            self.made, self.is_async = made, "__enter__" not in members
        elif len(blocks) == 1:
            self.made, self.is_async = self.call(f"{made}.{blocks[0]}", members[blocks[0]]), bool(block(members[blocks[0]]))
        elif len(makers) == 1:
            made = self.call(f"{made}.{makers[0]}", members[makers[0]])
            self.use_object(self.kind_of(made), made)
        else:
            self.made, self.asks, self.frees = made, "lock.acquire()", "lock.release()"
            about = f"its methods are {', '.join(methods)}" if methods else f"{kind.__name__} has no methods"
            self.ask(made, f"how is it used? {about}")

    def use(self, granted: str | None = None) -> str:
        """Return the function ``use``. granted: the condition of a trial."""
        granted = self.granted if granted is None else granted
        asyncs, awaits = ("async ", "await ") if self.is_async else ("", "")
        work, if_granted = f"{awaits}at.work()", f"if {granted.format('got')}:"
        if not self.asks:
            made, _, question = self._asked(self.made).partition("  #")
            lines = [f"{asyncs}with {made}{' as got' if granted else ''}:{question and f'  #{question}'}"]
            lines += [f"    {if_granted}", f"        {work}"] if granted else [f"    {work}"]
        elif not self.frees:
            lines = [f"{awaits}{self._asked(self.asks)}"]
        else:
            lines = [f"lock = {self._asked(self.made)}"] if self.made else []
            got = "got = " if granted or re.search(r"\bgot\b", self.frees) else ""
            body = ["try:", f"    {work}", "finally:", f"    {awaits}{self._asked(self.frees)}"]
            lines += [f"{got}{awaits}{self._asked(self.asks)}"]
            lines += [if_granted, *(f"    {one}" for one in body)] if granted else body
        return f"{asyncs}def use(at):\n" + "\n".join(f"    {one}" for one in lines)

    def _asked(self, expression: str) -> str:
        return f"{expression}  # QUESTION: {self.questions[expression]}" if expression in self.questions else expression

    def ask(self, expression: str, question: str) -> None:
        """Ask at the line of an expression, besides what is asked there."""
        self.questions[expression] = " ".join(f"{self.questions.get(expression, '')} {question}".split())

    def change(self, old: str, new: str) -> bool:
        """Replace a part of the expressions. Return whether there was one."""
        before = self.made, self.asks, self.frees
        self.made, self.asks, self.frees = (one.replace(old, new) for one in before)
        self.questions = {one.replace(old, new): question for one, question in self.questions.items()}
        return before != (self.made, self.asks, self.frees)

    def look(self, ttl_ms: int = TTL_MS, is_lost: bool = False, is_asked: bool = False, key: str = NAME) -> Looked:
        """Acquire the lock and release it. is_lost: the store loses it before that. is_asked: another process asks for it."""

        def lock(saw: Callable[[Any], bool]) -> Any:
            scope = self.names | {"saw": saw}
            exec(self.use("saw({})"), scope)  # noqa: S102 - the function that was just written
            return declared(scope["use"])

        self.server.store.flushall()
        with Trial(self.server, lock, key, ttl_ms, WAIT_MS) as holder:
            first = holder.next()
            if first.kind not in ("answer", "granted") or (first.kind == "answer" and holder.next().kind != "granted"):
                return Looked(first)
            held, second, asked_s = self.server.held(), first, time.monotonic()
            if is_lost:
                self.server.store.flushall()
            if is_asked:
                with Trial(self.server, lock, key, ttl_ms, BRIEF_MS) as other:
                    second = other.next(BRIEF_MS / 1000 + 0.3)
            waited_s = time.monotonic() - asked_s
            holder.pipe.send(None)
            end = holder.next()
            self.came_from |= set(holder.came_from)
            return Looked(first, second, held, self.server.freed(held), end, waited_s > 0.8 * BRIEF_MS / 1000)

    def correct(self) -> None:
        """Correct by trials what names have proposed."""
        seen = self.look()
        if seen.first.kind not in ("answer", "granted"):
            self.not_tried(f"on an idle server: {seen.first.text}. What does the lock need?")
            return
        if 0 <= seen.ttl_ms < TTL_MS // 100:
            seen = self.better("at.ttl_s", "at.ttl_ms", seen, lambda new: new.ttl_ms > TTL_MS // 2)
        if not seen.freed:
            self.better("at.client", "at.text_client", seen, lambda new: bool(new.freed))
        seen = self.look(is_asked=True)
        if seen.held and seen.end.kind == "error" and not seen.second.truth:  # who was let in as well may have its key
            self.ask(self.frees or self.made, f"on an idle server: {seen.end.text}. How is the lock released?")
        if not seen.waited:  # it does not wait: it is asked again
            for one in re.findall(WAITS, f"{self.made} {self.asks}"):
                self.change(one, "")
        self.tell_key_and_ttl(seen)
        self.tell_grant(seen)
        for error in (seen.second, self.look(is_lost=True).end):
            if error.kind == "error" and not any(map(BUGS.search, error.types)):
                self.errors.add((error.types[0].partition(":")[0], error.types[0].partition(":")[2]))

    def better(self, old: str, new: str, seen: Looked, is_good: Callable[[Looked], bool]) -> Looked:
        """Replace a part if what is then seen is good, and return what is seen."""
        if self.change(old, new):
            if is_good(again := self.look()):
                return again
            self.change(new, old)
        return seen

    def tell_grant(self, seen: Looked) -> None:
        """Find out which answers are grants."""
        first, second = seen.first, seen.second
        # two grants have the same answer, or two tokens; two numbers may be a yes and a no
        are_alike = first.types == second.types and (first.text == second.text or "builtins:int" not in first.types)
        if first.kind == "granted" or (not self.asks and (not first.is_plain or first.text == "None")):
            self.granted = ""  # a block that is entered is a grant
        elif second.kind != "answer":
            self.granted = "{}" if first.truth else ""
        elif not first.truth or (second.truth and not (first.is_plain and are_alike)):
            answers = f"it answered {first.text}, and {second.text} while another request held the lock"
            self.ask(self.asks or self.made, f"{answers}. Which of them is a grant?")

    def tell_key_and_ttl(self, seen: Looked) -> None:
        """Find out what the lock makes of its key, and whether its TTL follows what it is given, and in which steps."""
        calls, other = f"{self.made} {self.asks}", self.look(OTHER_TTL_MS, key=OTHER_NAME)
        self.key = seen.key.replace("{", "{{").replace("}", "}}").replace(NAME, "{key}")
        if not seen.key and not self.server.store.info("persistence")["rdb_changes_since_last_save"]:
            self.not_tried("it set no key: where does it keep the lock?")
        elif NAME not in seen.key and seen.key != other.key:
            self.ask(self.made or self.asks, f"{seen.key!r} is its key for {NAME!r}. Which function makes it (key=)?")
        is_given, timeout = "at.ttl_" in calls, re.search(r"\w*time_?out\w*=at\.ttl_(?=m?s\b)", calls)
        if seen.ttl_ms > 0 and abs(seen.ttl_ms - other.ttl_ms) < seen.ttl_ms / 5:  # one that followed would be much longer
            ends_ms = {step: -(-seen.ttl_ms // step) * step for step in STEPS_MS}
            fixed_ms = next(one for one in ends_ms.values() if one <= seen.ttl_ms + PASSED_MS)
            if timeout:
                self.change(timeout[0], timeout[0].replace("ttl", "wait"))
            asked = f"QUESTION: it was given {TTL_MS}. Which TTL does it promise?" if is_given and not timeout else ""
            self.ttl = f"{fixed_ms},  # {asked or 'the TTL in its code'}\n    has_fixed_ttl=True,"
        elif is_given and (other.first.kind == "error" or (other.ttl_ms > 0 and -other.ttl_ms % 1000 < PASSED_MS // 2)):
            self.ttl = f"{TTL_MS},  # what the lock promises, in whole seconds\n    ttl_step_ms=1000,"
        elif seen.ttl_ms < 0 and not is_given:
            self.ttl = f"{TTL_MS},  # its key has no expiry: when others expect it to be free"

    def not_tried(self, why: str) -> None:
        """Ask about a lock that did nothing in Redis: one in another store is not tried. why: the question if it is not."""
        store = next((one for library, one in STORES.items() if library in sys.modules), "")
        if store:
            self.store, why = store, f"a lock in {store} is not tried. Is each line right?"
            self.change("at.ttl_s", "at.wait_s")
            expression, self.key = KEYS.get(store, ("at.key", ""))
            self.change("at.key", expression)
            if "at.ttl" not in self.use():
                self.ttl = f"{TTL_MS},  # QUESTION: which TTL or session timeout is in its code?\n    has_fixed_ttl=True,"
        if store or not self.questions:
            self.ask(self.made or self.asks, why)

    def text(self, claims: str) -> str:
        """Return the declaration. claims: the lines of what the lock promises."""
        self.read_names()
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
        options = f", key={json.dumps(self.key)}" if self.key not in ("", "{key}") else ""
        options += f", errors=({', '.join(sorted(name for _, name in self.errors))},)" if self.errors else ""
        own = self.came_from - {self.server.address}
        options += ', leads_from="{}:{}"'.format(*min(own)) if own else ""
        if "at.host" in use and self.store == "redis" and self.key and not self.came_from:
            self.ttl += "\n    by_lane=True,  # its client is not redis-py's"
        about = {"lock": self.lock, "use": use, "options": options, "store": self.store, "ttl": self.ttl, "claims": claims}
        return TEXT.format(imports="\n".join(lines), **about)


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

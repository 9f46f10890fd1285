"""Compute the parts of a page for a state: each client with its next line, the keys of the lock's store, and the code."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from lab.explore.code.operation import COUNTER, LOST, Choice, CommandSent, Listen, Nap, Operation, Until
from lab.explore.code.program import Program
from lab.explore.code.tree import Node
from lab.explore.search.ghosts import ASKS, OVER, RELEASES, WORKS, Hold
from lab.explore.search.harm import Why
from lab.explore.search.in_words import in_words, reply_in_words
from lab.explore.search.state import DEAD, PAUSED, State
from lab.explore.search.world import World
from lab.explore.store.real_redis import Contents, loading
from lab.explore.store.resp import whole
from lab.explore.story.scenes import counted
from lab.language import Language
from lab.story import say

WAITING = "waiting"
PHASES = {ASKS: WAITING, WORKS: "inside", RELEASES: "releasing", OVER: "releasing"}  # while the client's request goes on
READS = {  # by type of a key: the command that reads its whole value
    b"string": ("GET",),
    b"hash": ("HGETALL",),
    b"list": ("LRANGE", 0, -1),
    b"set": ("SMEMBERS",),
    b"zset": ("ZRANGE", 0, -1, "WITHSCORES"),
}


class ThreadWait(NamedTuple):
    """The wait of one thread."""

    # the number of the thread in its replica; 0 serves the request
    thread: int
    # command, moment, nap, message, choice, or over
    kind: str
    # the command in words
    command: str = ""
    # the line of the stage's file; 0 if another file sends the command
    line: int = 0
    # the line of the resource's file; 0 outside the work
    work_line: int = 0
    # the moment that ends the wait; 0 without one
    at_ms: int = 0


class Pane(NamedTuple):
    """One client."""

    # waiting, inside, releasing, or how the request ended
    phase: str
    # runs, paused or dead
    mode: str
    threads: tuple[ThreadWait, ...]
    # the last reply; empty before the first
    answer: str
    # why a client in its work does not hold the lock any more; empty while it does
    truth: str


class ShownKey(NamedTuple):
    """One key of a server."""

    name: str
    value: str
    # 0 if the key does not expire
    ttl_ms: int
    # the client that made it; -1 if no client did
    owner: int


class CodeLine(NamedTuple):
    """A line of code."""

    number: int
    text: str
    # whether the line sends a command in some state of the page, or begins a function with a line that does
    matters: bool = False
    # the words that all its commands have in common; only for lines of the work
    brief: str = ""


class Board:
    """Computes the parts of a page for the states of one world, in a language."""

    def __init__(self, world: World, language: Language) -> None:
        self.world, self.program, self.language = world, world.program, language
        self._token = partial(say.token, language=language)
        self.count = cache(partial(counted, world))  # the value of the counter in a state of its store
        self._values = cache(self._read)
        self.words = cache(self._in_words)
        self._work = work_lines(world.program)

    def pane(self, state: State, client: int) -> Pane:
        """Return the pane of a client."""
        node = self.world.node(state, client)
        mode = {DEAD: "dead", PAUSED: "paused"}.get(state.modes[client], "runs")
        answer = self._answer(node)
        waits = [(number, each) for number, each in enumerate(node.pending) if number == 0 or each]
        threads = tuple(self._wait(number, operation, node) for number, operation in waits)
        return Pane(
            self.phase(state, client),
            mode,
            threads,
            answer,
            self._truth(state.ghosts.actors[client].hold, state.now_ms, bool(node.inside)),
        )

    def _truth(self, hold: Hold | None, now_ms: int, inside: bool) -> str:
        why = hold.at(now_ms).why if hold is not None and inside else Why.ENTITLED
        return say.truth(why.value, self.language)

    def _answer(self, node: Node) -> str:
        """Return the last reply; "nil" if only time has passed."""
        if not node.inputs:
            return ""
        result = node.inputs[-1].result
        if result is LOST:
            return say.text("scheduler", "no_reply", self.language)
        return self.reply(whole(result) if isinstance(result, bytes) else result if isinstance(result, tuple) else None)

    def phase(self, state: State, client: int) -> str:
        """Return the phase of a client's request, or how the request ended."""
        node = self.world.node(state, client)
        if (how := node.ended[0]) and state.modes[client] != DEAD:
            return "done" if how == "ok" else how
        return PHASES[state.ghosts.actors[client].phase]

    def _wait(self, thread: int, operation: Operation | None, node: Node) -> ThreadWait:
        match operation:
            case CommandSent():
                work = self._work[bool(node.writing)] if operation.server == COUNTER else 0
                own = operation.line if operation.file == str(self.program.path) else 0
                return ThreadWait(thread, "command", self.words(operation), own, work)
            case Until(at_ms):
                return ThreadWait(thread, "moment", at_ms=at_ms or 0)
            case Nap():
                return ThreadWait(thread, "nap")
            case Listen(at_ms, _):
                return ThreadWait(thread, "message", at_ms=at_ms or 0)
            case Choice():
                return ThreadWait(thread, "choice")
            case _:
                return ThreadWait(thread, "over")

    def _in_words(self, command: CommandSent) -> str:
        """Return a command in words: tokens have their names in the language."""
        return in_words(self.program, command, self._token)

    def short(self, command: CommandSent) -> str:
        """Return the name of a script, or the first two words of a command."""
        name, _, others = self.words(command).partition(" ")
        return name.partition("(")[0] if "(" in name else f"{name} {others.partition(' ')[0]}"

    def reply(self, reply: Any) -> str:
        """Return a reply in words."""
        return reply_in_words(self.program, reply, self._token)

    def keys(self, state: State, is_lock: bool) -> tuple[ShownKey, ...]:
        """Return the keys of the lock's store, or of the counter's store, whose keys have no owner."""
        contents = self.world.lock.contents[state.lock] if is_lock else self.world.counter.contents[state.counter]
        owners = {key: owner.actor for key, owner in state.ghosts.owners} if is_lock else {}
        pairs = zip(self._values(contents), contents, strict=True)
        return tuple(ShownKey(name, value, key.ttl_ms, owners.get(name, -1)) for (name, value), key in pairs)

    def _read(self, contents: Contents) -> tuple[tuple[str, str], ...]:
        """Return each key of a state of a store with its value, which the real server reads."""
        real = self.world.counter.real
        if not contents:
            return ()
        types = real.send(*loading(contents), *[("TYPE", key.name) for key in contents])[-len(contents) :]
        values = real.send(*[(READS[kind][0], key.name, *READS[kind][1:]) for kind, key in zip(types, contents, strict=True)])
        return tuple((key.name.decode(errors="replace"), self._value(value)) for key, value in zip(contents, values, strict=True))

    def _value(self, value: Any) -> str:
        if isinstance(value, tuple):
            pairs = zip(value[::2], value[1::2], strict=False)
            return ", ".join(f"{self.reply(name)}: {self.reply(content)}" for name, content in pairs)
        return self.reply(value)


def work_lines(program: Program) -> dict[bool, int]:
    """Return the line of the resource's file that reads (False), and the one that writes (True)."""
    kind = program.resource
    return {writes: _line_that_sends(kind.write if writes else kind.read, kind) for writes in (False, True)}


def _line_that_sends(method: Any, kind: Any) -> int:
    lines, first = inspect.getsourcelines(method)
    for number, line in enumerate(lines):
        if "self.client." in line or "_script(" in line:
            return first + number
    return _line_that_sends(kind.parts, kind) if method.__name__ != "parts" and "parts()" in "".join(lines) else first + 1


def work_code(program: Program) -> list[CodeLine]:
    """Return the code by which the resource reads and writes."""
    kind = program.resource
    code: list[CodeLine] = []
    methods = [kind.read, kind.write]
    if work_lines(program)[False] >= inspect.getsourcelines(kind.parts)[1]:
        methods.insert(1, kind.parts)  # ``read`` calls it
    for method in methods:
        lines, first = inspect.getsourcelines(method)
        code += [CodeLine(first + number, text.rstrip("\n")[4:]) for number, text in enumerate(lines)]
        code.append(CodeLine(0, ""))
    return code[:-1]


def stage_code(path: Path) -> list[CodeLine]:
    """Return the code of a stage: its class, and the scripts and functions next to it."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    code: list[CodeLine] = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) or (isinstance(node, ast.Assign) and _is_script(node)):
            first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
            code += [CodeLine(number, lines[number - 1]) for number in range(first, (node.end_lineno or first) + 1)]
            code.append(CodeLine(0, ""))
    return code[:-1]


def with_marks(code: list[CodeLine], sending: Collection[int]) -> list[CodeLine]:
    """Return the code, with the lines marked that matter. sending: the numbers of the lines that send commands."""
    matter, function = set(sending), 0
    for line in code:
        function = line.number if line.text.lstrip().startswith("def ") else function
        if line.number in sending:
            matter.add(function)
    return [line._replace(matters=line.number in matter) for line in code]


def in_brief(code: list[CodeLine], sent: Mapping[int, Collection[str]]) -> list[CodeLine]:
    """Return the code of the work with the common words of the commands of each line. sent: by line, its commands."""
    return [line._replace(matters=line.number in sent, brief=_common(sent.get(line.number, ()))) for line in code]


def _common(commands: Collection[str]) -> str:
    words = zip(*(command.split(" ") for command in commands), strict=False)
    return " ".join(column[0] if len(set(column)) == 1 else "…" for column in words)


def _is_script(node: ast.Assign) -> bool:
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

"""A certificate: all states of the searches in which promises hold, and all events between them, for a sceptic to check.

What was decided may be wrong where the explorer is wrong: it folds, it reduces, it has rules. So a certificate is written without
any of them: no client stands for another, no order is left out. It lists the states of each search, the events, and what the code
of the lock does between them. The marks are not the ghosts of ``rules``, but those of ``check_certificate``, the program that
checks it. That program needs a Redis, and nothing of the lab. The format is in ``docs/certificate.md``.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from app.lock import Claim, Stage
from lab.explore import check_certificate as checker
from lab.explore.check_certificate import Happened, Search
from lab.explore.check_certificate import State as Listed
from lab.explore.code.operation import (
    COUNTER,
    LOST,
    AboutToWrite,
    AsksAgain,
    Choice,
    CommandSent,
    Ended,
    GotAgain,
    Granted,
    Mark,
    Nap,
    Operation,
    Releasing,
    Until,
    WriteDone,
)
from lab.explore.code.program import Program, servers_of
from lab.explore.code.replica import NewToken
from lab.explore.code.tree import Node, Tree
from lab.explore.decision import HOLDS, Decision, SearchOutcome
from lab.explore.search.event import CLOCK, CRASH, PAUSE, RESTART
from lab.explore.search.move import Move
from lab.explore.search.moves import happenings
from lab.explore.search.state import DEAD, PAUSED, RUNS, State
from lab.explore.search.world import World
from lab.explore.store.commands import (
    SUBSCRIBING,
    UNWATCH,
    WATCH,
    can_wait,
    commands_of,
    is_transaction,
)
from lab.explore.store.real_redis import Contents, RealRedis, loading
from lab.explore.store.resp import Reply, Words
from lab.explore.store.table import Table


def refusal(decision: Decision) -> str:
    """Return why there can be no certificate of a decision; empty where there can be one."""
    broken = [claim.name for claim in Claim if claim in decision.claims & decision.broken().keys()]
    if broken:
        return f"{decision.stage.name} breaks {', '.join(broken)}"
    if any(one.question.needed and not one.is_decided for one in decision.answers) or not decision.of_status(HOLDS):
        return f"not everything is decided of {decision.stage.name}"
    if servers_of(decision.stage) > 1:
        return "a lock on several servers has too many states"
    return ""


def write(decision: Decision, real: RealRedis, path: Path) -> Iterator[str]:
    """Write the certificate of a decision, and yield what is in it. Raises NoCertificate, and writes nothing then.

    Of the searches it has those that a promise needs.
    """
    if why := refusal(decision):
        raise NoCertificate(why)
    stage, sections = decision.stage, []
    scripts: set[bytes] = set()
    for answer in [one for one in decision.answers if one.question.needed]:
        section = Section(stage, answer, real, decision.servers)
        try:
            sections.append(section.lines())
        except NoCertificate as reason:
            raise NoCertificate(f"in the search with {section.about.words}, {reason}") from None
        scripts |= section.scripts
    about = {
        "format": checker.FORMAT,
        "stage": stage.lookup or stage.name,
        "code": hashlib.sha256(Path(str(stage.path)).read_bytes()).hexdigest(),
        "redis": decision.redis,
        "promises": [claim.name for claim in decision.of_status(HOLDS)],
        "searches": len(sections),
        "scripts": [real.scripts[sha.decode()] for sha in sorted(scripts)],
    }
    encode = msgspec.json.Encoder().encode
    with path.open("wb") as out:
        out.writelines(encode(line) + b"\n" for lines in ([["certificate", about]], *sections) for line in lines)
    ends = [lines[-1] for lines in sections]
    states, edges = (sum(end[place] for end in ends) for place in (1, 2))
    size = f"{path.stat().st_size // 1024} KiB"
    yield f"Certificate: {path}: {len(sections)} searches, {states} states, {edges} edges, {size}."
    yield f"Check it: python {Path(checker.__file__)} {path}"


MOST_STATES = 100_000
NEAR_MS = 20  # a command takes less
SUBSCRIBES = "it subscribes to a channel, watches a key, waits in the server, or asks several servers"
MODES = {RUNS: "r", PAUSED: "p", DEAD: "d"}
KINDS = (CLOCK, RESTART, PAUSE, CRASH)  # the events of which a mark depends on the kind


class NoCertificate(Exception):  # noqa: N818 - states what is so
    """What holds cannot be written as a certificate. The message says why."""


class Section:
    """One search, as a certificate lists it."""

    def __init__(self, stage: Stage, answer: SearchOutcome, real: RealRedis, servers: int) -> None:
        self.question, self.real = answer.question, real
        self.program = Program(stage, self.question.task, real)
        self.about = _about(stage, answer, servers)
        self.table = Table(real)
        self.contents: dict[int, checker.Content] = {}
        self.scripts: set[bytes] = set()

    def lines(self) -> list[Any]:
        """Return the lines of the search. Raises NoCertificate."""
        while True:
            try:
                return [["search", self.about._asdict()], *self._lines()]
            except NewToken:  # a line makes a token of many narrow draws: now the program knows it
                pass

    def _lines(self) -> Iterator[list[Any]]:
        trees = [_NotedTree(self.program, number) for number in range(self.question.replicas)]
        with contextlib.closing(World(self.program, trees, self.table, Table(self.real))) as world:
            states, edges = self._graph(world)
        contents = dict.fromkeys(content for one in states for content in (one.lock, one.counter))
        numbers = {content: place for place, content in enumerate(contents)}
        for content, place in numbers.items():
            yield ["content", place, content]
        for client, tree in enumerate(trees):
            for place in sorted({state.places[client] for state in states} | {one for one, _ in tree.coded.values()}):
                yield ["place", client, place, [*map(self._wait, tree.nodes[place].own, tree.nodes[place].pending)]]
        for client, tree in enumerate(trees):
            for (place, thread, given, now_ms), (after, marks) in tree.coded.items():
                yield ["code", client, place, thread, given, now_ms, after, marks]
        for number, (places, modes, lock, counter, *others) in enumerate(states):
            yield ["state", number, places, modes, numbers[lock], numbers[counter], *others]
        yield from (["edge", *edge] for edge in edges)
        yield ["end", len(states), len(edges)]

    def _graph(self, world: World) -> tuple[list[Listed], list[tuple[Any, ...]]]:
        """Return all states and all edges."""
        horizon_ms = self.question.horizon_ms
        first = world.start(self.question.budget)
        begun = self._listed(world, first, self.about.start())
        began = [(client, *one) for client, tree in enumerate(world.trees) for one in tree.nodes[0].marks]
        marks, _ = checker.follow(self.about, begun, begun, Happened("", marks=self._marked(began)))
        numbers = {(first, marks): 0}
        todo, edges = list(numbers), []
        while todo:
            state, marks = before = todo.pop()  # the newest first: the code goes on from where it stands
            was = self._listed(world, state, marks)
            for one in happenings(world, state, horizon_ms):
                _check(one.state)
                sent = None if one.command is None else _text(one.command.words)
                reply = None if sent is None else one.reply.raw.decode("latin-1") if isinstance(one.reply, Reply) else "LOST"
                if sent and sent[0] == "EVALSHA" and isinstance(one.reply, Reply) and isinstance(left := one.reply.value, int):
                    ttls = [key.ttl_ms for key in world.lock.contents[state.lock] if key.ttl_ms]
                    if any(0 <= ttl_ms - left < NEAR_MS for ttl_ms in ttls):  # the next answer may differ by a millisecond
                        raise NoCertificate("a script answers with what a key has left to live, to the millisecond")
                marks, _ = checker.follow(self.about, was, self._listed(world, one.state, marks), self._happened(world, one))
                after = one.state, marks
                if after not in numbers:
                    if len(numbers) > MOST_STATES:
                        raise NoCertificate(f"it has more than {MOST_STATES} states")
                    numbers[after] = len(numbers)
                    todo.append(after)
                edges.append((numbers[before], str(one.event), numbers[after], sent, reply))
        return [self._listed(world, *one) for one in numbers], edges

    def _listed(self, world: World, state: State, marks: checker.Marks) -> Listed:
        """Return a state as the checker has it."""
        stores = self._content(world.lock.contents[state.lock]), self._content(world.counter.contents[state.counter])
        modes = "".join(MODES[mode] for mode in state.modes)
        return Listed(state.nodes, modes, *stores, state.now_ms, tuple(state.left), state.roused, marks)

    def _happened(self, world: World, did: Move) -> Happened:
        kind = did.event.kind.value if did.event.kind in KINDS else ""
        changes = []
        for one in did.changes:
            before, after = (self._content(world.lock.contents[side]) for side in (one.before, one.after))
            changes.append((one.client, one.thread, one.own, before, after))
        fault = None if did.fault is None else (did.fault[0], self.question.budget._fields.index(did.fault[1]), did.fault[2])
        return Happened(kind, did.event.client, changes, self._marked(did.marks), fault)

    def _marked(self, marks: Iterable[tuple[int, int, Mark]]) -> list[tuple[int, Sequence[Any]]]:
        return [(client * self.about.at_once + request, tuple(_mark(mark))) for client, request, mark in marks]

    def _content(self, keys: Contents) -> checker.Content:
        """Return the keys of a store in words: any Redis can load them, and a person can read them."""
        which = self.table.contents.number(keys)
        if which not in self.contents:
            self.real.select(0)
            found = self.real.send(*loading(keys), ("EVAL", checker.READ, 0))[-1]
            listed = checker.as_content(_lists(found))
            if any(one[1] not in checker.LOADED for one in listed):
                raise NoCertificate(f"it keeps a {next(one[1] for one in listed if one[1] not in checker.LOADED)}")
            self.contents[which] = listed
        return self.contents[which]

    def _wait(self, own: bool, operation: Operation | None) -> list[Any]:
        """Return what a thread waits for. Raises NoCertificate."""
        match operation:
            case None:
                return [own, None]
            case Until(at_ms):
                return [own, ["wait", at_ms]]
            case Nap(at_ms):
                return [own, ["nap", at_ms]]
            case Choice(values):
                return [own, ["draw", len(values)]]
            case CommandSent():
                if operation.behind or operation.follows or operation.version != 2:
                    raise NoCertificate("it sends commands in a pipeline, or in the third version of the protocol")
                self._check(operation.words)
                at = f"{Path(operation.file).name}:{operation.line}" if operation.line else ""
                server = "counter" if operation.server == COUNTER else "lock"
                return [own, ["send", server, _text(operation.words), at]]
        raise NoCertificate(SUBSCRIBES)

    def _check(self, command: Words) -> None:
        """Remember the scripts of a command. Raises NoCertificate for one that the checker does not know."""
        inner = list(commands_of(command)) if is_transaction(command) else [command]
        for words in inner:
            if self.real.needs_clock(words):
                raise NoCertificate("it asks the server for the time")
            if can_wait(words) or words[0] in UNKNOWN:
                raise NoCertificate(f"it sends {words[0].decode()}")
            if words[0] == b"EVALSHA":
                self.scripts.add(words[1])


UNKNOWN = (*SUBSCRIBING, WATCH, UNWATCH, b"PUBLISH", b"FCALL", b"FCALL_RO")


class _NotedTree(Tree):
    """A tree that notes what a search asks of it."""

    def __init__(self, program: Program, number: int) -> None:
        super().__init__(program, number)
        # place, thread, input and clock → the place after, and the marks
        self.coded: dict[Any, tuple[int, list[Any]]] = {(checker.NEVER, 0, None, 0): (0, _rows(self.nodes[0]))}

    def step(self, node: int, thread: int, result: Any, at_ms: int) -> int:
        after, operation = super().step(node, thread, result, at_ms), self.nodes[node].pending[thread]
        given = f"={operation.values.index(result)}" if isinstance(operation, Choice) else _given(result)
        self.coded[node, thread, given, at_ms] = after, _rows(self.nodes[after])
        return after


def _rows(node: Node) -> list[Any]:
    """Return what has happened in the step to a node."""
    return [[request, *_mark(mark)] for request, mark in node.marks]


def _given(result: Any) -> str | None:
    """Return what a thread has waited for. Raises NoCertificate."""
    if result is None or result is LOST:
        return None if result is None else "LOST"
    if not isinstance(result, bytes):
        raise NoCertificate(SUBSCRIBES)
    return result.decode("latin-1")


PLAIN: dict[type, str] = {AboutToWrite: "writing", Releasing: "released", AsksAgain: "again", GotAgain: "got again"}


def _mark(mark: Mark) -> list[Any]:
    match mark:
        case Granted(key, fence):
            return ["granted", key, fence]
        case WriteDone(part, _):
            return ["wrote", part]
        case Ended(how):
            return ["ended", how]
    if type(mark) in PLAIN:
        return [PLAIN[type(mark)]]
    raise NoCertificate(f"it has the mark {type(mark).__name__}")


def _check(state: State) -> None:
    """Raise NoCertificate for a state of a kind that the checker does not know."""
    if state.blocked or state.served or state.subscribed or state.inboxes or state.watched or state.flights:
        raise NoCertificate(SUBSCRIBES)


def _text(words: Sequence[bytes]) -> list[str]:
    return [one.decode("latin-1") for one in words]


def _lists(value: Any) -> Any:
    return list(map(_lists, value)) if isinstance(value, tuple) else value


def _about(stage: Stage, answer: SearchOutcome, servers: int) -> Search:
    question, task = answer.question, answer.question.task
    broken = answer.found.broken if answer.found is not None else {}
    fields = task.as_fields()
    return Search(
        replicas=question.replicas,
        **{name: fields[name] for name in ("at_once", "in_turn", "nested", "work_ms", "ttl_ms", "wait_ms")},
        lease_ms=task.ttl_ms if stage.ttl_ms is not None else None,
        until_ms=question.horizon_ms,
        faults=tuple(question.budget),
        serves=question.fits,
        holds=tuple([one.name for one in question.tests(servers) if one not in broken and answer.decides(one)]),
        breaks=tuple([one.name for one in broken]),
    )

"""The explorer: every order of events is decided, on the code of a stage and a real Redis."""

from __future__ import annotations

import contextlib
import json
import math
import textwrap
import tracemalloc
from pathlib import Path
from time import monotonic

import pytest

from app.lock import Claim
from app.locks import stage
from lab.commands.explore import redis_server
from lab.errors import ExitStatus
from lab.explore import replay
from lab.explore import search as searches
from lab.explore.budget import Budget
from lab.explore.decision import Question, decide, horizon_ms, questions
from lab.explore.event import parse, short
from lab.explore.operation import COUNTER, LOCK, Command, Nap
from lab.explore.program import Program
from lab.explore.replay import Differs, NotPossible, confirm, random_schedules, walk_live
from lab.explore.search import MOST_STATES, search
from lab.explore.server_table import ServerTable
from lab.explore.world import World
from lab.scenario.stages import find_stage
from tests.command import lab

TTL_MS = 3000
WITHIN_S = 120.0
BROKEN = Path(__file__).parent / "locks" / "broken"
SINGLE_FAULTS = questions(2, TTL_MS, None, None)[:7]


@pytest.fixture(scope="module")
def real():
    """A Redis server for the explorer alone."""
    with redis_server() as server:
        yield server


def searched(real, name, clients=2, work_ms=0, budget=None):
    world = World(Program(find_stage(name), TTL_MS, work_ms, real), clients, ServerTable(real), ServerTable(real))
    return world, search(world, budget or Budget(), horizon_ms(clients, TTL_MS, work_ms), monotonic() + WITHIN_S)


@pytest.mark.parametrize("clients", [2, 3, 4])
def test_number_of_schedules_without_a_lock(clients, real):
    """Two commands of each client, in any order: (2n)! / 2**n schedules."""
    world, found = searched(real, "none", clients)

    assert found.schedules == math.factorial(2 * clients) // 2**clients
    assert short(found.broken[Claim.exclusive].events) == "ABAB"
    folded = search(world, Budget(), horizon_ms(clients, TTL_MS, 0), monotonic() + WITHIN_S, fold=True)
    assert (folded.schedules, folded.states < found.states) == (found.schedules, True)


class OneByOne:
    """An independent search: no table, no tree, no graph. Each schedule is run from its start on the real server."""

    def __init__(self, real, name, clients):
        self.real, self.clients = real, clients
        self.program = Program(stage(name), TTL_MS, 0, real)

    def count(self):
        number, open_prefixes = 0, [()]
        while open_prefixes:
            prefix = open_prefixes.pop()
            able = self.able_after(prefix)
            number += not able
            open_prefixes += [(*prefix, client) for client in able]
        return number

    def able_after(self, prefix):
        """Run the clients in this order, and return which of them can send a command then."""
        for database in (0, 1):
            self.real.select(database)
            self.real.send(("FLUSHDB",))
        replicas = [self.program.start(number) for number in range(self.clients)]
        asleep: set[int] = set()
        for client in prefix:
            self.step(replicas, client, asleep)
        able = [number for number, replica in enumerate(replicas) if isinstance(replica.threads[0].pending, Command)]
        for replica in replicas:
            replica.close()
        return able

    def step(self, replicas, client, asleep):
        command = replicas[client].threads[0].pending
        self.real.select({LOCK: 0, COUNTER: 1}[command.server])
        before = {key.name: key.value for key in self.real.contents()}
        (reply,) = self.real.send(command.words)
        after = {key.name: key.value for key in self.real.contents()}
        replicas[client].resume(0, reply, 0)
        if command.server == LOCK and before != after:
            for sleeper in asleep - {client}:
                replicas[sleeper].resume(0, None, 0)
            asleep.clear()
        if isinstance(replicas[client].threads[0].pending, Nap):
            asleep.add(client)


@pytest.mark.parametrize("name", ["none", "setnx", "ttl", "uuid", "lua", "reentrant", "fencing"])
def test_as_many_as_one_by_one(name, real):
    """The search in tables finds as many schedules as running each of them by itself."""
    _, found = searched(real, name)

    assert OneByOne(real, name, 2).count() == found.schedules > 1


SHORTEST = {
    ("setnx", "freed_after_crash"): 3,
    ("setnx", "acquires_atomically"): 2,
    ("setnx", "survives_a_lost_reply"): 2,
    ("ttl", "releases_only_its_own"): 9,
    ("ttl", "held_to_the_end"): 11,
    ("uuid", "releases_atomically"): 10,
    ("uuid", "survives_a_lost_reply"): 3,
    ("lua", "held_to_the_end"): 12,
    ("lua", "survives_a_freeze"): 10,
    ("watchdog", "survives_a_late_freeze"): 10,
}
NEVER = {
    ("uuid", "releases_only_its_own"),
    ("lua", "releases_atomically"),
    ("lua", "freed_after_crash"),
    ("watchdog", "held_to_the_end"),
    ("watchdog", "freed_after_a_failed_release"),
    ("watchdog_abort", "survives_a_freeze"),
    ("fencing", "survives_a_freeze"),
    ("fencing", "survives_a_late_freeze"),
}


@pytest.mark.parametrize("name", sorted({name for name, _ in [*SHORTEST, *NEVER]}))
def test_what_is_decided_of_a_stage(name, real):
    """One fault at a time: what breaks, in how many events at least, and what holds in all schedules. No promise breaks."""
    decision = decide(stage(name), 2, TTL_MS, fresh(SINGLE_FAULTS), real, WITHIN_S)

    assert all(one.found and one.found.complete for one in decision.questions)
    broken = {}
    for question in decision.questions:
        for claim, one in question.found.broken.items():
            broken.setdefault(claim.name, len(one.events))
    assert {claim: broken.get(claim) for of, claim in SHORTEST if of == name} == {
        claim: events for (of, claim), events in SHORTEST.items() if of == name
    }
    assert not {claim for of, claim in NEVER if of == name} & set(broken)


def fresh(asked):
    return [Question(one.budget, one.work_ms, one.horizon_ms) for one in asked]


BY_ORDER = {
    "no_nx": "exclusive",
    "key_of_the_replica": "exclusive",
    "looks_and_then_sets": "exclusive",
    "mutex_of_the_process": "exclusive",
    "owner_is_the_thread": "exclusive",
    "names_no_key": "exclusive",
    "locks_after_the_read": "exclusive",
    "enters_after_an_error": "exclusive",
    "compares_in_two_steps": "releases_atomically",
    "compares_the_wrong_field": "releases_only_its_own",
    "deletes_without_compare": "releases_only_its_own",
    "gives_no_ttl": "freed_after_crash",
}


@pytest.mark.parametrize("name", BY_ORDER)
def test_a_broken_lock_is_condemned(name, real):
    """A lock that an order of events breaks is condemned, by the claim that it breaks."""
    decision = decide(find_stage(str(BROKEN / f"{name}.py")), 2, TTL_MS, fresh(SINGLE_FAULTS), real, WITHIN_S)

    assert BY_ORDER[name] in {claim.name for claim in decision.broken_promises}


@pytest.mark.parametrize("what", ["time.time_ns()", "random.random()", "next(COUNT)"])
def test_chance_is_noticed(what, real, tmp_path):
    """A stage that depends on what the explorer does not decide is found out: its schedules do not run again the same."""
    (tmp_path / "chancy.py").write_text(CHANCY.format(what=what), encoding="utf-8")
    world, found = searched(real, str(tmp_path / "chancy.py"))

    with pytest.raises((Differs, NotPossible)):
        confirm_all(world, random_schedules(found, 50, 1, world, horizon_ms(2, TTL_MS, 0)), real)


def test_a_favoured_client_is_noticed(real, tmp_path):
    """A folded search believes that all clients are alike. A stage that favours one of them is found out."""
    text = Path(stage("lua").path).read_text(encoding="utf-8")
    own = text.replace(
        "    def acquire(self):\n",
        "    def acquire(self):\n        import os\n        os.getpid() % 2 and self.store.get(self.key)\n",
    )
    (tmp_path / "favours.py").write_text(own, encoding="utf-8")
    assert own != text

    with pytest.raises(Differs, match="does not treat all clients alike"):
        decide(find_stage(str(tmp_path / "favours.py")), 2, TTL_MS, fresh(SINGLE_FAULTS)[:1], real, WITHIN_S)


WRONG = {
    "a reply": lambda answer: answer._replace(reply=7),
    "a state": lambda answer: answer._replace(state=0),
    "nothing": lambda answer: answer,
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_table_is_noticed(what, real):
    """A schedule is run again on the real server: a reply or a state that only the tables have is found out."""
    world, found = searched(real, "uuid")
    (schedule,) = random_schedules(found, 1, 1, world, horizon_ms(2, TTL_MS, 0))
    table = world.lock._answers  # as if the server had answered otherwise once
    acquired = next(which for which, answer in table.items() if which[1][0] == b"SET" and answer.reply == b"OK")
    table[acquired] = WRONG[what](table[acquired])

    with contextlib.nullcontext() if what == "nothing" else pytest.raises(Differs):
        confirm(world, world.program, schedule, Budget(), horizon_ms(2, TTL_MS, 0), real)


MOST_MB = 300
OF_THE_REST_MB = 100  # Python, what is imported, the tables, and the replicas that stand somewhere


def test_memory_of_a_search(real):
    """A search ends before it needs more than 300 MB. What a state needs is measured."""
    world = World(Program(stage("setnx_no_else"), TTL_MS, 0, real), 3, ServerTable(real), ServerTable(real), merge=True)
    about = Budget(), horizon_ms(3, TTL_MS, 0), monotonic() + WITHIN_S
    search(world, *about)  # now all is learned
    tracemalloc.start()
    found = search(world, *about)
    bytes_a_state = tracemalloc.get_traced_memory()[1] / found.states
    tracemalloc.stop()

    assert found.states > 1000
    assert bytes_a_state * MOST_STATES / 1e6 < MOST_MB - OF_THE_REST_MB, bytes_a_state


def test_a_search_ends_with_the_memory(real, monkeypatch):
    """A search that has too many states decides nothing, and the reason is given."""
    monkeypatch.setattr(searches, "MOST_STATES", 50)

    (question,) = decide(stage("uuid"), 2, TTL_MS, fresh(SINGLE_FAULTS[2:3]), real, WITHIN_S).questions

    assert not question.found.complete
    assert question.undecided.startswith("the memory was over after 5")


def test_one_round_trip(real, monkeypatch):
    """A schedule is run again in one round trip, and not in one for each command."""
    world, found = searched(real, "watchdog", work_ms=5000)
    one_by_one = []
    monkeypatch.setattr(replay, "walk_live", lambda *about: one_by_one.append(about) or walk_live(*about))

    for schedule in (schedules := random_schedules(found, 5, 1, world, horizon_ms(2, TTL_MS, 5000))):
        confirm(world, world.program, schedule, Budget(), horizon_ms(2, TTL_MS, 5000), real)

    assert len(one_by_one) < len(schedules)  # on a machine that stalls, some are


def confirm_all(world, schedules, real):
    for events in schedules:
        confirm(world, world.program, events, Budget(), horizon_ms(2, TTL_MS, 0), real)


CHANCY = textwrap.dedent(
    '''\
    """Sends one command or two, as it likes."""
    import ctypes, itertools
    from app.lock import Stage, Grant, claims
    chance = __import__("importlib").import_module("random")
    clock = __import__("importlib").import_module("time")
    COUNT = chance.__dict__.setdefault("lab_count", itertools.count())
    WHAT = "{what}"
    def odd():
        if WHAT.startswith("time"):
            return clock.time_ns() // 1000 % 2
        return chance.random() < 0.5 if WHAT.startswith("random") else next(COUNT) % 2
    class Lock:
        def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
            self.store, self.key = store, key
        def run(self, work):
            if odd():
                self.store.get(self.key)
            return work(Grant(self.key))
    STAGE = Stage(lock=Lock, store="redis", claims=claims("exclusive"))
    '''
)


PIPELINED = textwrap.dedent(
    '''\
    """Looks at the key and sets it, in one pipeline."""
    from app.locks import setnx
    class Lock(setnx.Lock):
        def acquire(self):
            import time
            while True:
                with self.store.pipeline(transaction={transaction}) as pipe:
                    if pipe.get(self.key).set(self.key, "locked").execute()[0] is None:
                        return
                time.sleep(0.03)
    STAGE = setnx.STAGE.__class__(lock=Lock, store="redis")
    '''
)


@pytest.mark.parametrize("transaction", [True, False])
def test_pipelines(transaction, real, tmp_path):
    """Another client comes between two commands of a pipeline, and never between those of a transaction."""
    own = tmp_path / "pipelined.py"
    own.write_text(PIPELINED.format(transaction=transaction), encoding="utf-8")

    (question,) = decide(find_stage(str(own)), 2, TTL_MS, fresh(SINGLE_FAULTS[:1]), real, WITHIN_S).questions

    assert question.found.complete
    assert (Claim.exclusive in question.found.broken) is not transaction


IN_ONE_GO = textwrap.dedent(
    '''\
    """Sets the key and its TTL {how}."""
    import time
    from app.locks import setnx
    class Lock(setnx.Lock):
        def acquire(self):
            while not self.tried():
                time.sleep(0.03)
        def tried(self):
            with self.store.pipeline(transaction=False) as pipe:
                if {one_by_one}:
                    return self.store.setnx(self.key, "locked") and self.store.pexpire(self.key, 3000)
                return pipe.setnx(self.key, "locked").pexpire(self.key, 3000).execute()[0]
    STAGE = setnx.STAGE.__class__(lock=Lock, store="redis")
    '''
)


@pytest.mark.parametrize("fault", ["lost_replies", "crashes", "resends"])
@pytest.mark.parametrize("one_by_one", [True, False], ids=["two commands", "a pipeline"])
def test_a_pipeline_arrives_as_a_whole(one_by_one, fault, real, tmp_path):
    """Where the reply to a pipeline is lost, or its client is killed, the server still executes all of it."""
    own = tmp_path / "one_go.py"
    own.write_text(IN_ONE_GO.format(how="one by one" if one_by_one else "in one go", one_by_one=one_by_one), encoding="utf-8")
    asked = [Question(Budget(**{fault: 1}), 0, horizon_ms(2, TTL_MS, 0))]

    (question,) = decide(find_stage(str(own)), 2, TTL_MS, asked, real, WITHIN_S).questions

    assert question.found.complete
    lasting = [broken for broken in question.found.broken.values() if broken.mechanism == "a request waits for ever"]
    assert bool(lasting) is one_by_one


WATCHES = """\
        with self.store.pipeline() as pipe:
            pipe.watch(self.key)
            if pipe.get(self.key) != token:
                return False
"""
BY_WATCH = {
    "as it is": (WATCHES, True),
    "looks first": (
        WATCHES.replace("pipe.watch(self.key)\n            if pipe", "if self.store").replace(
            "n False", "n False\n            pipe.watch(self.key)"
        ),
        False,
    ),
    "watches another key": (WATCHES.replace("watch(self.key)", "watch('another')"), False),
    "forgets it": (WATCHES.replace("pipe.watch(self.key)\n            if pipe", "if self.store"), False),
    "unwatches": (WATCHES.replace("n False", "n False\n            pipe.unwatch()"), False),
}


@pytest.mark.parametrize("how", BY_WATCH)
def test_a_lock_by_watch(how, real, tmp_path):
    """A lock by WATCH, MULTI and EXEC is as good as a script; one that does not watch its key while it looks is no lock."""
    text = (BROKEN.parent / "sound" / "transactions.py").read_text(encoding="utf-8")
    assert WATCHES in text
    watches, is_sound = BY_WATCH[how]
    (tmp_path / "watches.py").write_text(text.replace(WATCHES, watches), encoding="utf-8")

    decision = decide(find_stage(str(tmp_path / "watches.py")), 2, TTL_MS, fresh(SINGLE_FAULTS), real, WITHIN_S)

    assert all(one.found and one.found.complete for one in decision.questions)
    assert (Claim.exclusive not in decision.broken_promises) is is_sound
    assert not is_sound or not decision.broken_promises


BY_TRANSACTION = textwrap.dedent(
    '''\
    """Looks and sets in a function that redis-py repeats until nobody has touched the key."""
    from app.locks import lua
    class Lock(lua.Lock):
        def acquire(self):
            import time
            while not self.store.transaction(self.look, *{watched}, value_from_callable=True):
                time.sleep(0.03)
        def look(self, pipe):
            free = (pipe if pipe.watching else self.store).get(self.key) is None
            pipe.multi()
            if free:
                pipe.set(self.key, self.token, px=self.ttl_ms)
            return free
    STAGE = lua.STAGE.__class__(lock=Lock, store="redis")
    '''
)


@pytest.mark.parametrize("watched", ["[self.key]", "[]"])
def test_transaction_of_redis_py(watched, real, tmp_path):
    """``transaction`` repeats a function that was overtaken. Where it watches no key, it repeats nothing."""
    (tmp_path / "repeats.py").write_text(BY_TRANSACTION.format(watched=watched), encoding="utf-8")

    (question,) = decide(find_stage(str(tmp_path / "repeats.py")), 2, TTL_MS, fresh(SINGLE_FAULTS[:1]), real, WITHIN_S).questions

    assert question.found.complete
    assert (Claim.exclusive in question.found.broken) is (watched == "[]")


TOUCHES = {"SET L one": True, "PEXPIRE L 3000": True, "DEL L": True, "GET L": False, "SET M one": False, "SET L two NX": False}


@pytest.mark.parametrize("command", TOUCHES)
def test_what_touches_a_key(command, real):
    """The server decides what touches a watched key: also a command that leaves it as it was."""
    table = ServerTable(real)
    state = table.answer(0, (b"SET", b"L", b"one")).state

    assert table.touches(state, tuple(command.encode().split()), b"L") is TOUCHES[command]


def test_an_impossible_event_is_named(real):
    """A schedule that cannot happen is refused: the event, its place, and what could happen."""
    program = Program(stage("lua"), TTL_MS, 0, real)

    with pytest.raises(NotPossible, match="event 3, B, after AB; possible is A"):
        walk_live(program, 2, parse("ABB"), horizon_ms(2, TTL_MS, 0), real)


def test_a_lock_taken_twice(tmp_path):
    """With ``--nested`` each request takes the lock twice: the claim `reentrant` is decided, and its schedule is run again."""
    done = lab("explore", "uuid", "--nested", "--out", "kept", cwd=tmp_path)

    assert (done.status, "breaks, and was not promised  reentrant" in done.out) == (ExitStatus.GOOD, True)
    assert "a holder is refused its own lock" in lab("replay", "kept/reentrant.json", cwd=tmp_path).out
    again = lab("explore", "reentrant", "--nested", "--json", cwd=tmp_path)
    (budget,) = json.loads(again.out)["budgets"]
    assert (budget["nested"], budget["claims"]) == (True, {"reentrant": {"holds": True}})


def test_command(tmp_path):
    """The command prints one object, and its status says whether a promise breaks."""
    done = lab("explore", "uuid", "--pauses", "1", "--json", cwd=tmp_path)

    (budget,) = json.loads(done.out)["budgets"]
    assert done.status == ExitStatus.GOOD
    assert (budget["complete"], budget["faults"]["pauses"]) == (True, 1)
    assert budget["claims"]["releases_atomically"]["schedule"] == "A4BpAt3000BrAA"
    assert budget["claims"]["releases_only_its_own"] == {"holds": True}
    again = lab("replay", "uuid:A4BpAt3000BrAA", "--out", "race.svg", cwd=tmp_path)
    sentences = "A gets the lock, reads 0 and writes 1. A sees that the lock is its own. B waits for the lock. A is paused."
    assert sentences in " ".join(again.out.split())
    assert "B gets the lock. A is resumed and deletes B’s lock.</desc>" in (tmp_path / "race.svg").read_text(encoding="utf-8")


def test_schedules_are_kept(tmp_path):
    """Each claim that breaks leaves a file. The replay states that the stage has changed since, and where it differs."""
    own = tmp_path / "own.py"
    own.write_text(Path(stage("uuid").path).read_text(encoding="utf-8"), encoding="utf-8")
    lab("explore", "own.py", "--pauses", "1", "--out", "kept", cwd=tmp_path)

    assert {path.stem for path in (tmp_path / "kept").iterdir()} >= {"decision", "releases_atomically", "survives_a_freeze"}
    same = lab("replay", "kept/releases_atomically.json", cwd=tmp_path)
    assert (same.status, "differs" in same.out, same.err) == (ExitStatus.GOOD, False, "")

    text = own.read_text(encoding="utf-8")
    own.write_text(text.replace("self.store.get(self.key)", "self.store.plain().getex(self.key)"), encoding="utf-8")
    other = lab("replay", "kept/releases_atomically.json", cwd=tmp_path)
    assert "own has changed since this schedule was written" in other.err
    assert "it differs from the file at event 4, A: it sent GET L, and now GETEX L" in other.out

    own.write_text(text.replace("== self.token", "== 'nobody'"), encoding="utf-8")
    none = lab("replay", "kept/releases_atomically.json", cwd=tmp_path)
    assert (none.status, "the schedule cannot happen any more: event 6" in none.err) == (ExitStatus.NOTHING_SHOWN, True)


CHARGED = {
    # a paused client sends its command when it is resumed: its acquire was not slow
    "uuid:A2pApBt3000rArBB2AB": "survives_a_late_freeze",
    # the lease outlived the first pause, and ended in the second
    "watchdog_abort:ABpArAApAt3000B3rAA": "survives_a_late_freeze",
    # a renewal was on its way when the request ended, and no other follows
    "watchdog_abort:A4pBt1000rBBpBt2000t3000rBBb": None,
    # the renewal goes on after the request is over
    "renews.py:A3BdAt1000a": "freed_after_a_failed_release",
}


@pytest.mark.parametrize("schedule", CHARGED)
def test_claim_of_a_schedule(schedule, real, tmp_path, monkeypatch):
    """A schedule breaks the claim whose cause it has, and no other."""
    monkeypatch.chdir(tmp_path)
    text = Path(stage("watchdog").path).read_text(encoding="utf-8")
    Path("renews.py").write_text(text.replace("RENEWER.forget(self)  #", "pass  #"), encoding="utf-8")
    name, _, events = schedule.partition(":")
    moves = walk_live(Program(find_stage(name), TTL_MS, 0, real), 2, parse(events), horizon_ms(2, TTL_MS, 0), real)

    found = [finding.claim.name for move in moves for finding in move.found]
    assert found == ([CHARGED[schedule]] if CHARGED[schedule] else [])

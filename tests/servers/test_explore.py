"""The explorer: every order of events is decided, on the code of a stage and a real Redis."""

from __future__ import annotations

import contextlib
import math
import textwrap
import tracemalloc
from pathlib import Path

import pytest

from app.lock import Claim
from app.locks import stage
from lab.explore.decision import Decision, Undecided
from lab.explore.search import search as searches
from lab.explore.search.event import Budget, parse, short
from lab.explore.search.harm import Harm
from lab.explore.search.replay import Differs, NotPossible, confirm, walk, walk_live
from lab.explore.search.search import MOST_STATES, random_schedules, search
from lab.explore.store.resp import Reply
from lab.explore.store.table import Table
from tests.corpus import CORPUS
from tests.sampled import sampled
from tests.servers.explored import TTL_MS, WITHIN_S, exploring, question, searched

BROKEN = CORPUS / "broken"
UNTIL_MS = question().horizon_ms
LONG = question(work_ms=5000, nap_ms=700)
SINGLE_FAULTS = [question(), LONG, *(question(Budget(**{name: 1})) for name in Budget._fields)]


def decided(real, name, questions):
    """Decide some questions about a stage."""
    with exploring(real, name) as explorer:
        answers = [explorer.answer(one, WITHIN_S) for one in questions]
        return Decision(explorer.stage, TTL_MS, list(questions), answers)


def broken_promises(decision):
    return decision.broken().keys() & decision.stage.claims


@contextlib.contextmanager
def world_of(real, name, asked=None):
    asked = asked or question()
    with exploring(real, name) as explorer:
        yield explorer.world(asked.task, asked.replicas)


@pytest.mark.parametrize("clients", [2, 3, 4])
def test_number_of_schedules_without_a_lock(clients, real):
    """Without a lock, n clients with two commands each have (2n)! / 2**n schedules, and the shortest loss is ABAB."""
    with exploring(real, "none") as explorer:
        found = searched(explorer, question(replicas=clients))

    assert found.schedules == math.factorial(2 * clients) // 2**clients
    assert short(found.broken[Claim.exclusive].events) == "ABAB"


# stage, clients, fault: the schedules that an earlier brute force counted, without the code of a stage and without Redis
TOTALS = {
    ("lua", 2, "pauses"): 816,
    ("lua", 2, "crashes"): 78,
    ("lua", 3, "pauses"): 247_308,
    ("lua", 3, "crashes"): 5688,
    ("uuid", 2, "pauses"): 1552,
    ("uuid", 2, "crashes"): 118,
    ("uuid", 3, "pauses"): 786_444,
    ("uuid", 3, "crashes"): 12_900,
    ("ttl", 2, "pauses"): 816,
    ("ttl", 3, "pauses"): 413_700,
    ("lua", 3, ""): 456,
    ("uuid", 3, ""): 870,
}


@pytest.mark.parametrize(
    ("name", "clients", "fault"), sampled(TOTALS, [one for one, number in TOTALS.items() if number < 100_000])
)
def test_number_of_schedules_of_a_lock(name, clients, fault, real):
    """The explorer finds as many schedules as an interpreter that shared no line with it."""
    with exploring(real, name) as explorer:
        found = searched(explorer, question(Budget(**{fault: 1} if fault else {}), clients))

    assert found.complete
    assert found.schedules == TOTALS[name, clients, fault]


SHORTEST = {
    ("setnx", "freed_after_crash"): 4,  # the last event of each is the time: the waiter has asked until the horizon
    ("setnx", "acquires_atomically"): 3,
    ("setnx", "survives_a_lost_reply"): 3,
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


# an ordinary run decides one stage again; `test_explore_and_matrix.py` has the kept decisions of the others
@pytest.mark.parametrize("name", sampled(sorted({name for name, _ in [*SHORTEST, *NEVER]}), ["lua"]))
def test_what_is_decided_of_a_stage(name, real):
    """With one fault at a time, a stage breaks the expected claims in the fewest events, and breaks no promise."""
    decision = decided(real, name, SINGLE_FAULTS)

    assert [(one.undecided, one.detail) for one in decision.answers if not one.is_decided] == []
    broken = {claim.name: len(one.events) for claim, (_, one) in decision.broken().items()}
    assert {claim: broken.get(claim) for of, claim in SHORTEST if of == name} == {
        claim: events for (of, claim), events in SHORTEST.items() if of == name
    }
    assert not {claim for of, claim in NEVER if of == name} & broken.keys()
    assert not broken_promises(decision)


BY_ORDER = {  # the claim that breaks, and the first question that shows it
    "no_nx": ("exclusive", question()),
    "key_of_the_replica": ("exclusive", question()),
    "looks_and_then_sets": ("exclusive", question()),
    "mutex_of_the_process": ("exclusive", question()),
    "owner_is_the_thread": ("exclusive", question()),
    "names_no_key": ("exclusive", question()),
    "locks_after_the_read": ("exclusive", question()),
    "enters_after_an_error": ("exclusive", question(Budget(lost_replies=1))),
    "compares_in_two_steps": ("releases_atomically", question(Budget(pauses=1))),
    "compares_the_wrong_field": ("releases_only_its_own", LONG),
    "deletes_without_compare": ("releases_only_its_own", LONG),
    "gives_no_ttl": ("freed_after_crash", question(Budget(crashes=1))),
}


@pytest.mark.parametrize("name", BY_ORDER)
def test_a_broken_lock_is_condemned(name, real):
    """A lock that an order of events breaks is condemned, by the claim that it breaks."""
    claim, asked = BY_ORDER[name]

    assert claim in {one.name for one in broken_promises(decided(real, BROKEN / f"{name}.py", [asked]))}


def test_chance_is_noticed(real, tmp_path):
    """A stage that depends on a value outside the explorer's control is noticed: its schedules do not run the same again."""
    (tmp_path / "chancy.py").write_text(CHANCY, encoding="utf-8")
    with world_of(real, tmp_path / "chancy.py") as world:
        search(world, Budget(), UNTIL_MS, WITHIN_S)

        with pytest.raises((Differs, NotPossible)):
            confirm_all(world, random_schedules(world, Budget(), UNTIL_MS, 50, 1))


def test_a_favoured_client_is_noticed(real, tmp_path):
    """If a stage favours one client, the explorer notices that clients are not alike, and lets none stand for the others."""
    text = Path(stage("lua").path).read_text(encoding="utf-8")
    own = text.replace(
        "    def acquire(self):\n",
        "    def acquire(self):\n        import os\n        os.getpid() % 2 and self.store.get(self.key)\n",
    )
    (tmp_path / "favours.py").write_text(own, encoding="utf-8")
    assert own != text

    with exploring(real, tmp_path / "favours.py") as explorer:
        answer = explorer.answer(question(), WITHIN_S)

    assert answer.is_decided
    assert not explorer._clients_are_alike


WRONG = {
    "a reply": lambda answer: answer._replace(reply=Reply(b":7\r\n", 7)),
    "a state": lambda answer: answer._replace(state=0),
    "nothing": lambda answer: answer,
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_table_is_noticed(what, real):
    """A wrong reply or state in the explorer's tables is noticed when a schedule runs again on the real server."""
    with world_of(real, "uuid") as world:
        search(world, Budget(), UNTIL_MS, WITHIN_S)
        (schedule,) = random_schedules(world, Budget(), UNTIL_MS, 1, 1)
        known, words = world.lock._answers, walk(world, schedule, UNTIL_MS)[0].command.words
        changes = {(0, words): WRONG[what]}  # as if the server had once given another answer
        world.lock._answers = lambda *asked: changes.get(asked[:2], WRONG["nothing"])(known(*asked))

        with contextlib.nullcontext() if what == "nothing" else pytest.raises(Differs):
            confirm(world, schedule, UNTIL_MS)


MOST_MB = 300
OF_THE_REST_MB = 100  # Python, its modules, the tables, and the waiting replicas


@pytest.mark.trial
def test_memory_of_a_search(real):
    """A search with the largest number of states needs less than 300 MB, by the measured memory of a state."""
    asked = question(Budget(pauses=1), replicas=3)
    with world_of(real, "uuid", asked) as world:
        about = asked.budget, asked.horizon_ms, WITHIN_S
        search(world, *about)  # so that the next one learns nothing new
        tracemalloc.start()
        found = search(world, *about)
        bytes_a_state = tracemalloc.get_traced_memory()[1] / found.states
        tracemalloc.stop()

    assert found.states > 1000
    assert bytes_a_state * MOST_STATES / 1e6 < MOST_MB - OF_THE_REST_MB, bytes_a_state


def test_a_search_ends_with_the_memory(real, monkeypatch):
    """A search that has too many states decides nothing, and the reason is given."""
    monkeypatch.setattr(searches, "MOST_STATES", 50)
    monkeypatch.setattr("lab.explore.decision.MOST_STATES", 50)

    (answer,) = decided(real, "uuid", [question(Budget(pauses=1))]).answers

    assert (answer.is_decided, answer.undecided) == (False, Undecided.MEMORY)
    assert answer.detail.startswith("5")


def confirm_all(world, schedules):
    for events in schedules:
        confirm(world, events, UNTIL_MS)


CHANCY = textwrap.dedent(
    '''\
    """Sends one command or two, in turns."""
    import itertools
    from app.lock import Stage, Grant, claims
    TURNS = __import__("importlib").import_module("random").__dict__.setdefault("lab_turns", itertools.count())
    class Lock:
        def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
            self.store, self.key = store, key
        def run(self, work):
            if next(TURNS) % 2:
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
    """Another client can come between two commands of a pipeline, but not between those of a transaction."""
    own = tmp_path / "pipelined.py"
    own.write_text(PIPELINED.format(transaction=transaction), encoding="utf-8")

    (answer,) = decided(real, own, [question()]).answers

    assert answer.is_decided
    assert (Claim.exclusive in answer.result.broken) is not transaction


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


@pytest.mark.parametrize("fault", sampled(["lost_replies", "crashes", "resends"], ["crashes"]))
@pytest.mark.parametrize("one_by_one", [True, False], ids=["two commands", "a pipeline"])
def test_a_pipeline_arrives_as_a_whole(one_by_one, fault, real, tmp_path):
    """A fault can stop a lock between two commands, but a pipeline that was sent is executed as a whole."""
    own = tmp_path / "one_go.py"
    own.write_text(IN_ONE_GO.format(how="one by one" if one_by_one else "in one go", one_by_one=one_by_one), encoding="utf-8")

    (answer,) = decided(real, own, [question(Budget(**{fault: 1}))]).answers

    assert answer.is_decided
    assert any(one.finding.harm is Harm.STUCK for one in answer.result.broken.values()) is one_by_one


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


@pytest.mark.parametrize("how", sampled(BY_WATCH, ["forgets it"]))
def test_a_lock_by_watch(how, real, tmp_path):
    """A lock by WATCH, MULTI and EXEC keeps its promises; if its key is not watched during the look, it is not exclusive."""
    text = (CORPUS / "sound" / "transactions.py").read_text(encoding="utf-8")
    assert WATCHES in text
    watched, is_sound = BY_WATCH[how]
    (tmp_path / "watches.py").write_text(text.replace(WATCHES, watched), encoding="utf-8")

    decision = decided(real, tmp_path / "watches.py", SINGLE_FAULTS if is_sound else [question()])

    assert all(one.is_decided for one in decision.answers)
    assert (Claim.exclusive not in broken_promises(decision)) is is_sound
    assert not is_sound or not broken_promises(decision)


TOUCHES = {"SET L one": True, "PEXPIRE L 3000": True, "DEL L": True, "GET L": False, "SET M one": False, "SET L two NX": False}


@pytest.mark.parametrize("command", TOUCHES)
def test_what_touches_a_key(command, real):
    """The server decides whether a command touches a watched key: a command that leaves the value as it was can do so, too."""
    table = Table(real)
    state = table.answer(0, (b"SET", b"L", b"one")).state

    assert table.touches(state, tuple(command.encode().split()), b"L") is TOUCHES[command]


def test_an_impossible_event_is_named(real):
    """An impossible schedule is refused with the event, its place, and the events that are possible there."""
    with world_of(real, "lua") as world, pytest.raises(NotPossible, match="event 3, B, after AB; possible is A"):
        walk_live(world, parse("ABB"), UNTIL_MS)


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
    """A schedule breaks the claim whose cause it contains, and no other claim."""
    monkeypatch.chdir(tmp_path)
    text = Path(stage("watchdog").path).read_text(encoding="utf-8")
    Path("renews.py").write_text(text.replace("RENEWER.forget(self)  #", "pass  #"), encoding="utf-8")
    name, _, events = schedule.partition(":")
    with world_of(real, name) as world:
        moves = walk_live(world, parse(events), UNTIL_MS).moves

    found = [finding.claim.name for move in moves for finding in move.findings]
    assert found == ([CHARGED[schedule]] if CHARGED[schedule] else [])

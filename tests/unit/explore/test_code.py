"""Test that the explorer runs a stage's code as Python compiles it, and learns each step of its tree once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from inspect import isclass, isfunction
from pathlib import Path
from types import CodeType

import pytest

from app.locks import stages
from lab.evidence.decided import why_not
from lab.explore.code.operation import GAVE_UP, LOST, CommandSent, Nap
from lab.explore.code.program import Program, Task
from lab.explore.code.stand_ins import ReplicaMutex
from lab.explore.code.tree import Tree
from lab.explore.model import NotExplored
from lab.scenario.stages import find_stage

STAGES = sorted(name for name, one in stages().items() if not why_not(one))
LOCK = """\
from parts.tokens import drawn
from app.lock import Stage
class Lock:
    def __init__(self, *_):
        self.tokens = [one for one in drawn()]
    def run(self, work):
        for token in self.tokens:
            work(token)
STAGE = Stage(lock=Lock, store="redis")
"""
TOKENS = """\
def drawn():
    for number in range(3):
        yield number
"""
PACKAGE = {"mine.py": LOCK, "parts/__init__.py": "", "parts/tokens.py": TOKENS}


def as_compiled(path):
    """Return all code objects of a file, as Python compiles it."""
    found, todo = set(), [compile(path.read_bytes(), str(path), "exec", dont_inherit=True)]
    while todo:
        code = todo.pop()
        found.add(code)
        todo += [one for one in code.co_consts if isinstance(one, CodeType)]
    return found


def functions(module):
    """Return the functions and methods that a module defines."""
    classes = [one for one in vars(module).values() if isclass(one) and one.__module__ == module.__name__]
    named = [one for holder in (module, *classes) for one in vars(holder).values()]
    found = [getattr(one, "__func__", getattr(one, "fget", one)) for one in named]
    return [
        one for one in found if isfunction(one) and one.__globals__ is vars(module) and one.__code__.co_filename != "<string>"
    ]


def changed(name):
    """Return the number of functions in the modules of a stage, and the functions whose code differs from their file."""
    modules = Program(find_stage(name), Task(3000)).modules()
    of_each = [(module, Path(str(module.__file__)), functions(module)) for module in modules]
    differ = [one.__qualname__ for _, path, ones in of_each for one in ones if one.__code__ not in as_compiled(path)]
    return sum(len(ones) for *_, ones in of_each), differ


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_runs_unchanged(name):
    """Each function of a stage, and of the stages that it imports, has the code that Python compiles from its file."""
    number, differ = changed(name)

    assert number > 0
    assert not differ


def test_a_package_runs_unchanged(tmp_path, monkeypatch):
    """Each function of a file outside the lab, and of its package, has the code that Python compiles from its file."""
    monkeypatch.syspath_prepend(tmp_path)
    for path, text in PACKAGE.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")

    number, differ = changed(str(tmp_path / "mine.py"))

    assert number == 3
    assert not differ


SOURCE = '''\
"""Tries again and again."""
import time
from app.lock import Stage
class Lock:
    def __init__(self, store, key, *_):
        self.store, self.key = store, key
    def run(self, work):
        while not self.store.set(self.key, "x", nx=True):
            time.sleep(0.03)
        {then}
        self.store.get(self.key)
STAGE = Stage(lock=Lock, store="redis")
'''
LOOKS = "time.monotonic() > 1 and self.store.delete(self.key)"
REFUSED, OK = b"$-1\r\n", b"+OK\r\n"


SPINS = SOURCE.replace("time.sleep(0.03)", "pass")
PATIENT = SOURCE.replace(
    'while not self.store.set(self.key, "x", nx=True):\n            time.sleep(0.03)',
    """import socket
        line = socket.create_connection(("127.77.0.1", 6379), timeout=1)
        line.sendall(b"*3\\r\\n$5\\r\\nBLPOP\\r\\n$1\\r\\nq\\r\\n$1\\r\\n0\\r\\n")
        try:
            line.recv(100)
        except TimeoutError:
            self.store.delete("late")
        except ConnectionError:
            self.store.delete("broken")""",
)


PEEKS = (
    PATIENT[: PATIENT.index("        line = ")]
    + """        import select
        line, come = socket.create_connection(("127.77.0.1", 6379)), select.poll()
        line.sendall(b"*1\\r\\n$4\\r\\nPING\\r\\n")
        come.register(line, select.POLLIN)
        self.store.delete(come.poll(0) and line.recv(1, socket.MSG_PEEK) + line.recv(100))
STAGE = Stage(lock=Lock, store="redis")
"""
)


@pytest.fixture
def tree(tmp_path, request):
    path = tmp_path / "tries.py"
    source = request.param if request.param.startswith('"""') else SOURCE.format(then=request.param)
    path.write_text(source.replace("{then}", "pass"), encoding="utf-8")
    made = Tree(Program(find_stage(str(path)), Task(3000)), 0)
    yield made
    made.close()


@pytest.mark.parametrize("tree", [PEEKS], indirect=True)
def test_byte_that_is_peeked_at_stays(tree):
    """A client that polls a connection and peeks at its first byte still reads that byte afterwards."""
    assert tree.nodes[0].pending[0].words == (b"DEL", b"++PONG\r\n")


@pytest.mark.parametrize("tree", ["pass"], indirect=True)
def test_each_step_is_learned_once(tree):
    """The code runs once for each step, however often and in whatever order the steps are requested."""
    first = tree.step(0, 0, REFUSED, 0)
    again = tree.step(tree.step(first, 0, None, 100), 0, REFUSED, 100)
    known = len(tree.nodes)

    assert isinstance(tree.nodes[0].pending[0], CommandSent)
    assert isinstance(tree.nodes[first].pending[0], Nap)
    assert tree.nodes[0].pending[0].words == (b"SET", b"L", b"x", b"NX")
    assert tree.step(0, 0, REFUSED, 0) == first != again
    assert len(tree.nodes) == known


@pytest.mark.parametrize("tree", [LOOKS], indirect=True)
def test_a_step_at_another_time(tree):
    """A step that reads the clock can send another command at another time."""
    words = [tree.nodes[tree.step(0, 0, OK, at_ms)].pending[0].words[0] for at_ms in (0, 2000)]

    assert words == [b"GET", b"DEL"]


@pytest.mark.parametrize("tree", ["pass"], indirect=True)
def test_waiter_that_sleeps(tree):
    """A waiter that sleeps between two tries has one nap after each try, however often it was refused."""
    place = 0
    for tries in range(5):
        place = tree.step(place, 0, REFUSED, 100 * tries)
        assert isinstance(tree.nodes[place].pending[0], Nap)
        place = tree.step(place, 0, None, 100 * tries + 100)
        assert isinstance(tree.nodes[place].pending[0], CommandSent)


@pytest.mark.parametrize("tree", [SPINS], indirect=True, ids=["spins"])
def test_waiter_that_spins(tree):
    """A waiter that sends the same command again without a sleep naps before the third time."""
    twice = tree.step(tree.step(0, 0, REFUSED, 0), 0, REFUSED, 0)

    assert isinstance(tree.nodes[tree.step(0, 0, REFUSED, 0)].pending[0], CommandSent)
    assert isinstance(tree.nodes[twice].pending[0], Nap)


@pytest.mark.parametrize("tree", [PATIENT], indirect=True, ids=["patient"])
def test_client_that_gives_up(tree):
    """A client gives up when the time-out of its socket is over; if the connection breaks, it raises another error."""
    (waits,) = tree.nodes[0].pending

    assert (waits.words, waits.patience_ms, waits.until_ms) == ((b"BLPOP", b"q", b"0"), 1000, None)
    assert tree.nodes[tree.step(0, 0, GAVE_UP, 1000)].pending[0].words == (b"DEL", b"late")
    assert tree.nodes[tree.step(0, 0, LOST, 500)].pending[0].words == (b"DEL", b"broken")


def test_a_mutex_outlives_its_replica():
    """Outside of replicas, a replica's mutex keeps the threads of this process apart."""
    mutex = ReplicaMutex()
    with ThreadPoolExecutor(1) as pool:
        with mutex:
            assert not pool.submit(mutex.acquire, timeout=0.01).result()
        assert pool.submit(mutex.acquire, timeout=10).result()
    assert mutex.locked()


SCRIPTS = {
    "OBJECT": """eval("return redis.call('object', 'idletime', KEYS[1])", 1, self.key)""",
    "SPOP": """script_load("local ask = redis.call return ask( 'SPOP', KEYS[1])")""",
    "SELECT": """function_load("#!lua name=mine\\nredis.register_function('f', function() redis.call('select', 1) end)")""",
    "": """eval("return redis.call('hget', KEYS[1], 'object')", 1, self.key)""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_commands_in_a_script(name, tmp_path):
    """A script that calls a command without a model is refused with its name; a field of the same name is accepted."""
    path = tmp_path / "scripted.py"
    path.write_text(SOURCE.format(then=f"self.store.plain().{SCRIPTS[name]}"), encoding="utf-8")
    with closing(Tree(Program(find_stage(str(path)), Task(3000)), 0)) as tree:
        if name:
            with pytest.raises(NotExplored, match=f"it sends {name}"):
                tree.step(0, 0, OK, 0)
        else:
            assert isinstance(tree.nodes[tree.step(0, 0, OK, 0)].pending[0], CommandSent)

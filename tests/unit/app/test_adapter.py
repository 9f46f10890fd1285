"""Any lock with acquire and release as a stage: what its errors mean, and how one is asked that does not wait."""

import contextlib
from concurrent.futures import Future
from datetime import timedelta

import pytest

from app.foreign import adapter
from app.foreign.adapter import adapted, retried
from app.foreign.shapes import ADVICE, Unknown
from app.lock import NotAcquired, NotOwner


class Free:
    """A lock that is always free."""

    def __init__(self, key: str) -> None:
        self.key = key

    def acquire(self) -> None: ...
    def release(self) -> None: ...


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The seconds that have passed: only a sleep takes any."""
    now = [0.0]
    monkeypatch.setattr(adapter.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(adapter.time, "sleep", lambda s: now.__setitem__(0, now[0] + s))
    return now


def run(kind, work=lambda grant: "done", ttl_ms=3000, wait_ms=1000, **how):
    return adapted(kind, **how)(None, "key", ttl_ms, wait_ms, 30).run(work)


@pytest.mark.parametrize(("method", "means"), [("acquire", NotAcquired), ("release", NotOwner)])
def test_error_is_an_answer(method, means):
    """An error whose name says "not acquired" is a refusal of an acquire, and at a release the answer that the lock was lost."""
    not_acquired = type("NotAcquired", (RuntimeError,), {})

    def fail(lock: Free) -> None:
        raise not_acquired(lock.key)

    assert run(Free) == "done"
    with pytest.raises(means):
        run(type("Lock", (Free,), {method: fail}))


@pytest.mark.parametrize(("succeeds_at", "granted", "asked"), [(0, True, 1), (2, True, 3), (99, False, 5)])
def test_retried(succeeds_at, granted, asked, clock):
    """An attempt is made again after each pause until one succeeds or the time is over."""
    tries = []

    def attempt() -> bool:
        tries.append(clock[0])
        return len(tries) > succeeds_at

    assert (retried(attempt, 3.5, 1.0), len(tries)) == (granted, asked)


class Timed(Free):
    def __init__(self, name: str, timeout: float = 9, /, retry_delay: float = 1) -> None:
        super().__init__(name)
        self.given = name, timeout, retry_delay


class Named(Free):
    def __init__(self, name: str, timeout: float = 9, retry_delay: float = 1, colour: str = "") -> None:
        super().__init__(name)
        self.given = name, timeout, retry_delay


class All(Named):
    """Gives a default of its own, and hands all arguments on."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        kwargs.setdefault("colour", "red")
        super().__init__(*args, **kwargs)


class Renames(All):
    def __init__(self, lock_name: str, **kwargs: object) -> None:
        super().__init__(lock_name, **kwargs)


class Flags(Named):
    """Takes flags, and an object, that have the names of times."""

    def __init__(self, name: str, timeout: float = 9, wait: bool = True, retry: object = EOFError) -> None:
        super().__init__(name, timeout, 0.03 if (wait, retry) == (True, EOFError) else 0)


class OfC(Free, dict):
    given = ("key", 3, 0.03)

    def __init__(self, lock_name: str, **kwargs: object) -> None:
        super().__init__(lock_name)


@pytest.mark.parametrize("kind", [Timed, Named, All, Renames, Flags, OfC])
def test_arguments_of_a_class_that_it_extends(kind):
    """A class with ``**kwargs`` gets what the class takes that it extends; what can be no time keeps its default."""
    made = []

    run(type("Lock", (kind,), {"acquire": lambda lock: made.append(lock.given)}))

    assert made == [("key", 3, 0.03)]


@pytest.mark.parametrize("method", ["acquire", "release"])
@pytest.mark.parametrize("answer", [lambda lock: (yield), lambda lock: Future()], ids=["generator", "future"])
def test_answer_that_has_not_run(method, answer):
    """What does nothing before somebody runs it is no answer: neither a grant nor a release."""
    with pytest.raises(Unknown):
        run(type("Lock", (Free,), {method: answer}))


@pytest.mark.parametrize("is_release_plain", [False, True])
def test_plain_method_that_gives_a_coroutine(is_release_plain, monkeypatch):
    """A method that returns a coroutine is one of asyncio, also where it is not declared with async; another may be plain."""
    monkeypatch.setattr(adapter, "_address", lambda store: {"host": "127.0.0.1", "port": 1})
    called = []

    async def answered(name: str) -> bool:
        called.append(name)
        return True

    def release(lock: Free) -> object:
        return called.append("release") if is_release_plain else answered("release")

    assert run(type("Lock", (Free,), {"acquire": lambda lock: answered("acquire"), "release": release})) == "done"
    assert called == ["acquire", "release"]


@pytest.mark.parametrize(("ttl_ms", "in_ms", "given"), [(3000, False, 3), (300, False, 0.3), (3000, True, 3000)])
def test_units_of_the_ttl(ttl_ms, in_ms, given):
    """Whole seconds are a whole number, which EX takes. A TTL that means "ttl_ms" is in milliseconds."""
    found = []

    def make(key: str, ttl: float) -> Free:
        found.append(ttl)
        return Free(key)

    run(make, ttl_ms=ttl_ms, means={"ttl": "ttl_ms"} if in_ms else {})

    assert (found, type(found[0])) == ([given], type(given))


def test_time_as_a_timedelta():
    """A parameter whose default, or whose annotation, is a timedelta gets one."""
    found = []

    def make(key: str, ttl: timedelta, wait: object = timedelta(seconds=9)) -> Free:
        found.extend([ttl, wait])
        return Free(key)

    adapted(make)(None, "key", 3000, 1500, 30).run(lambda grant: None)  # type: ignore[arg-type]

    assert found == [timedelta(seconds=3), timedelta(seconds=1.5)]


class Manager:
    freed: list[tuple[str, str]]

    def acquire(self, name: str) -> str:
        return f"token of {name}"

    def release(self, name: str, token: str) -> None:
        self.freed.append((name, token))


class ByPlace(Manager):
    def release(self, name: str, token: str, /, *others: object) -> None:
        self.freed.append((name, token))


class ByNameAlone(Manager):
    def release(self, *, token: str, name: str, **others: object) -> None:
        self.freed.append((name, token))


@pytest.mark.parametrize("kind", [Manager, ByPlace, ByNameAlone])
def test_release_by_name(kind):
    """A manager that is given the name at each call gets the key, and its token where it asks for that."""
    freed: list[tuple[str, str]] = []

    run(type("Lock", (kind,), {"freed": freed}))

    assert freed == [("key", "token of key")]


def answering(what: object, left: list[object]) -> type:
    """A block that gives this, and notes that it was left."""

    class Block:
        def __init__(self, key: str) -> None: ...

        def __enter__(self) -> object:
            if isinstance(what, Exception):
                raise what
            return what

        def __exit__(self, *_: object) -> None:
            left.append(what)

    return Block


@pytest.mark.parametrize(
    ("what", "says_yes", "is_granted"),
    [(False, False, False), (None, True, False), (None, False, True), (True, True, True), ([], True, True)],
)
def test_block_that_is_refused_is_left(what, says_yes, is_granted):
    """A block may give its answer; what is no plain answer is the lock itself. A refused one is left, as ``with`` leaves it."""
    left: list[object] = []

    with contextlib.nullcontext() if is_granted else pytest.raises(NotAcquired):
        assert run(answering(what, left), wait_ms=0, says_yes=says_yes) == "done"
    assert left == [what]


def test_block_that_raises_is_not_left():
    """A block whose __enter__ raised was not entered."""
    left: list[object] = []

    with pytest.raises(NotAcquired):
        run(answering(NotAcquired("key", 0), left), wait_ms=0)
    assert left == []


def wraps(before, after):
    """Return a factory of decorators that do something before and after what they wrap."""

    def make(key: str):
        def decorate(function):
            def wrapped():
                if before() is False:
                    return None
                try:
                    return function()
                finally:
                    after()

            return wrapped

        return decorate

    return make


def fails(name):
    """Return a function that raises an error with a name."""

    def fail():
        raise type(name, (RuntimeError,), {})

    return fail


@pytest.mark.parametrize(
    ("before", "after", "raised"),
    [
        (lambda: None, lambda: None, None),
        (iter([False, True]).__next__, lambda: None, None),
        (lambda: False, lambda: None, NotAcquired),
        (fails("Locked"), lambda: None, NotAcquired),
        (fails("Odd"), lambda: None, RuntimeError),
        (lambda: None, fails("LockExpired"), NotOwner),
    ],
    ids=["free", "free at the second try", "does not run it", "refuses", "fails", "lost"],
)
def test_decorator_is_a_lock(before, after, raised, clock):
    """A decorator runs the work once. One that does not run it has refused, and its errors mean what those of a method do."""
    done = []

    with pytest.raises(raised) if raised else contextlib.nullcontext():
        assert run(wraps(before, after), done.append) is None
    assert len(done) == (raised in (None, NotOwner))


def test_decorator_and_an_error_of_the_work():
    """An error of the work stays what it is, also where the decorator keeps it to itself, and whatever its name is."""

    def keeps(key: str):
        def decorate(function):
            def wrapped():
                with contextlib.suppress(Exception):
                    function()

            return wrapped

        return decorate

    lost = type("LeaseLost", (RuntimeError,), {})

    def work(grant):
        raise lost

    for make in (keeps, wraps(lambda: None, lambda: None)):
        with pytest.raises(lost):
            run(make, work)


def test_what_is_no_lock_is_refused_with_advice():
    """What has no shape that is known is refused with the names of its methods; so is a decorator of coroutines."""

    def of_coroutines(key: str):
        def decorate(function):
            async def wrapped():
                return function()

            return wrapped

        return decorate

    tries = type("Tries", (), {"__init__": lambda self, key: None, "try_lock": lambda self: True})

    for make, named in ((tries, "Its methods: try_lock"), (of_coroutines, "decorate wraps coroutines")):
        with pytest.raises(Unknown, match=named) as refused:
            run(make)
        assert ADVICE in str(refused.value)

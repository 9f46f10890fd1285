"""The shapes of locks: two methods, or a ``with`` block, of threads or of asyncio; each becomes a lock with two methods.

A decorator, and what runs a function that it is given, has no methods: it becomes a lock that runs a function.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import sys
from collections.abc import Callable
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, get_type_hints

ADVICE = "Let a function of your own return an object with acquire and release"
UNFINISHED = (GeneratorType, AsyncGeneratorType, CoroutineType, concurrent.futures.Future, asyncio.Future)
MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
PLAIN = (bool, int, float, str, bytes, type(None))  # answers that say what they mean


class Unknown(TypeError):  # noqa: N818 - names what the parameter is
    """A lock cannot be made: a parameter without a default has a name that nobody knows, or the lock has no methods."""


class Block:
    """A lock for a ``with`` block, as one with methods."""

    def __init__(self, lock: Any) -> None:
        self.lock = lock

    def leave_refused(self, has_answered: bool) -> None:
        """Leave a block whose answer was a refusal, as ``with`` does. One that raised was not entered."""
        if has_answered:
            self.lock.__exit__(None, None, None)

    async def leave_refused_async(self, has_answered: bool) -> None:
        """Leave an ``async with`` block."""
        if has_answered:
            await self.lock.__aexit__(None, None, None)


class SyncBlock(Block):
    """One of ``with``. What ``__exit__`` answers says nothing of the lock."""

    def acquire(self) -> Any:
        return _entered(self.lock.__enter__())

    def release(self) -> None:
        self.lock.__exit__(*sys.exc_info())


class AsyncBlock(Block):
    """One of ``async with``."""

    async def acquire(self) -> Any:
        return _entered(await self.lock.__aenter__())

    async def release(self) -> None:
        await self.lock.__aexit__(*sys.exc_info())


class Decorator:
    """A lock that wraps a function, or runs one that it is given, under the lock."""

    def __init__(self, lock: Callable[..., Any]) -> None:
        self.lock = lock

    def run(self, function: Callable[[], Any]) -> bool:
        """Run a function. Return whether the lock let it run: one that does not is a refusal. Raises Unknown."""
        calls = 0

        def counted() -> Any:
            nonlocal calls
            calls += 1
            return function()

        answer = self.lock(counted)
        if not calls and callable(answer):  # a decorator: what it has wrapped is called now
            answer = answer()
        if inspect.iscoroutine(answer):
            answer.close()
            raise Unknown(f"{_named(self.lock)} wraps coroutines. {ADVICE}")
        return calls > 0


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a call. A class that takes ``**kwargs`` also takes what the class takes that it extends."""
    found = dict(inspect.signature(function).parameters)
    makers = [kind for kind in getattr(function, "__mro__", (object,)) if "__init__" in vars(kind)]
    for kind in makers[1:-1]:  # the last one is object
        if not any(one.kind is one.VAR_KEYWORD for one in found.values()):
            break
        found = {name: one for name, one in found.items() if one.kind is not one.VAR_KEYWORD}
        with contextlib.suppress(ValueError):  # a class of C has no signature
            its = inspect.signature(kind).parameters.values()
            # its class may give what has no default there
            found |= {
                one.name: one.replace(default=None) if one.default is one.empty and one.kind not in MANY else one
                for one in its
                if one.name not in found
            }
    return found


def called(function: Callable[..., Any], words: dict[str, Any]) -> Any:
    """Call a function with arguments by name, but for those that it takes by their place alone."""
    first = [
        words.pop(name) for name, one in parameters_of(function).items() if one.kind is one.POSITIONAL_ONLY and name in words
    ]
    return function(*first, **words)


def finished(answer: Any) -> Any:
    """Return an answer. Raises Unknown for what is none before somebody runs or awaits it."""
    if isinstance(answer, UNFINISHED):
        if inspect.iscoroutine(answer):
            answer.close()
        raise Unknown(f"it answers with {answer!r:.60}, which is neither yes nor no before it has run. {ADVICE}")
    return answer


def _entered(what: object) -> object:
    """Return what a block answers, where it answers. It often gives the lock itself, which says nothing."""
    return what if isinstance(what, PLAIN) else True


def in_methods(lock: Any) -> Any:
    """Return a lock that has methods, or a Decorator. Raises Unknown."""
    if _pair(lock):
        return lock
    for name, kind in (("__enter__", SyncBlock), ("__aenter__", AsyncBlock)):
        if hasattr(lock, name):
            return kind(lock)
    if callable(lock) and not isinstance(lock, type):
        return Decorator(lock)
    found = ", ".join(name for name in dir(lock) if not name.startswith("_") and callable(getattr(lock, name, None)))
    raise Unknown(
        f"{_named(lock)} has neither acquire and release, nor lock and unlock, nor is it for a with block, nor a decorator. "
        f"Its methods: {found or 'none'}. {ADVICE}"
    )


def _named(lock: Any) -> str:
    return str(getattr(lock, "__name__", type(lock).__name__))


def methods(lock: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return how a lock that has methods is acquired and released."""
    acquire, release = _pair(lock)
    return getattr(lock, acquire), getattr(lock, release)


def _pair(lock: Any) -> tuple[str, ...]:
    """Return the names of the methods that acquire and release a lock; nothing where it has none."""
    pairs = (("acquire", "release"), ("lock", "unlock"))
    return next((pair for pair in pairs if all(callable(getattr(lock, name, None)) for name in pair)), ())


def is_async(make: Callable[..., Any]) -> bool:
    """Return whether the methods of a lock are coroutines. make: its class, or a function whose annotation names the class."""
    kind = make if isinstance(make, type) else _returned(make)
    return any(inspect.iscoroutinefunction(getattr(kind, name, None)) for name in ("acquire", "lock", "__aenter__"))


def _returned(make: Callable[..., Any]) -> Any:
    """Return the class that a function says it returns; None where it says none."""
    try:
        return get_type_hints(make).get("return")
    except (NameError, TypeError, AttributeError):  # of a name that only a type checker knows
        return None

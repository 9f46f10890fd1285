"""Copies of modules for one replica: each process has its own globals, and the explorer's time, threads and chance.

A copy is made of the module's own code, unchanged. Its imports give it copies too, where a module has state that belongs to one
process, and stand-ins for the modules in ``overlay.MODULES``. All other imports are the ordinary ones.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

from lab.explore.overlay import MODULES

# each replica has its own: the stages with what they keep in their process
COPIED = ("app.locks.",)
# may be shared by all replicas: classes that ask for the time or start threads, and nothing that a process keeps
SHARED = (
    "app.increment",
    "app.nested_lock",
    "app.fair_mutex",
    "app.cohort_mutex",
    "app.stores.redis_nodes",
    "app.stores.redis_subscriptions",
    "redis.lock",
)

ITERATOR = "_iterator_"  # how the names of their iterators begin


@cache
def _code(path: str) -> CodeType:
    tree = ast.parse(Path(path).read_bytes(), path)
    return compile(ast.fix_missing_locations(_Iterators().visit(tree)), path, "exec")


class _Iterators(ast.NodeTransformer):
    """Puts the iterator of each ``for`` loop into a variable before the loop begins: where a loop stands is then seen."""

    number = 0

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        self.generic_visit(node)
        self.number += 1
        name = f"{ITERATOR}{self.number}"
        made = ast.Call(ast.Name("iter", ast.Load()), [node.iter], [])
        before = ast.Assign([ast.Name(name, ast.Store())], made)
        node.iter = ast.copy_location(ast.Name(name, ast.Load()), node.iter)
        for one in (made.func, made, before.targets[0], before):
            ast.copy_location(one, node.iter)
        return [before, node]


@cache
def _path(name: str) -> str:
    spec = importlib.util.find_spec(name)
    return spec.origin or "" if spec else ""


class Copies:
    """The modules of one replica."""

    def __init__(self) -> None:
        self._made: dict[str, ModuleType] = {}
        self._builtins = vars(builtins) | {"__import__": self._import}

    @property
    def loaded(self) -> list[ModuleType]:
        """All copies that were made."""
        return list(self._made.values())

    def load(self, path: Path, name: str) -> ModuleType:
        """Return the module that a file holds, as this replica has it."""
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = ModuleType(name)
            _known(name, made)
            made.__dict__.update(__file__=str(path), __builtins__=self._builtins, __package__=name.rpartition(".")[0])
            exec(_code(str(path)), made.__dict__)  # noqa: S102 - the stage's own code is what is explored
        return made

    def get(self, name: str) -> Any:
        """Return a module by its name, as this replica has it. Raises ImportError."""
        if name in MODULES:
            return MODULES[name]
        if name.startswith(COPIED) and (path := _path(name)):
            return self.load(Path(path), name)
        if name in SHARED:
            return shared(name)
        return importlib.import_module(name)

    def _import(self, name: str, names: Any = None, _locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level:
            package = (names or {}).get("__package__") or ""
            for _ in range(level - 1):
                package = package.rpartition(".")[0]
            name = f"{package}.{name}" if name else package
        if not (name in MODULES or name in SHARED or name.startswith(COPIED) or self._has_copies(name, fromlist)):
            return builtins.__import__(name, names, None, fromlist, 0)
        if not fromlist:
            return self.get(name) if "." not in name else builtins.__import__(name.partition(".")[0])
        found = {one: self._attribute(name, one) for one in fromlist if one != "*"}
        return SimpleNamespace(**found) if found else self.get(name)

    def _has_copies(self, name: str, fromlist: Any) -> bool:
        return any(f"{name}.{one}".startswith(COPIED) or f"{name}.{one}" in SHARED for one in fromlist or ())

    def _attribute(self, module: str, name: str) -> Any:
        whole = f"{module}.{name}"
        if whole in SHARED or (whole.startswith(COPIED) and _path_or_none(whole)):
            return self.get(whole)
        return getattr(self.get(module), name)


def _known(name: str, copy: ModuleType) -> None:
    """Make sure that the interpreter knows a module of this name: dataclasses look their module up there."""
    if name not in sys.modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:  # a user's own stage has no name of its own
            sys.modules[name] = copy


def _path_or_none(name: str) -> str | None:
    try:
        return _path(name) or None
    except ModuleNotFoundError:
        return None


_all = Copies()


@cache
def shared(name: str) -> ModuleType:
    """Return the copy of a module that all replicas share."""
    return _all.load(Path(_path(name)), name)

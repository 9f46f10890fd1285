"""The modules of one replica: each process has its own globals.

The stage's file is one of them, and what it imports: other stages, modules next to it, the packages of libraries. What Python's
library and redis-py keep in their modules is shared by all replicas. While a replica runs, its modules are those that the
interpreter knows; so an import in it is an ordinary import, and the code is executed unchanged.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.abc
import importlib.util
import sys
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from app.shelf import yours
from lab.explore.code.replica import current, running
from lab.explore.code.stand_ins import datetime_module

SHELF = "app.locks"
CLIENTS = {"redis", "valkey", "hiredis", "requests"}
SHARED = sys.stdlib_module_names | CLIENTS | {"app", "lab", "greenlet", "msgspec", "anyio", "sniffio"}
FIRST_ADDRESS, STEP = 0x7F00_0000_0000, 64
MOST_MODULES = 80  # of a package: to make a copy of more takes too long for each replica

_datetime = datetime_module()


class Sources:
    """Those imports of a stage's file of which each replica needs a copy."""

    def __init__(self, path: Path, name: str) -> None:
        if _importer not in sys.meta_path:
            sys.meta_path.insert(0, _importer)
        self.path, self.name = path, name
        self.code: CodeType = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        self.names: set[str] = {name}
        self.packages: set[str] = set()
        # packages of which all replicas share one copy, because they are too large
        self.shared: set[str] = set()
        self._hidden: tuple[int, list[str]] = 0, []
        self._follow(path, name)

    @property
    def hidden(self) -> list[str]:
        """Return the modules that the interpreter knows by such a name outside of all replicas."""
        if self._hidden[0] != len(sys.modules):
            self._hidden = len(sys.modules), [name for name in sys.modules if self.are_of(name)]
        return self._hidden[1]

    def _follow(self, path: Path, name: str) -> None:
        for imported in _imports(path, name):
            root = _root(imported)
            if imported.startswith(f"{SHELF}.") and imported not in self.names:
                self.names.add(imported)
                self._follow(Path(_origin(imported)), imported)
            elif root not in SHARED and root not in self.packages and root not in self.shared:
                self._take(root)

    def _take(self, root: str) -> None:
        origin = _origin(root)
        if not origin.endswith(".py"):
            return
        folder = Path(origin).parent
        files = [*folder.rglob("*.py")] if Path(origin).name == "__init__.py" else [Path(origin)]
        if len(files) > MOST_MODULES:
            with contextlib.suppress(Exception):  # a replica meets it again
                importlib.import_module(root)  # how many of them an import loads
        known = [one for one in sys.modules if _root(one) == root]
        if len(known) > MOST_MODULES:
            self.shared.add(root)
            return
        self.packages.add(root)
        if "site-packages" not in origin:
            for file in files:
                self._follow(file, root)

    def are_of(self, name: str) -> bool:
        """Return whether each replica has its own copy of a module."""
        return name in self.names or _root(name) in self.packages


def _root(name: str) -> str:
    """Return the package to which a module belongs, which each replica has for itself, or none."""
    parts = name.split(".")
    return ".".join(parts[: 2 if parts[0] == yours.YOURS else 1])


@cache
def _origin(name: str) -> str:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return ""
    return (spec.origin or "") if spec else ""


def _imports(path: Path, name: str) -> list[str]:
    """Return the names of all modules that a file imports, wherever in it."""
    found = []
    package = name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            found += [yours.meant(str(path), one.name) for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            module = module if node.level else yours.meant(str(path), module)
            found += [module, *(f"{module}.{one.name}" for one in node.names)] if module.startswith("app") else [module]
    return [one for one in found if one and (not one.startswith(f"{SHELF}.") or _origin(one))]


def _id(thing: Any) -> int:
    """Return an address of a thing: the same each time that the code runs, and, as after a fork, the same in all processes."""
    here = running()
    return id(thing) if here is None else here.modules.address(thing)


OWN_BUILTINS: dict[str, Any] = {"id": _id}  # which the modules of a replica find in place of the interpreter's


class _Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of which each replica has its own, while one runs, and executes them. Their code is read once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[CodeType, ModuleSpec]] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        here = running()
        if here is None or not here.modules.sources.are_of(name):
            return None
        if name not in self._known:
            found = PathFinder.find_spec(name, path)
            if found is None or not found.origin or not found.origin.endswith(".py"):
                return found
            self._known[name] = compile(Path(found.origin).read_bytes(), found.origin, "exec", dont_inherit=True), found
        code, found = self._known[name]
        made = ModuleSpec(name, self, origin=found.origin, loader_state=code)
        made.submodule_search_locations = found.submodule_search_locations
        return made

    def exec_module(self, module: ModuleType) -> None:
        about: Any = module.__spec__
        module.__file__ = about.origin
        module.__dict__.update(OWN_BUILTINS)
        current().modules.paths.add(about.origin)
        exec(about.loader_state, module.__dict__)  # noqa: S102 - the stage's own code is what is explored


_importer = _Importer()


class Modules:
    """The modules of one replica."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.own: dict[str, ModuleType] = {}
        self.paths: set[str] = {str(sources.path)}
        self._others: list[tuple[str, ModuleType]] = []
        self._datetime = sys.modules["datetime"]
        self._number = 0
        # by the interpreter's address, a thing whose address was asked for, and which it was
        self.addresses: dict[int, tuple[Any, int]] = {}

    def address(self, thing: Any) -> int:
        """Return the address of a thing. It depends on how many were asked for before."""
        return FIRST_ADDRESS + STEP * self.addresses.setdefault(id(thing), (thing, len(self.addresses)))[1]

    def load(self) -> ModuleType:
        """Execute the stage's file, and return its module. The replica runs."""
        name = self.sources.name
        made = ModuleType(name)
        made.__dict__.update(__file__=str(self.sources.path), __package__=name.rpartition(".")[0], **OWN_BUILTINS)
        self.own[name] = sys.modules[name] = made
        self._number += 1
        self._in_package(name, made)
        exec(self.sources.code, made.__dict__)  # noqa: S102 - the stage's own code is what is explored
        return made

    def enter(self) -> None:
        """Let the interpreter know the modules of this replica, and no others of these names."""
        self._others = [(name, sys.modules.pop(name)) for name in self.sources.hidden]
        for name, _ in self._others:
            self._in_package(name, None)
        for name, module in self.own.items():
            sys.modules[name] = module
            self._in_package(name, module)
        self._datetime, sys.modules["datetime"] = sys.modules["datetime"], _datetime
        self._number = len(sys.modules)

    def leave(self) -> None:
        """Give the names back."""
        if len(sys.modules) != self._number:
            names = list(sys.modules) if self.sources.packages else self.sources.names
            self.own |= {name: sys.modules[name] for name in names if name in sys.modules and self.sources.are_of(name)}
        for name in self.own:
            sys.modules.pop(name, None)
            self._in_package(name, None)
        for name, module in self._others:
            sys.modules[name] = module
            self._in_package(name, module)
        sys.modules["datetime"] = self._datetime

    def _in_package(self, name: str, module: ModuleType | None) -> None:
        """Let a package that all replicas share have a module, or none: ``from app.locks import lua`` asks the package first."""
        parent, _, child = name.rpartition(".")
        package = sys.modules.get(parent) if parent and not self.sources.are_of(parent) else None
        if package is None:
            return
        if module is None:
            vars(package).pop(child, None)
        else:
            setattr(package, child, module)

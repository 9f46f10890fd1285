"""Give each replica its own copies of modules, as each process has its own globals.

Copied are the stage's file and all that it imports: other stages, modules next to it, packages of libraries. The modules of
Python's library and of redis-py are shared by all replicas. While a replica runs, ``sys.modules`` holds its copies. So an import
in a replica is an ordinary import, and the code runs unchanged.
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
MOST_MODULES = 80  # the most modules of a package that is copied for each replica: a larger one takes too long

_datetime = datetime_module()


class Sources:
    """The modules of which each replica needs its own copy: a stage's file and its imports."""

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
        """Return the names in ``sys.modules`` that belong to such modules."""
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
            with contextlib.suppress(Exception):  # a replica that imports it raises the same error
                importlib.import_module(root)  # to count the modules that an import loads
        loaded = [name for name in sys.modules if _root(name) == root]
        if len(loaded) > MOST_MODULES:
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
    """Return the package of a module: replicas have copies of whole packages."""
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
    """Return the names of all modules that a file imports, also inside functions."""
    imported = []
    package = name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            imported += [yours.meant(str(path), alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            module = module if node.level else yours.meant(str(path), module)
            imported += [module, *(f"{module}.{alias.name}" for alias in node.names)] if module.startswith("app") else [module]
    return [module for module in imported if module and (not module.startswith(f"{SHELF}.") or _origin(module))]


def _id(obj: Any) -> int:
    """Return the address of an object: the same in each repetition, and in all replicas, as after a fork."""
    here = running()
    return id(obj) if here is None else here.modules.address(obj)


OWN_BUILTINS: dict[str, Any] = {"id": _id}  # they replace the interpreter's functions in a replica's modules


class _Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the copies of modules while a replica runs. Each file is read and compiled once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[CodeType, ModuleSpec]] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        here = running()
        if here is None or not here.modules.sources.are_of(name):
            return None
        if name not in self._known:
            spec = PathFinder.find_spec(name, path)
            if spec is None or not spec.origin or not spec.origin.endswith(".py"):
                return spec
            self._known[name] = compile(Path(spec.origin).read_bytes(), spec.origin, "exec", dont_inherit=True), spec
        code, spec = self._known[name]
        copy = ModuleSpec(name, self, origin=spec.origin, loader_state=code)
        copy.submodule_search_locations = spec.submodule_search_locations
        return copy

    def exec_module(self, module: ModuleType) -> None:
        spec: Any = module.__spec__
        module.__file__ = spec.origin
        module.__dict__.update(OWN_BUILTINS)
        current().modules.paths.add(spec.origin)
        exec(spec.loader_state, module.__dict__)  # noqa: S102 - the explorer runs the stage's own code


_importer = _Importer()


class Modules:
    """The modules of one replica."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.own: dict[str, ModuleType] = {}
        self.paths: set[str] = {str(sources.path)}
        self._replaced: list[tuple[str, ModuleType]] = []
        self._datetime = sys.modules["datetime"]
        self._number = 0
        # by the interpreter's address: the object whose address the stage has read, and its number
        self.addresses: dict[int, tuple[Any, int]] = {}

    def address(self, obj: Any) -> int:
        """Return a made-up address for an object: it depends only on how many objects got an address before."""
        return FIRST_ADDRESS + STEP * self.addresses.setdefault(id(obj), (obj, len(self.addresses)))[1]

    def load(self) -> ModuleType:
        """Execute the stage's file, and return its module. The replica runs."""
        name = self.sources.name
        module = ModuleType(name)
        module.__dict__.update(__file__=str(self.sources.path), __package__=name.rpartition(".")[0], **OWN_BUILTINS)
        self.own[name] = sys.modules[name] = module
        self._number += 1
        self._in_package(name, module)
        exec(self.sources.code, module.__dict__)  # noqa: S102 - the explorer runs the stage's own code
        return module

    def enter(self) -> None:
        """Put the copies of this replica into ``sys.modules``, in place of the modules of these names."""
        self._replaced = [(name, sys.modules.pop(name)) for name in self.sources.hidden]
        for name, _ in self._replaced:
            self._in_package(name, None)
        for name, module in self.own.items():
            sys.modules[name] = module
            self._in_package(name, module)
        self._datetime, sys.modules["datetime"] = sys.modules["datetime"], _datetime
        self._number = len(sys.modules)

    def leave(self) -> None:
        """Put the modules back that were in ``sys.modules`` before."""
        if len(sys.modules) != self._number:
            names = list(sys.modules) if self.sources.packages else self.sources.names
            self.own |= {name: sys.modules[name] for name in names if name in sys.modules and self.sources.are_of(name)}
        for name in self.own:
            sys.modules.pop(name, None)
            self._in_package(name, None)
        for name, module in self._replaced:
            sys.modules[name] = module
            self._in_package(name, module)
        sys.modules["datetime"] = self._datetime

    def _in_package(self, name: str, module: ModuleType | None) -> None:
        """Set a module, or None, as an attribute of a shared package: ``from app.locks import lua`` reads the attribute first."""
        parent, _, child = name.rpartition(".")
        package = sys.modules.get(parent) if parent and not self.sources.are_of(parent) else None
        if package is None:
            return
        if module is None:
            vars(package).pop(child, None)
        else:
            setattr(package, child, module)

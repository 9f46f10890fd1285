"""Packages of somebody's whose names the lab has as well, such as Flask's usual ``app``: they are imported below ``yours``.

``from yours.app.locks import MyLock`` is their ``app.locks``. Where their own files say ``import app``, they get theirs: the
imports in such a folder are read so, and nothing else of a file changes. A folder without such a name is left alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType

YOURS = "yours"
OURS = ("app", "lab", "locustfiles", "scenarios", "workers")
HOME = Path(__file__).parents[2]
FOLDERS: dict[Path, tuple[str, ...]] = {}  # of somebody's, with the names in them


def take(folder: Path) -> tuple[str, ...]:
    """Let the modules of a folder be imported, if it has names of ours. Return these names."""
    names = () if folder == HOME else tuple(one for one in OURS if (folder / one).is_dir() or (folder / f"{one}.py").is_file())
    if names:
        FOLDERS[folder] = names
        if FINDER not in sys.meta_path:
            sys.meta_path.insert(0, FINDER)
    return names


def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file, as it is executed."""
    read = ast.parse(path.read_bytes(), str(path))
    for node in ast.walk(read):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, field, None), list):
                body[:] = [made for one in body for made in _imports(one, _names_at(str(path)))]
    return read


def _names_at(path: str) -> tuple[str, ...]:
    """Return which names of a file's imports are somebody's own; none of a file elsewhere, or of an environment."""
    return next(
        (names for folder, names in FOLDERS.items() if path.startswith(f"{folder}/") and "/site-packages/" not in path), ()
    )


def _imports(one: ast.stmt, names: Sequence[str]) -> list[ast.stmt]:
    """Return what stands for a statement: an import of such a name finds it below ``yours``."""
    if isinstance(one, ast.ImportFrom) and not one.level and str(one.module).partition(".")[0] in names:
        one.module = f"{YOURS}.{one.module}"
    if not isinstance(one, ast.Import):
        return [one]
    roots = [(each, each.name.partition(".")[0]) for each in one.names]
    for each, root in roots:
        each.name = f"{YOURS}.{each.name}" if root in names else each.name
    bound = [ast.alias(root) for each, root in roots if root in names and not each.asname]
    return [one, *([ast.fix_missing_locations(ast.copy_location(ast.ImportFrom(YOURS, bound, 0), one))] if bound else [])]


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:  # never from Python's cache: elsewhere the file has other imports
        return compile(tree(Path(self.path)), self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds modules in these folders."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if name == YOURS and FOLDERS:
            made = ModuleSpec(name, None, is_package=True)
            made.submodule_search_locations = [*map(str, FOLDERS)]
            return made
        found = None if name in OURS else PathFinder.find_spec(name, path)
        if found is None or not (found.origin or "").endswith(".py") or not _names_at(str(found.origin)):
            return None
        found.loader = _Loader(name, str(found.origin))
        return found


FINDER = _Finder()

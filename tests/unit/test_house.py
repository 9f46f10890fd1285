"""The house: folders that a newcomer understands, paths that exist, words that were retired."""

import ast
import re
import subprocess
from pathlib import Path

from lab.paths import HOME
from tests.every import every
from tools.book import generate

FOLDERS = sorted(path.parent for path in (HOME / "lab").glob("*/__init__.py"))
MOST_MODULES = 11  # directly in lab/
NEW_LINE = "\n"
A_PATH = re.compile(r"`((?:app|lab|tests|docs|scenarios|locustfiles)/[\w./-]+)`")

# a word, and what to write instead
RETIRED = {
    "beside": "next to, also",
    "blame": "attribution",
    "hearing": "subscription",
    "heal|heals|healed|healing": "recover",
    "keeper": "supervisor",
    "leap|leaps|leapt": "jump",
    "nought": "zero",
    "of whom": "a noun",
    "passage": "request context",
    "strike|strikes|striking|struck": "inject, fault",
    "tell|tells|told|telling": "report, record, state",
    "thaw|thaws|thawed": "resume",
    "that which": "a noun",
    "warden": "agent",
    "waver|wavers|wavering": "flaky",
    "whoever": "a noun: holder, waiter, replica, client",
}
SPEECH = re.compile(rf"\b(?:{'|'.join(RETIRED)})\b")
QUOTED = {  # where a retired word is somebody else's, or is on disk; each with its reason
    "CHANGELOG.md": "names what the first edition said",
    "docs/glossary.md": "explains words of the documents",
    "tests/unit/test_house.py": "is this list",
}


@every("folder", FOLDERS)
def test_a_folder_says_what_it_is(folder):
    """The docstring of each folder says in a few lines what is in it."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""

    assert 3 <= len(text.splitlines()) <= 12
    assert "In it:" in text


def test_few_modules_lie_directly_in_lab():
    """A module lies directly in lab/ only where every step uses it, or where the steps meet."""
    modules = [path.name for path in (HOME / "lab").glob("*.py")]

    assert len(modules) <= MOST_MODULES, modules


@every("path", generate.documents)
def test_paths_in_documents_exist(path):
    """Each file or folder that a document names is there."""
    named = A_PATH.findall(path.read_text(encoding="utf-8"))

    assert [name for name in named if not (HOME / name).exists() and "<" not in name] == []


def texts() -> list[str]:
    """Return the files that people read, as git knows them."""
    listed = subprocess.run(["git", "ls-files"], cwd=HOME, capture_output=True, text=True, check=True).stdout.split("\n")
    kinds = (".py", ".md", ".toml", ".html", ".js", ".css", ".yml", "Makefile")
    return [name for name in listed if name.endswith(kinds) and not name.startswith("reports/") and name not in QUOTED]


@every("name", texts)
def test_retired_words_stay_retired(name):
    """No text uses a word that was retired. ``RETIRED`` has what to write instead."""
    text = Path(HOME / name).read_text(encoding="utf-8").lower()

    assert [f"{text.count(NEW_LINE, 0, one.start()) + 1}: {one[0]}" for one in SPEECH.finditer(text)] == []

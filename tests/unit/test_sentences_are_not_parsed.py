"""Facts first, words last: nothing takes a sentence apart to learn what happened."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache

from lab.paths import HOME
from lab.story import say
from tests.every import every

CUTTING = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit", "replace"}
MATCHING = {"compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"}
ARGUMENTS = r"""\((?:[^()]|\([^()]*\))*?["'][^"'\n]*?[A-Za-z]{2,} [a-z]{2,}"""  # with prose in them: most files have none
CALL = re.compile(rf"\.(?:{'|'.join(CUTTING | MATCHING)}){ARGUMENTS}")
PROSE = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")  # two words in a row
CURRENT = re.compile(r"\{\w+\}")
# by file: whose text it is, that it is no sentence of the lab about a run
EXCEPTIONS = {
    "tools/book/website.py": "HTML",
    "lab/report/markdown.py": "HTML",
    "tools/book/translations.py": "a comment in a Markdown file",
    "lab/commands/new_lock.py": "Python, of which a copy is made",
    "lab/play/page.py": "HTML",
    "lab/story/timeline.py": "the refusal of a resource, as the stage's error has it in the journal",
    "lab/run/environment.py": "/proc/cpuinfo",
    "lab/scenario/reader.py": "the error of the TOML parser",
}


@cache
def judges_words() -> list[str]:
    """The fixed pieces, of three words or more, of what lab/story says of a verdict."""
    texts = [text for table in ("fact", "mechanism", "verdict") for text in say.words(say.ENGLISH)[table].values()]
    pieces = [piece.strip(" ,;:.()") for text in texts for piece in CURRENT.split(text)]
    return [piece for piece in pieces if piece.count(" ") > 1]


def is_prose(text: str) -> bool:
    return PROSE.search(text) is not None


def is_a_judges(text: str) -> bool:
    return any(words in text for words in judges_words())


def cut(source: str, is_forbidden: Callable[[str], bool]) -> Iterator[int]:
    """Yield the lines in which such a text is cut or matched."""
    for node in ast.walk(ast.parse(source)) if CALL.search(source) else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            if node.func.attr in (MATCHING if of_re else CUTTING):
                texts = [one.value for arg in node.args for one in ast.walk(arg) if isinstance(one, ast.Constant)]
                if any(isinstance(text, str) and is_forbidden(text) for text in texts):
                    yield node.lineno


def files(folder: str) -> list[str]:
    return sorted(str(path.relative_to(HOME)) for path in (HOME / folder).rglob("*.py"))


@every("path", [path for path in files("lab") if path not in EXCEPTIONS])
def test_lab(path):
    """No code of the lab cuts or matches prose."""
    assert list(cut((HOME / path).read_text(encoding="utf-8"), is_prose)) == []


@every("path", [path for path in files("tests") if path not in EXCEPTIONS])
def test_tests(path):
    """No test cuts or matches the judge's words: it asks for codes and figures."""
    source = (HOME / path).read_text(encoding="utf-8")

    assert not is_a_judges(source) or list(cut(source, is_a_judges)) == []


@every("path", list(EXCEPTIONS))
def test_exception_is_needed(path):
    """A file is an exception only as long as it cuts prose."""
    assert list(cut((HOME / path).read_text(encoding="utf-8"), is_prose))


@every(
    "source, number",
    [
        ('why.startswith("the danger was never reached")', 1),
        ('re.search(r"inside at once (\\d+)", what)', 1),
        ('text.replace(f"{n} increments lost", "")', 1),
        ('path.startswith("journal/")', 0),
        ('"inside at once" in why', 0),
    ],
)
def test_rule_finds(source, number):
    """The rule finds a sentence that is cut, and no path."""
    assert len(list(cut(source, is_prose))) == number

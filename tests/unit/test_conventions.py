"""Test the rules of the project."""

import ast
import inspect
import re
import shlex
import subprocess
import sys

from click import Group

from app.lock import Claim
from app.locks import PARTS, part, stages
from lab.cli import lab
from lab.judge.promises import PROMISES, ROWS
from lab.paths import HOME
from lab.scenario import reader
from tests.every import every
from tools.book import chapters, generate

STAGES = stages()
DOCUMENTS = generate.documents()


def source(name: str) -> str:
    return STAGES[name].path.read_text(encoding="utf-8")


def lines_of_code(text: str) -> int:
    """Return the number of lines that are neither blank nor a comment, nor within a text of several lines, such as Lua."""
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno != node.lineno:
            skipped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for number, line in lines if number not in skipped and line.strip() and not line.strip().startswith("#"))


@every("name", STAGES)
def test_form_of_a_stage(name):
    """A stage has its story in four parts, a class Lock with the parameters of every lock, and few lines of code."""
    stage, story = STAGES[name], STAGES[name].story
    parameters = list(inspect.signature(stage.lock).parameters)
    rule = (HOME / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (most,) = re.findall(r"at most (\d+) lines of code", rule)

    assert all((story.problem, story.idea, story.still, story.see_it))
    assert stage.lock.__name__ == "Lock"
    assert parameters[:5] == ["store", "key", "ttl_ms", "wait_ms", "retry_ms"]
    assert not stage.lease or "lease_ms" in parameters
    assert lines_of_code(source(name)) <= int(most)


@every("name", lambda: [name for name, stage in STAGES.items() if stage.follows])
def test_problem_is_in_a_stage_before(name):
    """The problem of a stage is, word for word, in the **Still** of the stage that it follows, or of an earlier one."""
    before = STAGES[STAGES[name].follows]
    wrong = f"Problem of {name} is no line of the Still of {before.name} or a stage before it; the lines of {before.name}:\n- "

    assert ".still_" in chapters.id_of_problem(STAGES[name]), wrong + "\n- ".join(before.story.still)


def test_order_of_the_ladder():
    """Every stage belongs to a part and comes after the stage that it follows, and every place in a part belongs to a stage."""
    order = list(STAGES)

    assert {name for names in PARTS.values() for name in names} <= {*order}
    assert all(order.index(stage.follows) < order.index(name) for name, stage in STAGES.items() if stage.follows)
    assert {part(name) for name in order} == {*PARTS}


def test_every_claim_is_tested_by_a_scenario():
    """Each claim has a scenario that tests it, and its one row in the table by which it is judged."""
    assert sorted(PROMISES) == sorted(claim.name for claim in Claim)
    assert len(ROWS) == len(PROMISES)
    assert {reader.load(name).tests for name in reader.names()} >= {*Claim}


A_PATH = re.compile(r"`((?:app|lab|tests|tools|docs|scenarios|locustfiles|libraries|corpus)/[\w./-]+)`")


@every("path", DOCUMENTS)
def test_paths_in_documents_exist(path):
    """Each file or folder that a document names exists."""
    named = A_PATH.findall(path.read_text(encoding="utf-8"))

    assert [name for name in named if not (HOME / name).exists() and "<" not in name] == []


PROSE = re.compile(r'"""(?:.*?)"""|# [^\n]*', re.DOTALL)  # docstrings and comments
A_NAME = re.compile(r"\b(?:app|lab|tests|tools)(?:(?:\.[a-z_]+){2,}\b|(?:/\w+)+\.py\b)|(?<=``)\w+\.py(?=``)")


def test_names_in_comments_exist():
    """Each module and file that a comment or a docstring names exists."""
    files = [path for folder in ("app", "lab", "tests", "tools") for path in (HOME / folder).rglob("*.py")]
    known = {path.name for path in files} | {str(part.relative_to(HOME)) for path in files for part in (path, path.parent)}
    prose = [(path.name, text) for path in files for text in PROSE.findall(path.read_text(encoding="utf-8"))]
    named = {(file, name) for file, text in prose for name in A_NAME.findall(text)}
    modules = {name: name.replace(".", "/") for _, name in named if not name.endswith(".py")}
    exist = {name for name, path in modules.items() if {path, f"{path}.py", f"{path.rpartition('/')[0]}.py"} & known}

    assert [(file, name) for file, name in sorted(named) if name not in known | exist] == []


@every("name", reader.names)
def test_scenario_fits_a_stage(name):
    """Every scenario loads, states its danger, and fits some stage."""
    one = reader.load(name)

    assert one.danger
    assert any(one.misfit(stage) is None for stage in STAGES.values())


def commands() -> list[tuple[str, str]]:
    """Return every command that a docstring or a document asks the reader to type, with the name of its file."""
    found = [(line, f"{name}.py") for name, stage in STAGES.items() for line in stage.story.see_it]
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        fenced = "\n".join(re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL)).splitlines()
        inline = re.findall(r"`((?:make|lab|\.venv/bin/lab) [^`]+)`", text)
        found += [(line.removeprefix("$ ").partition("#")[0].strip(), path.name) for line in [*fenced, *inline]]
    return [(line, where) for line, where in found if re.match(r"(make|lab|\.venv/bin/lab)\b", line) and "…" not in line]


EXPERIMENTS = lab.get_command(None, "experiment").commands


@every("line, where", commands)
def test_every_command_that_is_told_exists(line, where):
    """Each command in a docstring or a document exists, with its options, its stages and its scenario."""
    words = shlex.split(line)
    if words[0] == "make":
        makefile = (HOME / "Makefile").read_text(encoding="utf-8")
        target = next((word for word in words[1:] if "=" not in word), "help")
        experiment = next((word.removeprefix("NAME=") for word in words if word.startswith("NAME=")), target)
        command = EXPERIMENTS.get(experiment) or lab.get_command(None, {"scenario": "run"}.get(target, target))
        flags = {flag.strip("-").replace("-", "_") for one in command.params for flag in one.opts} if command else {"out"}
        known = flags | {"stage", "name"}
        for word in words[1:]:
            name, given, value = word.partition("=")
            assert name.lower() in known if given else re.search(rf"^{name}:", makefile, re.MULTILINE), line
            assert name != "STAGE" or value in STAGES or value.endswith(".py")
            assert name != "SCENARIO" or value in reader.names() or value.endswith(".toml")
        return
    command, words = lab, words[1:]
    while isinstance(command, Group) and words and not words[0].startswith("-"):
        command = command.get_command(None, words.pop(0))
        assert command, line
    if isinstance(command, Group) or not words:  # the document only names it
        return
    context = command.make_context(line, words, resilient_parsing=False)
    named = [context.params.get(key) for key in ("stage", "one", "other") if context.params.get(key)]
    for name in ",".join(named).split(","):
        assert not name or name in STAGES or name.endswith(".py"), line
    if "scenario" in context.params:
        assert context.params["scenario"] in reader.names() or context.params["scenario"].endswith(".toml")


def test_lock_files_agree():
    """The lock file for development has each version of the lock file for a run, and neither names a registry."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (HOME / "requirements").iterdir()}
    run, dev = (set(re.findall(r"^(\S+==\S+)", texts[name], re.MULTILINE)) for name in ("run", "dev"))

    assert run < dev
    assert "://" not in "".join(texts.values())


def test_every_document_is_found():
    """Every document is linked in the README or in the contents of docs/."""
    linked = "".join((HOME / name).read_text(encoding="utf-8") for name in ("README.md", "docs/README.md"))

    assert [path.name for path in DOCUMENTS if path.name != "README.md" and f"{path.name})" not in linked] == []


HEAVY = {"app.stores.redis_connection", "kazoo", "numpy", "sqlalchemy", "locust"}  # for replicas, charts and the load alone
OF_PAGES = {"matplotlib", "redis", "rich", "flask"}  # ``lab --help`` needs none of them
OTHERS = {"kazoo", "app.locks.pubsub"}  # the client of another store, and another stage
MOST_OF_A_RUN = 110  # modules of the lab and the app that a run needs, without the modules of its stage and its store
SERVES = "from app.web import create_app; create_app(run='t', replica='r', stage='{}')"


@every(
    "code, absent, most",
    [
        ("from lab import cli", HEAVY | OF_PAGES, None),
        ("from app.locks import stage; stage('app/locks/lua.py')", {"redis"}, None),  # a stage that is only read
        ("import lab.cli, lab.commands.run", HEAVY, MOST_OF_A_RUN),
        ("import lab.cli, lab.experiments.matrix", HEAVY, None),
        (SERVES.format("lua"), OTHERS, None),
        (SERVES.format("zookeeper"), OTHERS - {"kazoo"}, None),
    ],
)
def test_nothing_is_loaded_in_vain(code, absent, most):
    """A command loads no client of a store and no library that draws; a run needs few modules; a replica loads one client."""
    code += "\nimport sys; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HOME).stdout
    loaded = set(said.splitlines()[-1].split())

    assert not loaded & absent
    assert most is None or len([name for name in loaded if name.partition(".")[0] in ("app", "lab")]) <= most

"""Test words of commands: which depend on the clock, the names of tokens, and the stage that mends a lock."""

from types import SimpleNamespace
from uuid import UUID

from app.lock import Claim
from app.locks import stages
from app.resources import fenced
from lab.evidence.decided import current
from lab.explore.commands.explored_words import mended_by
from lab.explore.search.in_words import readable, script_names
from lab.explore.store.commands import needs_clock, sha1
from lab.report import reference
from tests.every import every

CLOCKED = frozenset({b"asks"})


@every(
    "command, needs",
    [
        ("TIME", True),
        ("PEXPIREAT L 5", True),
        ("PEXPIRE L 5", False),
        ("SET L x PXAT 5", True),
        ("SET L x PX 5", False),
        ("GET PXAT", False),
        ("XADD L * field x", True),
        ("XADD L 1-1 field x", False),
        ("EVALSHA asks 0", True),
        ("EVALSHA another 0", False),
    ],
)
def test_commands_that_depend_on_the_clock(command, needs):
    """A command depends on the clock if it reads it, names a moment, or runs a script that may ask for the time."""
    assert needs_clock(tuple(command.encode().split()), CLOCKED) is needs


TOKEN = bytes.fromhex("00112233445566778899aabbccddeeff")
OTHER = bytes.fromhex("ffeeddccbbaa99887766554433221100")


@every(
    "word, said",
    [
        (TOKEN.hex(), "A’s token"),
        (f"lock:{TOKEN.hex().upper()}", "lock:A’s token"),
        (str(int.from_bytes(TOKEN, "big")), "A’s token"),
        (f"{UUID(bytes=OTHER)}:1", "B’s second token:1"),
        (f"{UUID(bytes=TOKEN, version=4)}", "A’s token"),
        ("lock-001122-x", "lock-001122-x"),
        ("3000", "3000"),
    ],
)
def test_names_of_tokens(word, said):
    """A whole token is named; a part of it and other numbers stay as they are."""
    drawing = SimpleNamespace(known_tokens={TOKEN: (0, 1), OTHER: (1, 2)})

    assert readable(SimpleNamespace(drawing=drawing), word.encode()) == said


def test_script_of_a_resource_has_its_name():
    """A script is named as its text in the module of the stage or the resource, also if another text precedes it."""
    module = SimpleNamespace(ACQUIRE="redis.call('set')", NOTE="no script")
    program = SimpleNamespace(modules=lambda: [module], resource=fenced.Counter)
    names = script_names(program)

    assert names[sha1(module.ACQUIRE)] == "ACQUIRE"
    assert [names[sha1(fenced.OLDER + text)] for text in (fenced.SEE, fenced.WRITE)] == ["SEE", "WRITE"]


def test_stage_that_mends_a_lock():
    """The stage that is named for a mechanism keeps the promise in every order, and in the scenario that broke it."""
    shelf, named, kept = stages(), set(), {(cell.stage, cell.scenario): cell.verdict for cell in reference.cells()}
    for stage in shelf.values():
        for search in decision.searches if (decision := current(stage)) is not None else ():
            for claim, one in search.get("breaks", {}).items():
                if mends := mended_by(stage, Claim[claim], one.get("why", "")):
                    named.add((one["why"], mends))
                    assert current(shelf[mends]).promises[claim] == "holds", (stage.name, claim, mends)
    for cell in reference.cells():
        for one in cell.grounds.violations if cell.grounds is not None else ():
            mends = mended_by(shelf[cell.stage], Claim[one.claim], one.mechanism) if one.claim == cell.claim else ""
            named.add((one.mechanism, mends))
            assert kept.get((mends, cell.scenario), "KEPT") == "KEPT", (cell.stage, cell.scenario, mends)

    assert {("robbed", "uuid"), ("robbed_in_release", "lua"), ("expired", "watchdog"), ("work_failed", "setnx_finally")} <= named
    assert mended_by(shelf["setnx_finally"], Claim.freed_after_crash, "no_ttl") == "ttl"

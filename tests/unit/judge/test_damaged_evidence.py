"""Test lost or damaged evidence: it makes a run VOID, and the verdict names the damage."""

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

from lab.commands.check import check_again, disagreements
from lab.errors import BadInput, ExitStatus
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge
from lab.story.verdict import why as reasons
from tests.every import every
from tests.forgeries import REPLICAS, REQUESTS, Change, Lines, edit, of_the_run, recorded


def delete(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def replace(name: str, what: str, **values: Any) -> Change:
    """Return a change that gives other values to the third line; what: count only lines of this kind."""

    def other(lines: Lines) -> Lines:
        place = [index for index, line in enumerate(lines) if not what or line.get("what") == what][2]
        return [line | values if index == place else line for index, line in enumerate(lines)]

    return edit(name, other)


def spoil(name: str) -> Change:
    """Return a change after which one line is not JSON."""

    def apply(folder: Path) -> None:
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        lines[2] = b"\x00\xff" + lines[2][2:]
        (folder / name).write_bytes(b"".join(lines))

    return apply


def swap(folder: Path) -> None:
    """Exchange the journals of two replicas."""
    one, two = (folder / "journal" / f"{replica}.jsonl" for replica in REPLICAS[:2])
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)


FIRST = "journal/replica-1.jsonl"

# Each change of a run, and the words that the verdict must have.
FORGED: dict[str, tuple[Change, str]] = {
    "journal gone": (delete(FIRST), f"{FIRST} is missing"),
    "requests gone": (delete("requests.jsonl"), "0 requests are on record instead of 12"),
    "store's record gone": (delete("server.jsonl"), "server.jsonl is missing"),
    "journals swapped": (swap, "replica-1 acknowledged"),
    "garbage in a journal": (spoil(FIRST), f"{FIRST} cannot be read ("),
    "garbage in the requests": (spoil("requests.jsonl"), "requests.jsonl cannot be read ("),
    "journal cut": (edit(FIRST, lambda lines: lines[:-3]), "r9 was acknowledged, but no replica wrote for it"),
    "requests cut": (edit("requests.jsonl", lambda lines: lines[:-2]), "10 requests are on record instead of 12"),
    "grant left out": (edit(FIRST, lambda lines: lines[1:]), "r0 was acknowledged, but no replica wrote for it"),
    "request too many": (replace("requests.jsonl", "", id="r99"), "r99 was acknowledged, but no replica wrote for it"),
    "huge number": (replace(FIRST, "wrote", overwrote=10**22), f"{FIRST} cannot be read ("),
    "other number": (replace(FIRST, "wrote", overwrote=4), "the counter held 4, and no journal has a write of that value"),
    "huge stamp": (replace(FIRST, "got", got_ns=10**19), f"{FIRST} cannot be read ("),
    "other answer": (replace("requests.jsonl", "", value=7), "r2 was acknowledged with 7, but replica-3 wrote 3"),
    "answer of another": (replace("requests.jsonl", "", replica="replica-1"), "replica-1 acknowledged r2, but its write is in"),
    "unknown replica": (replace("requests.jsonl", "", replica="replica-9"), "journal/replica-9.jsonl is missing"),
    "other end": (of_the_run(final=10), "the counter held 10, and no journal has a write of that value"),
    "unknown claim": (of_the_run(stage__claims=["exclusive", "exclusiv"]), "names the claim 'exclusiv'"),
    "unknown claim under test": (of_the_run(scenario__tests="exclusiv"), "names the claim 'exclusiv'"),
    "a file that was not written": (of_the_run(unwritten="the disk was full"), "the disk was full"),
    "a fault without a record": (
        lambda folder: ((folder / "faults").mkdir(), (folder / "faults" / "freeze-1.reached").touch()),
        "faults.jsonl has no line for the fault freeze-1",
    ),
}  # fmt: skip


@every("lossy", [False, True])
@every("name", FORGED)
def test_damaged_proof(tmp_path, name, lossy):
    """A run with damaged evidence is VOID, of a sound lock as of a broken one, and the verdict names the damage."""
    change, said = FORGED[name]
    folder = recorded(tmp_path / "run", lossy)
    assert Judgement.load(folder).verdict == ("BROKEN" if lossy else "KEPT")

    change(folder)
    judgement, _ = judge(folder)

    assert judgement.verdict == "VOID"
    assert lossy or said in reasons(judgement)
    assert 0 <= judgement.lost <= REQUESTS


@every("lossy", [False, True])
@every(
    "change, said",
    [
        (delete(FIRST), f"{FIRST} is missing"),
        (lambda folder: (folder / FIRST).write_bytes((folder / FIRST).read_bytes()[:500]), f"{FIRST} was changed"),
        (replace(FIRST, "wrote", overwrote=1), f"{FIRST} was changed"),
        (lambda folder: shutil.copy(folder / FIRST, folder / "journal/replica-9.jsonl"), "journal/replica-9.jsonl was changed"),
        (of_the_run(files={}), f"{FIRST} was changed or added"),
    ],
)
def test_a_file_that_the_run_did_not_write(tmp_path, capsys, change, said, lossy):
    """The check names a file that differs from the inventory; such a run shows nothing, of a sound lock as of a broken one."""
    folder = recorded(tmp_path / "run", lossy, keeps_inventory=True)
    assert check_again(str(folder), as_json=False) == (ExitStatus.BROKEN if lossy else ExitStatus.GOOD)
    assert "damaged" not in capsys.readouterr().out

    change(folder)

    assert check_again(str(folder), as_json=False) == ExitStatus.NOTHING_SHOWN
    assert said in " ".join(capsys.readouterr().out.split())


def test_edited_verdict(tmp_path):
    """The check compares verdict.json with its own judgement, and names the fields that differ."""
    folder = recorded(tmp_path / "run", lossy=True)
    judgement, _ = judge(folder)
    assert not list(disagreements(folder, judgement))

    verdict = json.loads((folder / "verdict.json").read_text())
    (folder / "verdict.json").write_text(json.dumps(verdict | {"verdict": "KEPT", "lost": 0}))
    (said,) = disagreements(folder, judgement)
    assert "it has verdict KEPT (now BROKEN), lost 0 (now 1)." in said

    (folder / "verdict.json").write_text("{")
    assert "verdict.json disagrees: " in next(disagreements(folder, judgement))
    (folder / "verdict.json").unlink()
    assert list(disagreements(folder, judgement)) == ["verdict.json cannot be read: No such file or directory."]


@every("value", [None, "x", -5, {"a": "b"}])
@every("name", ["scenario", "scenario__danger", "scenario__requests", "stage__claims", "stage__store", "final"])
def test_damaged_record_is_bad_input(tmp_path, name, value):
    """A run.json with a wrong value is refused as bad input or judged, but it is never KEPT, and never fails the lab."""
    folder = recorded(tmp_path / "run", lossy=True)
    of_the_run(**{name: value})(folder)

    with contextlib.suppress(BadInput):
        judgement, _ = judge(folder)
        assert judgement.verdict in ("BROKEN", "VOID", "ADMITTED")

"""Evidence that was lost, damaged or forged: no single line decides a verdict, and the verdict names the damage."""

import contextlib
import json
from pathlib import Path
from typing import Any

import msgspec

from app.locks import stages
from lab.commands.check import differences_from_this_lab, disagreements
from lab.errors import BadInput
from lab.evidence.run_folder import load
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge, judge_again
from lab.report import timeline_reader
from lab.story.verdict import why as reasons
from tests.builders import MS
from tests.every import every
from tests.forgeries import REPLICAS, REQUESTS, Change, Lines, edit, of_the_run, recorded


def delete(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def double(name: str, what: str = "", **changes: int) -> Change:
    """Return a change: the third line (of a kind) is there twice, the second time with what is given added to its numbers."""

    def twice(lines: Lines) -> Lines:
        place = [index for index, line in enumerate(lines) if not what or line.get("what") == what][2]
        again = lines[place] | {key: lines[place][key] + more for key, more in changes.items()}
        return [*lines[: place + 1], again, *lines[place + 1 :]]

    return edit(name, twice)


def replace(name: str, what: str, **values: Any) -> Change:
    """Return a change: the third line (of a kind) has other values."""

    def other(lines: Lines) -> Lines:
        place = [index for index, line in enumerate(lines) if not what or line.get("what") == what][2]
        return [line | values if index == place else line for index, line in enumerate(lines)]

    return edit(name, other)


def spoil(name: str) -> Change:
    """Return a change: one line is not JSON any more."""

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

# Each change of a sound run, and what the verdict must say about it.
FORGED: dict[str, tuple[Change, str]] = {
    "journal gone": (delete(FIRST), f"{FIRST} is missing"),
    "requests gone": (delete("requests.jsonl"), "0 requests are on record instead of 12"),
    "store's record gone": (delete("server.jsonl"), "server.jsonl is missing"),
    "journals swapped": (swap, "replica-1 acknowledged"),
    "garbage in a journal": (spoil(FIRST), f"{FIRST} has 1 line that cannot be read (line 3: "),
    "garbage in the requests": (spoil("requests.jsonl"), "requests.jsonl has 1 line that cannot be read (line 3: "),
    "journal cut": (edit(FIRST, lambda lines: lines[:-3]), "r9 was acknowledged, but no replica wrote for it"),
    "requests cut": (edit("requests.jsonl", lambda lines: lines[:-2]), "10 requests are on record instead of 12"),
    "grant left out": (edit(FIRST, lambda lines: lines[1:]), "r0 was acknowledged, but no replica wrote for it"),
    "request too many": (replace("requests.jsonl", "", id="r99"), "r99 was acknowledged, but no replica wrote for it"),
    "huge number": (replace(FIRST, "wrote", overwrote=10**22), f"{FIRST} has 1 line that cannot be read (line 11: "),
    "other number": (replace(FIRST, "wrote", overwrote=4), "the counter held 4, and no journal has a write of that value"),
    "huge stamp": (replace(FIRST, "got", got_ns=10**19), f"{FIRST} has 1 line that cannot be read (line 9: "),
    "other answer": (replace("requests.jsonl", "", value=7), "r2 was acknowledged with 7, but replica-3 wrote 3"),
    "answer of another": (replace("requests.jsonl", "", replica="replica-1"), "replica-1 acknowledged r2, but its write is in"),
    "unknown replica": (replace("requests.jsonl", "", replica="replica-9"), "journal/replica-9.jsonl is missing"),
    "other end": (of_the_run(final=10), "the counter held 10, and no journal has a write of that value"),
    "unknown claim": (of_the_run(stage__claims=["exclusive", "exclusiv"]), "names the claim 'exclusiv'"),
    "unknown claim under test": (of_the_run(scenario__tests="exclusiv"), "names the claim 'exclusiv'"),
    "a file that was not written": (of_the_run(unwritten="the disk was full"), "the disk was full"),
    "a fault without a record": (
        lambda folder: ((folder / "faults").mkdir(), (folder / "faults" / "freeze-1.reached").touch()),
        "faults.jsonl has no line of freeze-1",
    ),
}  # fmt: skip

# What damages a file on which the proof of a broken lock rests, whatever the other files show.
NO_PROOF_LEFT = "journal gone", "garbage in a journal", "store's record gone", "a fault without a record"

# Changes that leave lines which can be read, and cannot be true. The hashes show them; without hashes, a line is what it states.
NONSENSE: dict[str, Change] = {
    "release cut": edit(FIRST, lambda lines: lines[:-1]),
    "grant twice": double(FIRST, "got"),
    "grant again": double(FIRST, "got", got_ns=10 * MS),
    "intention twice": double(FIRST, "writing"),
    "write twice": double(FIRST, "wrote"),
    "write again": double(FIRST, "wrote", wrote_ns=1),
    "release twice": double(FIRST, "released"),
    "request twice": double("requests.jsonl"),
    "request again": double("requests.jsonl", end_ns=1),
    "large number": replace(FIRST, "wrote", overwrote=10**17),
    "number from the future": replace(FIRST, "wrote", overwrote=9),
    "number below zero": replace(FIRST, "wrote", overwrote=-1),
    "not the announced number": replace(FIRST, "wrote", value=5),
    "asked after the grant": replace(FIRST, "got", asked_ns=900 * MS),
    "answered before it was sent": replace("requests.jsonl", "", start_ns=900 * MS),
    "replica forgotten": of_the_run(took_part=["replica-1", "replica-2"]),
    "parts that do not add up": of_the_run(parts={"0": 1, "1": 2}),
    "released before the grant": replace(FIRST, "released", releasing_ns=1),
}


@every("lossy", [False, True])
@every("name", NONSENSE)
def test_nonsense_is_judged_and_drawn(tmp_path, name, lossy):
    """Lines that cannot be true fail neither the judge nor the picture, where the hashes are right: it is another run."""
    folder = recorded(tmp_path / "run", lossy)

    NONSENSE[name](folder)
    judgement, findings = judge(folder)

    assert 0 <= judgement.lost <= REQUESTS
    assert msgspec.json.encode(timeline_reader.read(folder, judgement, findings))


@every("name", FORGED)
def test_damaged_proof(tmp_path, name):
    """A broken lock stays BROKEN where its proof is not damaged, and the verdict says what is; it never becomes KEPT."""
    change, _ = FORGED[name]
    folder = recorded(tmp_path / "run", lossy=True)
    assert Judgement.load(folder).verdict == "BROKEN"

    change(folder)
    judgement, _ = judge(folder)

    assert judgement.verdict in (["VOID"] if name in NO_PROOF_LEFT else ["BROKEN", "VOID"])
    assert judgement.verdict == "VOID" or "and the evidence is damaged: " in reasons(judgement)
    assert 0 <= judgement.lost <= REQUESTS


def test_edited_verdict(tmp_path):
    """The check compares verdict.json with its own judgement, field by field."""
    folder = recorded(tmp_path / "run", lossy=True, keeps_inventory=True)
    judgement, _ = judge(folder)
    assert not list(disagreements(folder, judgement))

    verdict = json.loads((folder / "verdict.json").read_text())
    (folder / "verdict.json").write_text(json.dumps(verdict | {"verdict": "KEPT", "lost": 0}))
    (said,) = disagreements(folder, judgement)
    assert "it has verdict KEPT (now BROKEN), lost 0 (now 1)." in said

    (folder / "verdict.json").write_text("{")
    assert "verdict.json disagrees: " in next(disagreements(folder, judgement))
    assert "verdict.json cannot be read: Input data was truncated" in reasons(judge_again(folder)[0])
    (folder / "verdict.json").unlink()
    assert "verdict.json is missing" in reasons(judge_again(folder)[0])


@every(
    "changes, said",
    [
        ({}, []),
        ({"claims": -1}, ["The stage lua claims exclusive in this lab, and not in run.json"]),
        ({"claims": 1}, ["The stage lua claims fair only in run.json"]),
        ({"scenario__tests": "fair"}, ["The scenario rush tests exclusive in this lab, and fair in run.json"]),
        ({"stage__name": "own", "scenario__name": "own", "claims": -1}, []),
    ],
)
def test_edited_claims(tmp_path, changes, said):
    """The check names claims that differ from those of the same stage and the same scenario in this lab."""
    folder = recorded(tmp_path / "run", lossy=False)
    names = {"stage__name": "lua", "scenario__name": "rush"} | changes
    edited = names.pop("claims", 0)
    claims = [claim.name for claim in stages().get(names["stage__name"], stages()["lua"]).claims]
    claims = [name for name in claims if edited != -1 or name != "exclusive"] + ["fair"] * (edited == 1)

    of_the_run(**names, stage__claims=claims)(folder)

    found = list(differences_from_this_lab(load(folder)))
    assert [sentence.partition(".json")[0] + ".json" for sentence in found] == said


@every("value", [None, "x", -5, {"a": "b"}])
@every("name", ["scenario", "scenario__danger", "scenario__requests", "stage__claims", "stage__store", "final"])
def test_damaged_record_is_bad_input(tmp_path, name, value):
    """A run.json with a value of the wrong type is refused in one sentence, or judged; it never fails the lab."""
    folder = recorded(tmp_path / "run", lossy=True)
    of_the_run(**{name: value})(folder)

    with contextlib.suppress(BadInput):
        judgement, _ = judge(folder)
        assert judgement.verdict in ("BROKEN", "VOID", "ADMITTED")

"""Test the sentences: each template exists in both languages, and can be filled."""

import re
from string import Formatter

from msgspec.structs import replace

from app.lock import Claim
from app.locks import PARTS, stages
from lab.evidence.fault_record import Effect
from lab.evidence.loss import Mechanism
from lab.explore.decision import Undecided
from lab.explore.enact.enact import Agreement
from lab.explore.play.levels import LEVELS
from lab.explore.search.harm import Harm, Why
from lab.judge.fact import Code
from lab.judge.judgement import Verdict
from lab.language import Language
from lab.paths import HOME
from lab.scenario import reader
from lab.scenario.faults import faults
from lab.scenario.options import OPTIONS
from lab.scenario.requirements import MEASURES, NEEDS
from lab.story import say, say_run
from lab.story.happening import Happening, Kind
from lab.story.steps import AFTER_CHECK, IN_RELEASE, steps
from lab.ui.both_sides import Refusal
from tests.every import every
from tests.kept_runs import timelines
from tests.stories import LOST

ENGLISH, CHINESE = Language
CODE = "SET L"
STATED = ("claim", "measure", "need", "stage", "scenario", "scenario_name", "refusal")  # tables of Chinese alone
PROSE = re.compile(r"[A-Za-z’]+ [a-z’]+")  # two words in a row


def templates(language):
    """Return each template of a language, by its place in the file."""
    found = {}
    for table, there in say.words(language).items():
        for name, one in there.items():
            found |= {(table, name, form): text for form, text in (one.items() if isinstance(one, dict) else [("", one)])}
    return found


def translated():
    """Return the texts whose English is next to their subject, by the names of their Chinese."""
    found = {f"{table}.{one.name}": one.value for table, kind in (("claim", Claim), ("refusal", Refusal)) for one in kind}
    found |= {f"measure.{name}": text for name, text in MEASURES.items()}
    found |= {f"need.{name}": text for name, (text, _) in NEEDS.items()}
    for name, stage in stages().items():
        texts = {part: getattr(stage.story, part) for part in ("title", "idea", "source")}
        texts |= {"problem": "" if stage.follows else stage.story.problem}
        texts |= {f"still_{number}": line for number, line in enumerate(stage.story.still, 1)}
        found |= {f"stage.{name}.{part}": text for part, text in texts.items() if text}
    for name in reader.names():
        found |= {f"scenario.{name}": reader.load(name).title, f"scenario_name.{name}": name.replace("_", " ")}
    return found


def places(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages():
    """Each template exists in both languages, with the same places; in Chinese alone, a form for several may be missing."""
    english, chinese = ({one: text for one, text in templates(language).items() if one[0] not in STATED} for language in Language)
    several = {one for one in english if f"{one[1]}{one[2]}".endswith("_several")}

    assert english.keys() - several <= chinese.keys() <= english.keys()
    assert [one for one in chinese if places(chinese[one]) != places(english[one])] == []


def test_texts_of_the_code_have_their_chinese():
    """Each text of a claim, a measure, a need, a stage or a scenario has its Chinese, and each Chinese text has its English."""
    there = {".".join(filter(None, one)) for one in templates(CHINESE) if one[0] in STATED}

    assert sorted(there ^ translated().keys()) == []
    assert [name for name, english in translated().items() if say.translated(name, english, ENGLISH) != english] == []


# tables whose names another test checks: codes and bounds
KNOWN = (*STATED, "kind", "mechanism", "fact", "fault", "why", "goal", "lesson", "part", "part_short")
ENDINGS = re.compile("_(several|none|conditions)$")


def test_pages_name_existing_texts():
    """Each text that a page names exists, and each text is named by a page or begins with a prefix that a page completes."""
    files = [path for part in ("lab", "tools") for path in (HOME / part).rglob("*") if path.suffix in (".html", ".js", ".py")]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    pages, sources = "\n".join(text for path, text in texts.items() if path.suffix != ".py"), "\n".join(texts.values())
    asked = set(re.findall(r'(?:\b(?:say|both|label)\("|data-text=")(\w+)"[,) >]', pages)) - {"kind_"}
    named, begun = set(re.findall(r"\w+", sources)), tuple(re.findall(r'\w+_(?=\$?\{|" ~)', sources))
    names = {name for table, there in say.words(ENGLISH).items() if table not in KNOWN for name in there}

    assert sorted(asked - names) == []
    assert [one for one in sorted(names) if not {one, ENDINGS.sub("", one)} & named and not one.startswith(begun)] == []


def test_each_kind_has_words():
    """Each kind, mechanism, fact, reason, fault, level and verdict has its template."""
    assert set(say.words(ENGLISH)["kind"]) == {kind.value for kind in Kind}
    assert {harm.value for harm in Harm} <= {kind.value for kind in Kind}
    assert set(say.words(ENGLISH)["mechanism"]) == {one.value for one in Mechanism}
    assert {name.removesuffix("_several") for name in say.words(ENGLISH)["fact"]} == {one.value for one in Code}
    assert {*Undecided} == set(say.words(ENGLISH)["undecided"])
    assert {f"run_{one}" for one in Agreement} <= set(say.words(ENGLISH)["enacted"])
    assert {*Verdict} == set(say.words(ENGLISH)["in_a_word"]) <= set(say.words(ENGLISH)["verdict"])
    assert set(say.words(ENGLISH)["why"]) == {why.value for why in Why if why}
    assert set(say.words(ENGLISH)["fault"]) == set(faults())
    assert {*OPTIONS} <= set(say.words(ENGLISH)["conditions"])
    assert set(say.words(ENGLISH)["goal"]) == set(say.words(ENGLISH)["lesson"]) == {level.name for level in LEVELS}
    assert {*PARTS} <= set(say.words(ENGLISH)["part"]) == set(say.words(ENGLISH)["part_short"])
    assert set(say.words(ENGLISH)["effect"]) - {IN_RELEASE, AFTER_CHECK} <= {effect.value for effect in Effect}


@every("language", Language)
@every("kind", Kind)
def test_each_kind_is_said(kind, language):
    """Each form of each kind can be filled from a happening: a place without a value is an error."""
    one = Happening(
        kind, 3000, "A", ("B",), value=2, over=1, servers=(1, 2, 3), why="expired", code=CODE, fault="lost_reply", of=3
    )

    for form in say.words(language)["kind"][kind]:
        assert say.clause(one, language, form)


@every("language", Language)
@every("picture", lambda: timelines().values())
def test_each_kept_run_is_said(picture, language):
    """The caption, the title and the steps of each kept run have no open place, and no prose of the other language."""
    found = steps(picture)
    said = [say_run.caption(picture, language), say_run.title(picture, language)]
    said += [one["sentence"] for one in say_run.page_of_steps(found, language)["said"]] if found else []

    assert [one for one in said if re.search(r"[{}]|  | [;.,]", one)] == []
    assert language is ENGLISH or [one for one in said if PROSE.search(one)] == []


def test_a_theft_is_stated_once():
    """A theft that the last event shows is not repeated as the claim that it breaks."""
    stolen = replace(LOST.scenes[-1], did=(Happening(Kind.DELETED_OTHERS, actor="A", others=("B",)),))
    theft = Happening(Kind.THEFT, actor="A", others=("B",))

    assert say.sentences(replace(LOST, scenes=(replace(stolen, breaks=(theft,)),))) == "A deletes B’s lock."


def test_votes_of_one_command():
    """The answers of several servers to one command are one part, also if an event of another client comes between."""
    votes = [(Happening(Kind.VOTE, actor="A", servers=(number,)),) for number in (1, 2, 3)]
    votes += [(Happening(Kind.VOTE_REFUSED, actor="B", servers=(1,)),)]
    votes += [
        (Happening(Kind.VOTE_REFUSED, actor="A", servers=(4,)),),
        (Happening(Kind.VOTE_REFUSED, actor="A", servers=(5,)), Happening(Kind.GRANTED, actor="A")),
        (Happening(Kind.READ, actor="A"),),
    ]
    story = replace(LOST, scenes=tuple(replace(LOST.scenes[0], did=did) for did in votes))

    assert say.sentences(story) == (
        "A gets votes from servers 1, 2 and 3. B is refused by server 1. A is refused by servers 4 and 5, and gets the lock. "
        "A reads 0."
    )
    assert "A 得到服务器 1、2 和 3 的票。" in say.sentences(story, CHINESE)

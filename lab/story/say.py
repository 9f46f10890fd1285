"""Turn happenings into sentences of a language. Each kind of happening has a template in ``words.toml``.

A text for several clients, servers or increments has the same name with ``_several``; a language without plurals has none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lab.evidence.loss import Mechanism
from lab.language import Language
from lab.paths import SCENARIOS
from lab.story.happening import LOSSES, Happening, Kind, Scene, Story
from lab.text import thousands

WORDS = Path(__file__).with_name("words.toml")
ENGLISH = Language.ENGLISH
MOST_PARTS = 3  # in one sentence
# templates with commas: each becomes a sentence of its own
LONG = (Kind.KEY_SET_TWICE, Kind.ALL_COMMANDS_LOST, Kind.ALL_REPLIES_LOST, Kind.ALL_SENT_AGAIN)
# happenings at one of several servers: the happenings of one command become one part of a sentence
VOTES = (
    Kind.VOTE,
    Kind.VOTE_REFUSED,
    Kind.VOTE_RENEWED,
    Kind.VOTE_RENEWED_OTHERS,
    Kind.VOTE_TAKEN_BACK,
    Kind.VOTE_TAKEN_BACK_OTHERS,
    Kind.VOTE_LEFT_OTHERS,
)
GOT_IT = (Kind.GRANTED, Kind.GRANTED_WITH_FENCE, Kind.BEGAN, Kind.BEGAN_WITHOUT_LOCK)


@cache
def words(language: Language) -> dict[str, Any]:
    """Return the templates of a language."""
    found = _in_language(_entries(), list(Language).index(language))
    return found | (_chinese_of_scenarios() if language is Language.CHINESE else {})


@cache
def _entries() -> dict[str, Any]:
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def _in_language(table: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Return a table with the texts of one language. place: which of the texts of an entry; an entry without it is left out."""
    found: dict[str, Any] = {}
    for name, entry in table.items():
        texts = [None, entry] if isinstance(entry, str) else entry
        if isinstance(entry, dict):
            found[name] = _in_language(entry, place)
        elif texts[place:] and texts[place] is not None:
            found[name] = texts[place]
    return found


def _chinese_of_scenarios() -> dict[str, Any]:
    """Return the Chinese titles of the lab's scenarios, and their names in a picture. They are in the scenarios' files."""
    files = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in SCENARIOS.glob("*.toml")}
    keys = {"scenario": "title_zh", "scenario_name": "name_zh"}
    return {table: {name: file[key] for name, file in files.items() if key in file} for table, key in keys.items()}


def text(table: str, name: str, language: Language = ENGLISH, n: int = 1, **places: object) -> str:
    """Return a text of a table. n: the number that chooses between one and several; the text can have a place for it."""
    templates = words(language)[table]
    chosen: str = (templates.get(f"{name}_several") if n != 1 else None) or templates[name]
    return chosen.format(n=n, **places)


def translated(name: str, english: str, language: Language = ENGLISH) -> str:
    """Return a text whose English is in the code, such as a claim in ``app/lock.py``; in English if it has no Chinese.

    name: the table and the name of its Chinese in ``words.toml``: ``claim.exclusive``.
    """
    entry: Any = words(language)
    for part in name.split("."):
        entry = entry.get(part, {})
    return str(entry or english)


def mechanism(name: Mechanism, language: Language = ENGLISH) -> str:
    """Return why a promise was broken."""
    return text("mechanism", name, language)


def claim(name: str, form: str, language: Language = ENGLISH) -> str:
    """Return a claim in a few words. form: ``holds`` or ``breaks``. A damaged record may name a claim that there is not."""
    return str(words(language)[form].get(name, name))


def clause(happening: Happening, language: Language = ENGLISH, form: str = "long") -> str:
    """Return a happening in the words of a form, with the places filled."""
    return filled(template(happening, language, form), happening, language)


def filled(pattern: str, happening: Happening, language: Language, decimals: int = 2) -> str:
    """Return a template with its places filled. decimals: of the seconds in a moment of a run."""
    return pattern.format_map(_places(happening, language) | _places_of_run(happening, language, decimals))


def template(happening: Happening, language: Language, form: str) -> str:
    """Return the words of a form, before its places are filled."""
    forms: Mapping[str, str] = words(language)["kind"][happening.kind]
    lost = happening.value if happening.kind in LOSSES else 1
    several = happening.number != 1 or max(len(happening.others), len(happening.servers), lost) > 1
    return (forms.get(f"{form}_several") if several else None) or forms[form]


def has(happening: Happening, form: str) -> bool:
    """Return whether a kind of happening has words of a form."""
    return form in words(ENGLISH)["kind"][happening.kind]


def _places(happening: Happening, language: Language) -> dict[str, object]:
    of_fault = words(language)["remark"]
    numbers = [str(server) for server in happening.servers]
    return {
        "actor": happening.actor,
        "others": listed(happening.others, language),
        "value": happening.value,
        "over": happening.over,
        "ms": f"{happening.at_ms:.10g}",
        "s": seconds(happening.at_ms),
        "code": happening.code,
        "servers": _servers(numbers, language) if numbers else "",
        "server": text("mark", "server_row", language, happening.servers[0]) if happening.servers else "",
        "remark": of_fault.get(happening.fault, ""),
        "thread": of_fault["background"] if happening.background else "",
        "worked": words(language)["why"][happening.why]["worked"] if happening.why else "",
    }


def _places_of_run(happening: Happening, language: Language, decimals: int) -> dict[str, object]:
    templates = words(language)
    places: dict[str, object] = {
        "place": happening.place,
        "other_place": happening.other_place,
        "others": listed(happening.others, language),
        "value": happening.value,
        "n": thousands(happening.number),
        "of": thousands(happening.of),
        "at": text("piece", "moment", language, s=f"{happening.at_ms / 1000:.{decimals}f}"),
        "for_ms": milliseconds(happening.for_ms),
        "for_s": f"{happening.for_ms / 1000:.1f}",
        "from_s": f"{happening.at_ms / 1000:.2f}",
        "ttl_ms": thousands(happening.ttl_ms),
        "fault": fault(happening.fault, language),
        "cause": mechanism(happening.cause, language) if happening.cause is not None else "",
    }

    def piece(name: str, is_known: object) -> str:
        return str(templates["piece"][name]).format_map(places) if is_known else ""

    return places | {
        "got": piece("got" if happening.locked else "entered", True),
        "held": piece("held" if happening.locked else "worked", True),
        "lease": piece("lease_timed" if happening.ttl_ms else "lease", True),
        "lasting": piece("lasting", happening.for_ms),
        "time": piece("time", happening.for_ms),
        "votes": piece("votes", happening.of),
        "in_others": piece("in_others", happening.others),
        "key": _key(happening.key, language),
        "wanted": _key(happening.wanted, language),
    }


def _key(name: str, language: Language) -> str:
    pieces = words(language)["piece"]
    return str(pieces["key"]).format(key=name) if name else str(pieces["a_key"])


def fault(name: str, language: Language = ENGLISH) -> str:
    """Return the name of a fault in words. A fault that this lab does not know has the name of its file."""
    return str(words(language)["fault"].get(name, name.replace("_", " ")))


def condition(name: str, value: Any, language: Language = ENGLISH) -> str:
    """Return a condition of a run, such as how many requests it sends."""
    return text("conditions", name, language, value, shown=thousands(value) if isinstance(value, int) else value)


def milliseconds(ms: float) -> str:
    """Return a duration of a run, without its unit."""
    return thousands(ms) if ms >= 10 else f"{float(f'{ms:.2g}'):g}"


def _servers(numbers: Sequence[str], language: Language) -> str:
    marks = words(language)["mark"]
    return str((marks.get("server_several") if len(numbers) > 1 else None) or marks["server"]).format(n=listed(numbers, language))


def listed(names: Sequence[str], language: Language = ENGLISH) -> str:
    """Return names in a row: "1, 2 and 3"."""
    marks = words(language)["mark"]
    *others, last = names or ("",)
    return f"{marks['names_comma'].join(others)}{marks['names_and']}{last}" if others else last


def seconds(ms: float) -> str:
    """Return a time in seconds, without its unit."""
    return f"{ms / 1000:.3f}".rstrip("0").rstrip(".")


def capital(sentence: str) -> str:
    """Return a sentence with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def as_sentence(sentence: str, language: Language = ENGLISH) -> str:
    """Return a text as a sentence of its own."""
    return f"{capital(sentence)}{words(language)['mark']['end']}"


def alone(happening: Happening, language: Language = ENGLISH) -> str:
    """Return a happening as a sentence of its own, with its actor if it has one."""
    if happening.background and has(happening, "background"):
        return clause(happening, language, "background")
    if has(happening, "alone"):
        return clause(happening, language, "alone")
    return f"{happening.actor} {clause(happening, language)}".strip()


def effects(parts: Sequence[Happening], language: Language = ENGLISH) -> str:
    """Return the effects of one event as a sentence without its end: "A sets the key of the lock, and the reply is lost"."""
    first, *others = parts
    return str(words(language)["mark"]["then"]).join([alone(first, language), *(_then(one, language) for one in others)])


def _then(happening: Happening, language: Language) -> str:
    return clause(happening, language, "long" if has(happening, "long") else "alone")


def broken(happening: Happening, language: Language = ENGLISH) -> str:
    """Return how a claim breaks, with the letters of the clients if they are known."""
    is_known = happening.actor or happening.others or not has(happening, "anybody")
    return alone(happening, language) if is_known else clause(happening, language, "anybody")


def breaking(happening: Happening, language: Language = ENGLISH) -> str:
    """Return how a claim breaks, in few words."""
    is_known = happening.actor or happening.others or not has(happening, "anybody")
    return clause(happening, language, "title") if is_known and has(happening, "title") else broken(happening, language)


def cause(happening: Happening, language: Language = ENGLISH) -> str:
    """Return how a claim breaks, without the clients; for a lost increment, the reason."""
    return clause(happening, language, "cause" if has(happening, "cause") else "anybody")


def truth(why: str, language: Language = ENGLISH) -> str:
    """Return why a holder is not entitled, as an end of "it believes that it holds the lock, and goes on …"."""
    return str(words(language)["why"][why]["truth"]) if why else ""


def token(letter: str, number: int, language: Language = ENGLISH) -> str:
    """Return the name of a token that a client draws. number: counted from 1."""
    return text("token", str(min(number, 5)), language, actor=letter)


def faults(injected: Mapping[str, int], language: Language = ENGLISH) -> str:
    """Return the faults of a schedule. injected: how many, by the fields of ``Budget``."""
    found = [text("faults", name, language, number) for name, number in injected.items() if number]
    return words(language)["mark"]["faults_and"].join(found) or text("faults", "none", language)


def title(story: Story, language: Language = ENGLISH) -> str:
    """Return the title of a schedule: the stage, how a claim breaks, after how many events, and with which faults."""
    found = [one for scene in story.scenes for one in scene.breaks]
    conditions = [text("faults", "work", language, s=seconds(story.work_ms))] if story.work_ms else []
    conditions += [faults(story.faults, language)] if story.faults else []
    return text(
        "story",
        ("title" if found else "nothing") + ("_conditions" if conditions else ""),
        language,
        stage=story.stage,
        what=breaking(found[-1], language) if found else "",
        events=text("story", "events", language, sum(scene.events for scene in story.scenes)),
        conditions=words(language)["mark"]["faults_and"].join(conditions),
    )


def sentences(story: Story, language: Language = ENGLISH) -> str:
    """Return the story of a schedule in sentences of at most three parts, and last the claims that it breaks."""
    told = [_sentence(parts, language) for parts in _groups(_together(_worth_a_word(story.scenes)))]
    last = story.scenes[-1] if story.scenes else None
    if last is not None:
        told += [broken(harm, language) for harm in last.breaks if not _is_told(harm, last.did)]
    return str(words(language)["mark"]["gap"]).join(as_sentence(sentence, language) for sentence in told)


def _is_told(harm: Happening, happenings: Sequence[Happening]) -> bool:
    """Return whether the happenings of an event tell a theft already."""
    return harm.kind is Kind.THEFT and [(each.kind, each.others) for each in happenings] == [(Kind.DELETED_OTHERS, harm.others)]


Part = tuple[Happening, ...]  # the happenings of one event: a part of a sentence


def _worth_a_word(scenes: Iterable[Scene]) -> Iterator[Part]:
    """Yield the parts that are told. A client waits once, and not with each of its tries."""
    waits: set[str] = set()
    for scene in scenes:
        kinds = [one.kind for one in scene.did]
        if kinds == [Kind.WAITED]:
            if scene.did[0].actor in waits:
                continue
            waits.add(scene.did[0].actor)
        elif kinds and kinds[0] in GOT_IT:
            waits.discard(scene.did[0].actor)
        if kinds:
            yield scene.did


def _together(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts, and one part for all servers at which one command had the same effect."""
    last: Part = ()
    for part in parts:
        if last and _goes_on(last, part):
            first = part[0]
            last = (replace(first, servers=(*last[0].servers, *first.servers)), *part[1:])
            continue
        if last:
            yield last
        last = part
    if last:
        yield last


def _goes_on(last: Part, part: Part) -> bool:
    before, after = last[0], part[0]
    same = (before.kind, before.actor, before.others) == (after.kind, after.actor, after.others)
    return same and before.kind in VOTES and len(last) == 1


def _groups(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Yield the parts of each sentence, all of one client. A part with several happenings is a sentence of its own."""
    group: list[Part] = []
    for part in parts:
        is_alone = not part[0].actor or _is_long(part) or (group and _is_long(group[-1]))
        if group and (part[0].actor != group[0][0].actor or is_alone or len(group) == MOST_PARTS):
            yield group
            group = []
        group.append(part)
    if group:
        yield group


def _is_long(part: Part) -> bool:
    return len(part) > 1 or len(part[0].servers) > 2 or part[0].kind in LONG


def _sentence(parts: Sequence[Part], language: Language) -> str:
    first, *others = parts
    marks = words(language)["mark"]
    if not others:
        return effects(first, language)
    *middle, (last,) = others
    begin: str = marks["comma"].join([effects(first, language), *(clause(one, language) for (one,) in middle)])
    return f"{begin}{marks['and']}{clause(last, language)}"


def row(scene: Scene, language: Language = ENGLISH) -> str:
    """Return the words next to the row of an event: its command, fault or step of the clock, and the reply."""
    happening = scene.row
    if has(happening, "row"):
        line = clause(happening, language, "row")
        line = f"{happening.actor} {line}" if happening.kind is Kind.COMMAND and not happening.place else line
    else:
        line = alone(happening, language)
    if happening.kind is Kind.CLOCK:
        for ended_by in scene.did:
            line = text("story", "ends", language, row=line, what=clause(ended_by, language, "row"))
        if scene.asked_in_vain:
            line = text("story", "in_vain", language, scene.asked_in_vain, row=line)
    return text("story", "reply", language, row=line, code=scene.reply) if scene.reply else line

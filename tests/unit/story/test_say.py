"""What happened, in words: each template has both languages, and a sentence is tested here alone."""

import re
from string import Formatter

import pytest
from msgspec.structs import replace

from lab.enact.enact import Agreement
from lab.evidence.fault_record import Effect
from lab.evidence.loss import Mechanism
from lab.explore.decision import Undecided
from lab.explore.search.event import NONE, Budget
from lab.explore.search.harm import Harm, Why
from lab.explore.search.in_words import ORDINALS, name_of
from lab.judge.fact import Code
from lab.judge.judgement import Verdict
from lab.language import Language
from lab.paths import REFERENCE
from lab.scenario.faults import faults
from lab.story import from_run, say, say_run
from lab.story.happening import Happening, Kind
from lab.story.steps import AFTER_CHECK, IN_RELEASE, steps
from lab.story.timeline import load
from tests.every import every
from tests.stories import LOST

ENGLISH, CHINESE = Language
CODE = "SET L"
COST = Happening(Kind.NOTHING_LOST)
PROSE = re.compile(r"[A-Za-z’]+ [a-z’]+")  # two words in a row
QUOTED = re.compile(r"`[^`]*`")


def templates(language):
    """Each template of a language, by its place in the file."""
    found = {}
    for table, there in say.words(language).items():
        for name, one in there.items():
            found |= {(table, name, form): text for form, text in (one.items() if isinstance(one, dict) else [("", one)])}
    return found


def places(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages():
    """Each template has its Chinese, with the same places. Chinese needs no form for several, and English every one of them."""
    english, chinese = templates(ENGLISH), templates(CHINESE)
    several = {one for one in english if f"{one[1]}{one[2]}".endswith("_several")}

    assert english.keys() - several <= chinese.keys() <= english.keys()
    assert [one for one in chinese if places(chinese[one]) != places(english[one])] == []


def test_nothing_is_left_in_english():
    """No Chinese template has English prose in it."""
    assert [text for text in templates(CHINESE).values() if PROSE.search(QUOTED.sub("", text))] == []


def test_each_kind_has_words():
    """Each kind has a template, and each template is of a kind. So has each way to break a claim, and each reason."""
    assert set(say.words(ENGLISH)["kind"]) == {kind.value for kind in Kind}
    assert {harm.value for harm in Harm} <= {kind.value for kind in Kind}
    assert set(say.words(ENGLISH)["mechanism"]) == {one.value for one in Mechanism}
    assert {name.removesuffix("_several") for name in say.words(ENGLISH)["fact"]} == {one.value for one in Code}
    assert {*Undecided} == set(say.words(ENGLISH)["undecided"])
    assert {*Agreement} <= set(say.words(ENGLISH)["enacted"])
    assert {*Verdict} == set(say.words(ENGLISH)["in_a_word"]) <= set(say.words(ENGLISH)["verdict"])
    assert set(say.words(ENGLISH)["why"]) == {why.value for why in Why if why}
    assert set(say.words(ENGLISH)["fault"]) == set(faults())
    assert set(say.words(ENGLISH)["effect"]) - {IN_RELEASE, AFTER_CHECK} <= {effect.value for effect in Effect}


@every("language", Language)
@every("kind", Kind)
def test_each_kind_is_said(kind, language):
    """Each form of each kind can be filled: a place that nothing fills is an error."""
    one = Happening(
        kind, 3000, "A", ("B",), value=2, over=1, servers=(1, 2, 3), why="expired", code=CODE, fault="lost_reply", of=3
    )

    for form in say.words(language)["kind"][kind]:
        assert say.clause(one, language, form)


@every("budget, said", [(NONE, "no fault"), (Budget(pauses=2, crashes=1), "2 pauses and 1 crash")])
def test_faults(budget, said):
    """Faults are counted by their kind."""
    assert say.faults(budget._asdict()) == said


def test_tokens():
    """A token has the name that commands have."""
    assert [say.token("B", number) for number in range(1, 7)] == [name_of("B", number) for number in range(1, 7)]
    assert len(say.words(ENGLISH)["token"]) == len(ORDINALS)


@every("language", Language)
@every("folder", lambda: sorted((REFERENCE / "chapters").glob("*/timeline.json")))
def test_each_kept_run_is_said(folder, language):
    """The caption, the title and the steps of each kept run have no open place, and no prose of the other language."""
    picture = load(folder)
    found = steps(picture)
    said = [say_run.caption(picture, language), say_run.title(picture, language)]
    said += [one["sentence"] for one in say_run.page_of_steps(found, language)["said"]] if found else []

    assert [one for one in said if re.search(r"[{}]|  | [;.,]", one)] == []
    assert language is ENGLISH or [one for one in said if PROSE.search(one)] == []


def test_a_loss_in_a_caption():
    """A caption has the steps of a loss, with the names of the requests and a moment each, where no page has them already."""
    picture = load(REFERENCE / "chapters" / "ttl-slow_holder" / "timeline.json")
    said = say_run.caption(picture).split(". ")

    assert said[1] == "r0, late with its release, deletes r4’s lock (+1.059 s)"
    assert len(said) == len(steps(picture).steps) + 1
    assert say_run.caption(picture, without_steps=True) == ""


def test_moments_have_decimals_enough():
    """Moments have as many decimals as they need to differ, and no more."""
    moments = [[], [1], [10, 30], [10, 12], [10, 10.2], [10, 10.00001, 500]]

    assert [say_run.decimals_of(one) for one in moments] == [2, 2, 2, 3, 4, 2]


def test_title_that_has_no_room():
    """What a run lost is left out of a title that is too long with it."""
    picture = load(REFERENCE / "chapters" / "etcd_fenced-frozen_holder" / "timeline.json")
    title = say_run.title(picture)
    with_cost = say.text("run", "cost", title=title, cost=say.clause(COST, form="title"))

    assert from_run.title(picture)[-1] == COST
    assert len(title) <= say_run.LONGEST < len(with_cost)


def titled(name, events, **about):
    """Return the title of a schedule of uuid with one pause."""
    conditions = say.text("faults", "pauses", n=1)
    return say.text(
        "story", f"{name}_conditions", stage="uuid", events=say.text("story", "events", n=events), conditions=conditions, **about
    )


def test_sentences_of_a_schedule():
    """The sentences name who did what, in order, and end with what broke."""
    assert say.title(LOST) == titled("title", 10, what=say.breaking(LOST.scenes[-1].breaks[-1]))
    assert say.sentences(LOST) == (
        "A gets the lock and reads 0. B waits for the lock. A is paused. At 3\u00a0s, A’s lock expires. B gets the lock, reads 0 "
        "and writes 1. A is resumed and writes 1 over B’s 1. One increment is lost: A worked after a pause between its last look "
        "at the lock and its write."
    )


def test_schedule_in_which_nothing_breaks():
    """A schedule without a finding has a title that says so. That a client waits is said once, however often it tries."""
    sound = replace(LOST, scenes=(*LOST.scenes[:2], *[LOST.scenes[2]] * 3), claim="")

    assert say.title(sound) == titled("nothing", 5)
    assert say.sentences(sound) == "A gets the lock and reads 0. B waits for the lock."


def test_a_theft_is_stated_once():
    """A theft that the last event is seen to do is not repeated as what it breaks."""
    stolen = replace(LOST.scenes[-1], did=(Happening(Kind.DELETED_OTHERS, actor="A", others=("B",)),))
    theft = Happening(Kind.THEFT, actor="A", others=("B",))

    assert say.sentences(replace(LOST, scenes=(replace(stolen, breaks=(theft,)),))) == "A deletes B’s lock."


def test_votes_of_one_command():
    """What several servers answer to one command is one deed; what another client does comes between."""
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


def of(kind, *others, **about):
    return Happening(kind, 3000, "A", others, **about)


@pytest.mark.parametrize(
    ("parts", "english", "chinese"),
    [
        ([of(Kind.GRANTED_WITH_FENCE, value=2)], "A gets the lock with fence 2", "A 加锁成功，编号 2"),
        ([of(Kind.SAW_OTHERS, "B")], "A sees that the lock is B’s", "A 看到锁是 B 的"),
        ([of(Kind.REQUEST_FAILED, code="NotAcquired")], "A’s request fails (NotAcquired)", "A 的请求失败（NotAcquired）"),
        (
            [of(Kind.WORK_FAILED), of(Kind.REQUEST_FAILED, code="ValueError")],
            "A fails in its work, and its request fails (ValueError)",
            "A 的业务失败，它的请求失败（ValueError）",
        ),
        ([of(Kind.SENT_TO_SERVER, servers=(2,)), of(Kind.COMMAND_LOST)], "A sends a command to server 2, and the command is lost",
         "A 向服务器 2 发送一条命令，命令丢失"),
        ([of(Kind.COMMAND, code=CODE, background=True)], "A’s other thread sends SET L", "A 的另一个线程发送 SET L"),
        ([of(Kind.VOTE_LEFT_OTHERS, "B", servers=(2,))], "A leaves B’s vote alone at server 2", "A 没有碰 B 在服务器 2 的票"),
        ([Happening(Kind.LOCK_EXPIRED, 3500, others=("A", "B"))], "at 3.5\u00a0s, the locks of A and B expire",
         "第 3.5 秒，A 和 B 的锁过期"),
    ],
)  # fmt: skip
def test_deeds(parts, english, chinese):
    """What an event did is one sentence, and the same in both languages."""
    assert (say.did(parts), say.did(parts, CHINESE)) == (english, chinese)


@pytest.mark.parametrize(
    ("one", "english", "chinese"),
    [
        (Happening(Kind.STUCK, others=("A",)), "A waits for ever", "A 永远等下去"),
        (Happening(Kind.STUCK, others=("A", "B")), "A and B wait for ever", "A 和 B 都永远等下去"),
        (Happening(Kind.STUCK), "a request waits for ever", "一个请求永远等下去"),
        (of(Kind.FENCE, value=3), "A gets no higher fence than 3", "A 没有拿到比 3 更大的编号"),
        (of(Kind.LOST, value=2, why="no_lock"), "2 increments are lost: A worked without any lock",
         "丢失 2 次 +1：A 没有加锁就执行了业务"),
        (Happening(Kind.LOST, why="expired"), "an increment was lost: a client worked after its lease had ended",
         "丢失一次 +1：某个客户端的锁已经到期，它还在执行"),
    ],
)  # fmt: skip
def test_how_a_claim_breaks(one, english, chinese):
    """How a claim breaks is said with the letters of the clients, where they are known."""
    assert (say.broken(one), say.broken(one, CHINESE)) == (english, chinese)

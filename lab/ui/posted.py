"""What the pages of a class post to the lab: each is checked here, and named in the refusal."""

from __future__ import annotations

from typing import Literal, TypeVar, cast

import msgspec

from app.locks import stages
from lab.errors import BadInput, choose_from
from lab.scenario import reader as scenarios
from lab.scenario.scenario import Scenario
from lab.ui.run_form import scenario_names


class PostedSubject(msgspec.Struct):
    """What the class is asked, or what is run."""

    stage: str
    scenario: str


class PostedPrediction(PostedSubject):
    """A prediction as a browser posts it."""

    choice: int  # the place of the choice, from 0, among the choices of the scenario's question
    name: str = ""  # the visitor's name; may be empty


class PostedScreen(msgspec.Struct):
    """A screen of the verdict, and which step of it, from 1; 0 where it has none."""

    screen: Literal["verdict", "loss", "replay"]
    step: int = 0


class PostedPlace(msgspec.Struct):
    """A step of the lesson, and which of its runs, from 0."""

    step: int
    run: int = 0


WHAT = {
    PostedPrediction: "prediction",
    PostedSubject: "stage under a scenario",
    PostedPlace: "step of the lesson",
    PostedScreen: "screen of the verdict",
}
# made before there are threads, one for each visitor: two that are the first to decode a type, both at once, end the interpreter
DECODERS = {kind: msgspec.json.Decoder(kind) for kind in WHAT}
Posted = TypeVar("Posted", PostedPrediction, PostedSubject, PostedPlace, PostedScreen)


def read(body: bytes, kind: type[Posted]) -> Posted:
    """Return what was posted. Raises BadInput, which names it."""
    try:
        return cast(Posted, DECODERS[kind].decode(body))
    except msgspec.DecodeError as error:
        raise BadInput(f"this is no {WHAT[kind]}: {error}") from None


def subject(posted: PostedSubject) -> tuple[str, Scenario]:
    """Return the stage and the scenario. Raises BadInput, which names the choices."""
    stage = choose_from("stage", posted.stage, stages())
    return stage, scenarios.load(choose_from("scenario", posted.scenario, scenario_names()))

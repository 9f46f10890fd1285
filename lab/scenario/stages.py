"""Find a stage as a command names it: by its name, or by the path of its file."""

from __future__ import annotations

from app.lock import Claim, Stage
from app.locks import stage as load_stage
from app.locks import stages
from lab.errors import BadInput, choose_from


def find_stage(name: str) -> Stage:
    """Return a stage by its name or by the path of a file. Raises BadInput."""
    if not name:
        raise BadInput(
            "no stage was named; give one, as in `make scenario STAGE=lua` or `lab run rush --stage lua`. "
            f"The stages: {', '.join(stages())}."
        )
    if not name.endswith(".py"):
        choose_from("stage", name, stages())
    try:
        return load_stage(name)
    except FileNotFoundError:
        raise BadInput(
            f"there is no file {name!r}. Give the name of a stage, or the path of its file. The stages: {', '.join(stages())}."
        ) from None
    except (ImportError, SyntaxError) as error:
        raise BadInput(f"{name} holds no stage: {error}") from None
    except KeyError as error:  # most likely an unknown claim
        choose_from("claim", str(error.args[0]), [claim.name for claim in Claim], name)
        raise
    except Exception as error:  # whatever a user's own file does, it is bad input and not a broken lock
        raise BadInput(f"{name} cannot be read: {type(error).__name__}: {error}") from error

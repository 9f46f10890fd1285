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
            f"no stage was named: make scenario STAGE=lua, or lab run rush --stage lua; there are {', '.join(stages())}"
        )
    if not name.endswith(".py"):
        choose_from("stage", name, stages())
    try:
        return load_stage(name)
    except FileNotFoundError:
        raise BadInput(
            f"there is no file {name!r} to read a stage from; the stages on the shelf: {', '.join(stages())}"
        ) from None
    except (ImportError, SyntaxError) as error:
        raise BadInput(f"{name} holds no stage: {error}") from None
    except KeyError as error:  # most likely a claim that nobody knows
        choose_from("claim", str(error.args[0]), [claim.name for claim in Claim], name)
        raise
    except Exception as error:  # somebody's own file: whatever it does, it is not our lock that is broken
        raise BadInput(f"{name} cannot be read: {type(error).__name__}: {error}") from error

"""Make the runs that the chapters show again: each by ``lab run`` in its own process, as a reader would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lab.docgen.figures import Illustration, illustrations, keep
from lab.errors import BadInput, choose_from
from lab.experiments.child_run import NoVerdict, child_run
from lab.paths import HOME, REPORTS


def rerun(names: Sequence[str], report: Callable[[str], None]) -> None:
    """Run what the named pictures show (``all`` for every picture) and keep the facts.

    Raises BadInput for an unknown name, or for a run with another verdict than the picture must show; the facts that were
    kept before then stay.
    """
    shelf = illustrations()
    for name in names:
        choose_from("picture", name, ["all", *shelf])
    for one in shelf.values():
        if "all" in names or one.name in names:
            report(f"{one.name}: {' '.join(one.command)}")
            keep(one, _run(one))


def _run(one: Illustration) -> Path:
    try:
        judgement = child_run(one.command[2:], HOME)
    except NoVerdict as failure:
        raise BadInput(str(failure)) from None
    return HOME / REPORTS / "runs" / judgement.run

"""``lab run``: one run from the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.errors import BadInput
from lab.load import locust
from lab.paths import COMMAND, shown
from lab.scenario.stages import find_stage
from lab.servers import process
from lab.servers.programs.gunicorn import Gunicorn
from lab.servers.supervisor import one_supervisor
from lab.text import counted

if TYPE_CHECKING:
    from lab.judge.findings import Findings
    from lab.judge.judgement import Judgement


def run_one(
    scenario_name: str,
    stage_name: str,
    given: Mapping[str, Any],
    as_json: bool,
    command: str,
    draw: bool = True,
) -> int:
    """Make one run: print the verdict as soon as it is known, end the servers, then draw. Return the exit status.

    While this process imports its own modules, other processes import the modules of the replicas and of Locust.
    draw: False leaves the pictures for ``lab report``. Raises BadInput, MissingProgram, NotReady.
    """
    if (load := given.get("load")) and not Path(load).is_file():
        raise BadInput(f"--load: there is no file {load!r}. Give the path of a locustfile of your own")
    store = find_stage(stage_name).store
    with one_supervisor() as supervisor:
        process.prepare(Gunicorn("", stores=(store,) if store else ()).forkable, supervisor)
        supervisor.prepare(locust.LOCUST, locust.environment())
        from lab.evidence import run_folder
        from lab.pipeline import finish, fitted, make_run
        from lab.report.terminal import introduce, summarise, terminal, where_to_look

        stage, scenario = fitted(scenario_name, stage_name, given)
        if scenario.own_load:
            scenario = locust.fitted_to_load(supervisor, scenario, given)
        out, err = terminal(quiet=as_json), terminal(stderr=True)
        if left := run_folder.take_abandoned():
            runs = counted(len(left), "unfinished run")
            hint = f"`{COMMAND} clean` removes what is left ({shown(left[0])})"
            sys.stderr.write(f"note: a lab that was killed left {runs}; {hint}\n")
        introduce(out, stage, scenario)

        def judged(judgement: Judgement, findings: Findings) -> None:
            if as_json:
                sys.stdout.write(run_folder.as_json(judgement))
                sys.stdout.flush()  # a reader in a pipe has the verdict before the pictures are drawn
            summarise(out, judgement, findings)

        done = make_run(stage, scenario, command, err, on_judged=judged)
        where_to_look(out, finish(done, draw))
        return done.exit_status

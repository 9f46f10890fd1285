"""The lab's additions to Locust's own page: the link to the live page, and links to reports in the cells of the tab.

Locust's page has no place for them and rewrites its own elements. So the additions stand outside of
these elements, and cells become links again whenever Locust rewrites them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from lab.scenario.options import form_options

FIELDS = {"num_users": "userCount", "spawn_rate": "spawnRate"}  # the names of these options in Locust's form
SCRIPT = Path(__file__).with_name("templates") / "locust_links.js"


def add_links(page: str, port: str, at_first: Mapping[str, float]) -> str:
    """Return Locust's page with the additions.

    port: of the live page; nothing is added if empty. at_first: Locust's own options with a field in its form, and their values
    when the form opens.
    """
    if not port:
        return page
    fields = {FIELDS[name]: f"{value:g}" for name, value in at_first.items()}
    known = {"PORT": port, "FIELDS": fields, "OPTIONS": [FIELDS["num_users"], *(option.name for option in form_options())]}
    script = SCRIPT.read_text(encoding="utf-8")
    for name, value in known.items():
        script = script.replace(f'"{name}"', json.dumps(value))
    return page.replace("</body>", f"<script>\n{script}</script>\n</body>")

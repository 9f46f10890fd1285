"""Additions to Locust's own page: the link to the live page, and links to reports in the cells of
the tab.

Locust's page has no place for them and rewrites its own elements. So the additions stand outside of
these elements, and cells become links again whenever Locust rewrites them.
"""

from __future__ import annotations

import json
from pathlib import Path

SCRIPT = Path(__file__).with_name("templates") / "locust_links.js"


def add_links(page: str, port: str) -> str:
    """Return Locust's page with the additions. port: of the live page; nothing is added if empty."""
    if not port:
        return page
    script = SCRIPT.read_text(encoding="utf-8").replace('"PORT"', json.dumps(port))
    return page.replace("</body>", f"<script>\n{script}</script>\n</body>")

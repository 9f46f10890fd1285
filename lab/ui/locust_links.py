"""What is put beside Locust's own page, which has no place for it: the way to the live page, and links in the tab's cells.

Locust's page is a program that writes its own elements; what is added stands outside of them, and cells are made links
again whenever they were written anew.
"""

from __future__ import annotations

import json
from pathlib import Path

SCRIPT = Path(__file__).with_name("templates") / "locust_links.js"


def add_links(page: str, port: str) -> str:
    """Locust's page with ours added. port: where the live page is served, nothing is added if empty."""
    if not port:
        return page
    script = SCRIPT.read_text(encoding="utf-8").replace('"PORT"', json.dumps(port))
    return page.replace("</body>", f"<script>\n{script}</script>\n</body>")

"""The lab's additions to Locust's own pages: a login, the link to the live page, and links to reports in the cells of the tab.

Locust's page has no place for them and rewrites its own elements. So the additions stand outside of
these elements, and cells become links again whenever Locust rewrites them.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import redirect, request, session, url_for
from flask_login import UserMixin, login_user


class User(UserMixin):
    """A visitor with the password."""

    id = "lab"


def require(web_ui: Any, password: str) -> None:
    """Require the password on all pages. web_ui: Locust's, started with ``--web-login``."""
    web_ui.app.config["SECRET_KEY"] = secrets.token_hex()
    web_ui.app.config["SESSION_COOKIE_SAMESITE"] = "Strict"
    web_ui.login_manager.user_loader(lambda name: User() if name == User.id else None)
    web_ui.auth_args = {"username_password_callback": "/lab/login"}

    def log_in() -> Any:
        if secrets.compare_digest(request.form.get("password", "").encode(), password.encode()):
            login_user(User())
            return redirect(url_for("locust.index"))
        session["auth_error"] = "Wrong password. The lab printed the password when it started."
        return redirect(url_for("locust.login"))

    web_ui.app.add_url_rule("/lab/login", "lab_login", log_in, methods=["POST"])


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
    script = SCRIPT.read_text(encoding="utf-8").replace('"PORT"', json.dumps(port)).replace('"FIELDS"', json.dumps(fields))
    return page.replace("</body>", f"<script>\n{script}</script>\n</body>")

"""Locust's own login page, required when the page is served to other machines."""

from __future__ import annotations

import secrets
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

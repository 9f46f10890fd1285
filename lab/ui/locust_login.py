"""Locust's own login page, asked for when the page is served to more than this machine."""

from __future__ import annotations

import secrets
from typing import Any

from flask import redirect, request, session, url_for
from flask_login import UserMixin, login_user


class Reader(UserMixin):
    """Whoever knew the password."""

    id = "lab"


def require(web_ui: Any, password: str) -> None:
    """Let nobody in without it. web_ui: Locust's, started with ``--web-login``."""
    web_ui.app.config["SECRET_KEY"] = secrets.token_hex()
    web_ui.app.config["SESSION_COOKIE_SAMESITE"] = "Strict"
    web_ui.login_manager.user_loader(lambda name: Reader() if name == Reader.id else None)
    web_ui.auth_args = {"username_password_callback": "/lab/login"}

    def enter() -> Any:
        if secrets.compare_digest(request.form.get("password", "").encode(), password.encode()):
            login_user(Reader())
            return redirect(url_for("locust.index"))
        session["auth_error"] = "That is not the password; the lab printed it when it started."
        return redirect(url_for("locust.login"))

    web_ui.app.add_url_rule("/lab/login", "lab_login", enter, methods=["POST"])

"""Flags and environment to one record, or a clear refusal."""

from __future__ import annotations

import pytest

from app.endpoint import Address, Endpoint
from app.settings import Settings, SettingsError
from app.web import create_app


def test_precedence_of_settings():
    """Flags win over the environment, and both win over the defaults."""
    settings = Settings.read({"LAB_STAGE": "ttl", "LAB_RETRY_MS": "5", "HOME": "x"}, stage="lua,uuid")

    assert settings.stage == ("lua", "uuid")
    assert settings.retry_ms == 5
    assert settings.wait_ms == 10_000


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("redis:6380", Endpoint((Address("redis", 6380),))),
        ("a:1,b:2", Endpoint((Address("a", 1), Address("b", 2)))),
        ("mysql://me:p@ss@db:3306/lab", Endpoint((Address("db", 3306),), "mysql", "me", "p@ss", "lab")),
    ],
)
def test_store_addresses(text, endpoint):
    """A store's address is a URL, or hosts and ports."""
    assert Settings.read({"LAB_REDIS_URL": text}).redis_url == endpoint


def test_password_is_never_shown():
    """A password is neither shown nor quoted in a refusal."""
    assert "secret" not in repr(Settings.read({"LAB_MYSQL_URL": "mysql://me:secret@db:3306/lab"}))
    with pytest.raises(SettingsError) as refusal:
        Settings.read({"LAB_MYSQL_URL": "mysql://me:secret@db"})
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"LAB_STGE": "lua"}, ["stge", "stage"]),
        ({"LAB_TTL_MS": "0"}, ["LAB_TTL_MS", "at least 1"]),
        ({"LAB_WORK_MS": "-3"}, ["LAB_WORK_MS", "-3"]),
        ({"LAB_REDIS_URL": "nowhere"}, ["LAB_REDIS_URL", "host:port"]),
        ({"LAB_REDIS_URL": "a:99999"}, ["LAB_REDIS_URL", "host:port"]),
    ],
)
def test_bad_setting_is_refused(environ, words):
    """A setting that makes no sense is refused by name."""
    with pytest.raises(SettingsError) as refusal:
        Settings.read(environ)

    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize("stage", ["lau", "", "nowhere.py"])
def test_app_needs_a_stage(stage):
    """An app without an existing stage does not start."""
    with pytest.raises(SettingsError, match="stage"):
        create_app(stage=stage)

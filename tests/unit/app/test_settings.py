"""Flags and environment to one record, or a clear refusal."""

from __future__ import annotations

import pytest

from app.endpoint import Address, Endpoint
from app.settings import Settings, SettingsError
from app.web import create_app


def test_flags_win_over_the_environment_and_both_over_the_defaults():
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
def test_a_store_is_found_by_a_url_or_by_hosts_and_ports(text, endpoint):
    assert Settings.read({"LAB_REDIS_URL": text}).redis_url == endpoint


def test_a_password_is_neither_shown_nor_quoted_in_a_refusal():
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
def test_a_setting_that_cannot_be_meant_is_refused_by_name(environ, words):
    with pytest.raises(SettingsError) as refusal:
        Settings.read(environ)

    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize("stage", ["lau", "", "nowhere.py"])
def test_an_app_without_a_stage_that_exists_does_not_start(stage):
    with pytest.raises(SettingsError, match="stage"):
        create_app(stage=stage)

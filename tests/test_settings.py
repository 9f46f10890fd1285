"""Flags and environment to one record, or a clear refusal."""

from __future__ import annotations

import pytest

from app.settings import Address, Settings, SettingsError
from app.web import create_app


def test_flags_win_over_the_environment_and_both_over_the_defaults():
    settings = Settings.read({"LAB_STAGE": "ttl", "LAB_RETRY_MS": "5", "HOME": "x"}, stage="lua,uuid")

    assert settings.stage == ("lua", "uuid")
    assert settings.retry_ms == 5
    assert settings.wait_ms == 10_000


def test_addresses_are_host_and_port():
    assert Settings.read({"LAB_LOCK_REDIS": "redis:6380"}).lock_redis == Address("redis", 6380)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"LAB_STGE": "lua"}, ["stge", "stage"]),
        ({"LAB_TTL_MS": "0"}, ["LAB_TTL_MS", "at least 1"]),
        ({"LAB_WORK_MS": "-3"}, ["LAB_WORK_MS", "-3"]),
        ({"LAB_LOCK_REDIS": "nowhere"}, ["LAB_LOCK_REDIS", "host:port"]),
        ({"LAB_LOCK_REDIS": "a:99999"}, ["LAB_LOCK_REDIS", "host:port"]),
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

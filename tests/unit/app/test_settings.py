"""Test how flags and environment make one record of settings, or a clear refusal."""

import pytest

from app.settings import Address, Endpoint, Settings, SettingsError
from app.web import create_app
from tests.every import every


def test_precedence_of_settings(tmp_path):
    """Flags win over the environment, and both win over the defaults."""
    places = {"LAB_JOURNAL": str(tmp_path / "j"), "LAB_FAULTS": str(tmp_path)}
    settings = Settings.read({"LAB_STAGE": "ttl", "LAB_RETRY_MS": "5", "HOME": "x"} | places, stage="lua")

    assert (settings.stage, settings.retry_ms, settings.wait_ms) == ("lua", 5, 10_000)
    assert (settings.journal, settings.faults) == (tmp_path / "j", tmp_path)


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("redis:6380", Endpoint((Address("redis", 6380),))),
        ("a:1,b:2", Endpoint((Address("a", 1), Address("b", 2)))),
        ("mysql://me:p@ss@db:3306/lab", Endpoint((Address("db", 3306),), "mysql", "me", "p@ss", "lab")),
        ("redis://me:p%40s%2Fs@[::1]:6379/1", Endpoint((Address("::1", 6379),), "redis", "me", "p@s/s", "1")),
    ],
)
def test_store_addresses(text, endpoint):
    """A store's address is a URL, or hosts and ports."""
    found = Settings.read({"LAB_REDIS_URL": text}).redis_url
    assert found == endpoint
    assert Address.parse(str(found.first)) == found.first


def test_password_is_never_shown():
    """A password is neither shown nor quoted in a refusal."""
    assert "secret" not in repr(Settings.read({"LAB_MYSQL_URL": "mysql://me:secret@db:3306/lab"}))
    for text in ("mysql://me:secret@db", "mysql://me:secret"):
        with pytest.raises(SettingsError) as refusal:
            Settings.read({"LAB_MYSQL_URL": text})
        assert "secret" not in str(refusal.value)


@every(
    "environ, words",
    [
        ({"LAB_STGE": "lua"}, ["no setting stge (LAB_STGE)", "Did you mean 'stage'?"]),
        ({"LAB_TTL_MS": "\u0663"}, ["setting ttl_ms (LAB_TTL_MS)", "Expected `int"]),
        ({"LAB_TTL_MS": "86400001"}, ["LAB_TTL_MS", "Expected `int` <= 86400000"]),
        ({"LAB_TTL_MS": "9" * 5000}, ["LAB_TTL_MS", "out of range"]),
        ({"LAB_WAIT_MS": " 5"}, ["LAB_WAIT_MS", "Expected `int"]),
        ({"LAB_RUN": "my run"}, ["LAB_RUN", "Expected `str` matching", "A-Za-z0-9"]),
        ({"LAB_RUN": "x" * 201}, ["LAB_RUN", "{1,200}"]),
        ({"LAB_REPLICA": "a\n"}, ["LAB_REPLICA", "Expected `str` matching"]),
        ({"LAB_NESTED": "sam"}, ["LAB_NESTED", "'sam'"]),
        ({"LAB_RECEIPTS": "no"}, ["LAB_RECEIPTS", "Expected `bool`"]),
        ({"LAB_REDIS_URL": "a:" + "9" * 5000}, ["LAB_REDIS_URL", "host:port"]),
        ({"LAB_TTL_MS": "0"}, ["LAB_TTL_MS", "Expected `int` >= 1"]),
        ({"LAB_WORK_MS": "-3"}, ["LAB_WORK_MS", "Expected `int` >= 0"]),
        ({"LAB_REDIS_URL": "nowhere"}, ["LAB_REDIS_URL", "host:port"]),
    ],
)
def test_bad_setting_is_refused(environ, words):
    """A wrong setting is refused in one line, with its name."""
    with pytest.raises(SettingsError) as refusal:
        Settings.read(environ)

    assert [word for word in words if word not in str(refusal.value)] == []
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("stage", ["lau", "", "nowhere.py"])
def test_app_needs_a_stage(stage):
    """An app without an existing stage does not start."""
    with pytest.raises(SettingsError, match="stage"):
        create_app(stage=stage)

"""Test the differences between an installed lab and a clone, without a wheel, and the installation of packages and servers."""

import pytest

from lab import bootstrap, cli, paths, prerequisites
from lab.commands import doctor
from lab.commands.exit_status import status_of
from lab.errors import BadInput, ExitStatus, MissingProgram
from lab.run import environment
from lab.servers.programs import gunicorn
from tests.every import every


@every(
    "words",
    [
        ("class",),
        ("experiment", "matrix"),
        ("experiment", "matrix", "--stage", "lua"),
        ("explore", "lua", "--keep"),
        ("run", "rush", "--stage", "lua", "--engine", "docker"),
    ],
)
def test_command_that_needs_a_clone_is_refused(monkeypatch, capsys, tmp_path, words):
    """A command that needs files outside the wheel is refused in one line, and writes nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(paths, "INSTALLED", True)
    monkeypatch.setattr("sys.argv", ["lab", *words])

    assert status_of(cli.lab) == ExitStatus.BAD_INPUT

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "needs a clone of the project" in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_clone_is_not_installed(monkeypatch, tmp_path):
    """In a clone, runs go to the folder that the documents name, and record the commit of the clone.

    An installed lab records no commit: a repository around it is not its own. Its locks write into the folder of the replica.
    """
    assert not paths.INSTALLED
    assert str(paths.REPORTS) == "reports"
    assert paths.COMMAND == ".venv/bin/lab"
    assert environment.commit.__wrapped__()

    monkeypatch.setattr(environment, "INSTALLED", True)
    monkeypatch.setattr(gunicorn, "INSTALLED", True)
    words = gunicorn.Gunicorn("replica-1").argv(20_000, tmp_path)
    assert environment.commit.__wrapped__() == ""
    assert words[words.index("--chdir") + 1] == str(tmp_path)


@pytest.fixture
def bare(monkeypatch):
    """Let all programs be missing, and let the package manager fail. Return the list of executed commands."""
    executed: list[list[str]] = []

    def fail(command: list[str], env: object = None) -> None:
        executed.append(command)
        raise MissingProgram(" ".join(command))

    monkeypatch.setattr(prerequisites.SystemProgram, "found", lambda self: None)
    monkeypatch.setattr(prerequisites, "manager", lambda: "dnf")
    monkeypatch.setattr(bootstrap, "_do", fail)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return executed


def test_servers_are_installed(bare, monkeypatch, capsys):
    """The installation is announced, takes one command, and ends with status 0 when all programs are there."""
    monkeypatch.setattr(
        bootstrap, "_do", lambda *words: (bare.append(words[0]), monkeypatch.setattr(prerequisites, "missing", lambda of: []))
    )

    doctor.install_servers("mysql")

    assert bare == [["dnf", "install", "-y", "redis", "nginx", "mariadb-server"]]
    assert "dnf install -y redis nginx mariadb-server" in capsys.readouterr().err


@every("manager, by_hand", [("dnf", "dnf install -y redis nginx"), (None, "install -y"), ("brew", "brew install redis nginx")])
def test_servers_that_cannot_be_installed(bare, monkeypatch, manager, by_hand):
    """If the programs cannot be installed, the error has how to do it by hand, and status 4."""
    monkeypatch.setattr(prerequisites, "manager", lambda: manager)

    with pytest.raises(MissingProgram, match=by_hand) as error:
        doctor.install_servers("redis")
    assert error.value.exit_status == ExitStatus.CANNOT_RUN


def test_unknown_store():
    with pytest.raises(BadInput, match=r"no store 'clocks'.*redis, mysql, postgresql, etcd, zookeeper"):
        doctor.install_servers("clocks")

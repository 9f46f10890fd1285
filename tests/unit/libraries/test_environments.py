"""Test the environments of libraries: their lock files, and the error if an environment cannot be made."""

import json
import re

import pytest

from app.foreign import library
from lab import prerequisites
from lab.errors import ExitStatus, MissingPackage
from lab.libraries import environments
from lab.libraries import listing as libraries
from lab.libraries.shelf import load, names
from lab.scenario.stages import find_stage
from tests.every import every

NPM = json.loads((environments.LOCKED / "node" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
DEBIAN = environments.versions(environments.LOCKED / "php.apt")


@pytest.fixture(autouse=True)
def nothing_made(tmp_path, monkeypatch):
    """Let the lab find no environment."""
    monkeypatch.setattr(environments, "MADE", tmp_path / "made")
    monkeypatch.setattr(library, "MADE", tmp_path / "made")


@every("name", names)
def test_version_of_a_package(name):
    """The version in a library's file is the version in the lock file of npm, or in the list of Debian's packages."""
    library = load(name).library
    if library.language == "JavaScript":
        locked = {(one.get("name", path.removeprefix("node_modules/")), one["version"]) for path, one in NPM.items() if path}
        assert (library.package, library.version) in locked
    if library.language == "PHP":
        assert DEBIAN[f"php-{library.package.replace('/', '-')}"] == library.version


def test_packages_have_no_address():
    """The lock file of npm has hashes and names no registry, and the lab can install each package in the list of Debian's."""
    text = (environments.LOCKED / "node" / "package-lock.json").read_text(encoding="utf-8")

    assert not re.findall(r'"resolved"|registry', text)
    assert [path for path, one in NPM.items() if path and not one.get("integrity", "").startswith("sha512-")] == []
    assert {*DEBIAN} < {program.name for program in prerequisites.PROGRAMS if program.store == prerequisites.PHP}


@pytest.mark.parametrize("manager", ["dnf", "brew", None])
def test_no_debian(manager, monkeypatch):
    """Without apt-get, the environment of PHP is refused in one sentence, and no folder is left."""
    monkeypatch.setattr(prerequisites, "manager", lambda: manager)

    with pytest.raises(MissingPackage, match=r"the environment php cannot be made: .* this system has no apt-get"):
        environments.make("php")

    assert not (environments.MADE / "php").exists()
    assert "Debian" in prerequisites.how_to_install("php-redis")


def test_another_version_of_debian(monkeypatch):
    """An environment is refused if the system has another version of its library than the shelf names."""
    monkeypatch.setattr(prerequisites, "manager", lambda: "apt")
    monkeypatch.setattr(environments.bootstrap, "install_servers", lambda stores: None)
    monkeypatch.setattr(environments, "_do", lambda command: "2:99.1+dfsg-3")

    with pytest.raises(MissingPackage, match=r"is 99\.1\+dfsg-3 on this system, and the shelf is about 8\.83"):
        environments.make("php")


def test_others_are_made(monkeypatch):
    """If one environment cannot be made, the others are still made, and the error comes at the end."""
    made = []

    def make(name: str) -> None:
        if name == "node":
            raise MissingPackage("no node")
        made.append(name)

    monkeypatch.setattr(environments, "make", make)

    with pytest.raises(MissingPackage, match="no node"):
        libraries.install(())

    assert made == [name for name in environments.names() if name != "node"]


@every("name", lambda: [name for name in names() if load(name).stage.worker])
def test_worker_that_is_not_installed(name):
    """A worker whose environment is not made is refused before anything starts, with the command that makes it."""
    with pytest.raises(MissingPackage, match=r" is not installed\. Run: make libraries$") as refused:
        find_stage(str(load(name).path))

    assert refused.value.exit_status == ExitStatus.CANNOT_RUN

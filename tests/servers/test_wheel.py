"""The wheel: its files, and its ``lab`` in folders outside of the clone.

``make environments`` tries it in six environments, with the packages of a registry: plain, with the lowest versions, with Python
3.14, next to pytest and a project with packages of our names, next to Django, and as ``uvx`` runs it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from lab.paths import DOCS, HOME
from lab.prerequisites import EXTRAS
from lab.run import environment
from lab.servers.ports import free_port
from lab.servers.supervisor import Supervisor
from tests.command import listens, wait_for

PACKAGES = ("app", "lab", "locustfiles", "pytest_lock_lab", "scenarios")
UV = Path(sys.executable).with_name("uv")
ABSENT = {package for packages in EXTRAS.values() for package in packages} - {"requests"}  # Locust brings requests
GUNICORN = "#!{}\nfrom gunicorn.app.wsgiapp import run\nrun()\n"
ABOUT = """
import json, app, lab, locustfiles
from lab.run import environment
print(json.dumps([[app.__file__, lab.__file__, locustfiles.__file__], environment.fingerprint(environment.CODE)]))
"""

# a user's own files: each imports another one by its name
SHARED = "import {0}.settings\n\n\ndef name_of(name):\n    return {0}.settings.PREFIX + name\n"
LOCK = """
from typing import TYPE_CHECKING

from redis.lock import Lock

from {0}.settings import PREFIX
from shared import name_of

if TYPE_CHECKING:
    from redis import Redis


class MyLock(Lock):
    def __init__(self, client: "Redis", name, timeout):
        super().__init__(client, name_of(name), timeout=timeout, blocking=PREFIX == "shop:")
"""
TEST = """
from {0}.locks import MyLock


def test_lock(lock_lab):
    assert MyLock.__module__ == "{0}.locks"
    lock_lab.check("lab_my_lock.py", "--scenario", "rush", "--budget", "1", allow_nothing_shown=True)
"""
OF_DJANGO = "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\nfrom django.conf import settings\n"
MODEL = """
from django.db import models


class Item(models.Model):
    sold = models.IntegerField(default=0)
    stock = models.IntegerField(default=20)
"""
ADDRESSES = """
from django.http import HttpResponse
from django.urls import path

from shop.models import Item
from shop.views import buy

urlpatterns = [path("buy/<int:item_id>", buy), path("sold", lambda request: HttpResponse(Item.objects.get(id=1).sold))]
"""


def execute(*words: str | Path, cwd: Path, status: tuple[int, ...] = (0,)) -> str:
    """Execute a command without our PYTHONPATH, check its exit status, and return its output."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Return the wheel, made from a copy of the clone: setuptools would put files of an earlier wheel into it."""
    copy = tmp_path_factory.mktemp("source")
    for name in PACKAGES:
        shutil.copytree(HOME / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(HOME / name, copy)
    (copy / "dist").mkdir()
    execute(sys.executable, "-c", "from setuptools.build_meta import build_wheel; build_wheel('dist')", cwd=copy)
    return next((copy / "dist").glob("lock_lab-*.whl"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory) -> Path:
    """Return the folder of packages of an environment that has the wheel, and our packages without the clone and the extras."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", "--no-compile")
    execute(*pip, wheel, cwd=folder)
    packages = next(folder.glob("lib/python*/site-packages"))
    for ours in {sysconfig.get_path(name) for name in ("purelib", "platlib")}:
        for entry in Path(ours).iterdir():
            is_absent = entry.suffix == ".pth" or entry.name.lower().startswith((*ABSENT, "lock_lab", "__editable__"))
            if not is_absent and not (packages / entry.name).exists():
                (packages / entry.name).symlink_to(entry)
    (folder / "bin" / "gunicorn").write_text(GUNICORN.format(python), encoding="utf-8")  # pip makes it, with the package
    (folder / "bin" / "gunicorn").chmod(0o755)
    return packages


def project(folder: Path, package: str) -> Path:
    """Make a user's project: a lock in a package of this name, and packages that have the names of ours. Return its folder."""
    files = {"lab/__init__.py": "", "scenarios/__init__.py": "", f"{package}/__init__.py": ""}
    files |= {
        f"{package}/settings.py": "PREFIX = 'shop:'\n",
        f"{package}/locks.py": LOCK,
        "shared.py": SHARED,
        "test_it.py": TEST,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.format(package), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    """Return a user's project whose package is called ``app``."""
    return project(tmp_path_factory.mktemp("somewhere"), "app")


def lab(site: Path) -> Path:
    """Return the command that the wheel installed."""
    return site.parents[2] / "bin" / "lab"


def files(folder: Path) -> set[str]:
    """Return the paths below a folder, without the files that Python compiles."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if "__pycache__" not in path.parts}


def test_all_files_are_in_the_wheel(wheel):
    """The wheel has each file of the packages that git knows, and no other files but its own description."""
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=HOME, capture_output=True, text=True, check=True).stdout.split()
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    assert set(listed) - names == set()
    assert {name.split("/")[0] for name in names} - {*PACKAGES} == {f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}


def test_the_clone_is_not_imported(site, here):
    """In a user's folder the packages of the wheel are imported, and have the fingerprint of the clone's."""
    places, fingerprint = json.loads(execute(site.parents[2] / "bin" / "python", "-P", "-c", ABOUT, cwd=here))

    assert places == [str(site / name / "__init__.py") for name in ("app", "lab", "locustfiles")]
    assert fingerprint == environment.fingerprint(environment.CODE)


def test_lock_is_tested(site, here):
    """A lock in a package ``app`` is explored, run and judged, and tested by the fixture; nothing is added to our packages."""
    before = files(site)
    words = ("--scenario", "holder_crash", "--budget", "1", "--requests", "20")
    # 3: within a second, not every order is decided
    execute(lab(site), "test", "app.locks:MyLock", *words, cwd=here, status=(0, 3))

    found = [json.loads(path.read_text(encoding="utf-8")) for path in here.glob("lab-runs/runs/2*/verdict.json")]
    assert [one["stage"] for one in found] == ["lab_my_lock"]
    pytest_words = ("-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert "1 passed" in execute(site.parents[2] / "bin" / "python", *pytest_words, cwd=here)
    names = {path.name for path in here.iterdir()} - {"__pycache__"}
    assert names == {"app", "lab", "scenarios", "lab-runs", "lab_my_lock.py", "shared.py", "test_it.py"}
    assert files(site) == before


def test_without_extras(site, here):
    """A stage or a chart that needs a package of an extra names the extra."""
    chart = ("experiment", "ttl", "--stage", "lua", "--values", "0.5", "--repeats", "1")
    for words, extra in ((("run", "rush", "--stage", "mysql_insert"), "stores"), (chart, "charts")):
        assert f"pip install 'lock-lab[{extra}]'" in execute(lab(site), *words, cwd=here, status=(4,))


def test_doctor(site, here):
    """The doctor works, and has nothing to install if the servers are installed."""
    assert "redis-server" in execute(lab(site), "doctor", cwd=here)
    assert "all that the lab needs for redis is installed" in execute(lab(site), "doctor", "--install", cwd=here)


def install(folder: Path, python: str, *words: str | Path) -> Path:
    """Make an environment with these packages, and return its programs. If there is no such Python, skip the test and say so."""
    if subprocess.run([UV, "venv", "--quiet", "--python", python, folder], check=False).returncode:
        pytest.skip(f"there is no Python {python} on PATH, and uv cannot download it")
    execute(UV, "pip", "install", "--quiet", "--python", folder, *words, cwd=folder)
    return folder / "bin"


def try_lab(folder: Path, package: str, *lab: str | Path) -> None:
    """Try the first commands of a user: the version, a list, and a test of a lock."""
    assert execute(*lab, "--version", cwd=folder).startswith("lab")
    assert "lua" in [one["name"] for one in json.loads(execute(*lab, "list", "stages", "--json", cwd=folder))]
    words = ("--scenario", "rush", "--budget", "1", "--requests", "100", "--no-draw")
    assert "exclusive" in execute(*lab, "test", f"{package}.locks:MyLock", *words, cwd=folder, status=(0, 3))
    assert len(list(folder.glob("lab-runs/runs/2*/verdict.json"))) == 1


@pytest.mark.trial
@pytest.mark.parametrize(
    ("python", "words", "package"),
    [
        pytest.param(sys.executable, [], "shop", id="plain"),
        pytest.param(sys.executable, ["--resolution", "lowest-direct"], "shop", id="lowest"),
        pytest.param("3.14", [], "shop", id="newest"),
        pytest.param(sys.executable, ["pytest"], "app", id="packages_of_our_names"),
    ],
)
def test_environment(wheel, tmp_path, python, words, package):
    """The wheel alone tests a lock, and so does its fixture if there is pytest."""
    programs, folder = install(tmp_path / "environment", python, *words, wheel), project(tmp_path / "project", package)
    if python == "3.14":  # since then an annotation needs no quotes
        (folder / package / "locks.py").write_text(LOCK.format(package).replace('"Redis"', "Redis"), encoding="utf-8")
    try_lab(folder, package, programs / "lab")
    if "pytest" in words:
        assert "1 passed" in execute(programs / "python", "-m", "pytest", "-q", "test_it.py", cwd=folder)


@pytest.mark.trial
def test_next_to_django(wheel, tmp_path):
    """A lock that reads a Django project's settings is tested, and ``lab count`` finds that docs/count.md's view oversells."""
    folder, port = project(tmp_path / "project", "shop"), free_port()
    (folder / "shop" / "settings.py").unlink()
    programs = install(tmp_path / "environment", sys.executable, "django", wheel)
    execute(programs / "django-admin", "startproject", "shop", cwd=tmp_path)
    shutil.copytree(tmp_path / "shop", folder, dirs_exist_ok=True)
    with (folder / "shop" / "settings.py").open("a", encoding="utf-8") as settings:
        settings.write("PREFIX = 'shop:'\nINSTALLED_APPS = [*INSTALLED_APPS, 'shop']\n")
    lock = LOCK.format("shop").replace("from shop.settings import PREFIX", f"{OF_DJANGO}PREFIX = settings.PREFIX")
    (folder / "shop" / "locks.py").write_text(lock, encoding="utf-8")
    (view,) = re.findall(r"```django\n(.*?)```", (DOCS / "count.md").read_text("utf-8"), re.DOTALL)
    for name, text in (("models.py", MODEL), ("views.py", view), ("urls.py", ADDRESSES)):
        (folder / "shop" / name).write_text(text, encoding="utf-8")
    execute(programs / "python", "manage.py", "migrate", "--run-syncdb", cwd=folder)
    execute(programs / "python", "manage.py", "shell", "-c", "from shop.models import Item; Item.objects.create()", cwd=folder)
    try_lab(folder, "shop", programs / "lab")

    with closing(Supervisor()) as supervisor:
        server = [str(programs / "python"), "manage.py", "runserver", "--noreload", f"{port}"]
        supervisor.start(server, dict(os.environ), folder, tmp_path / "log")
        wait_for(lambda: listens(port))
        where = ("--post", f"http://127.0.0.1:{port}/buy/1", "--read", f"http://127.0.0.1:{port}/sold", "--stock", "20")
        found = execute(programs / "lab", "count", *where, "--requests", "200", "--users", "20", cwd=folder, status=(1,))
    assert "buyers were told that they bought an item" in found


@pytest.mark.trial
def test_as_uvx_runs_it(wheel, tmp_path):
    """``uv tool run lock-lab`` works: the wheel has a script with the name of the package."""
    try_lab(project(tmp_path, "shop"), "shop", UV, "tool", "run", "--quiet", "--from", wheel, "lock-lab")

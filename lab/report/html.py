"""Make pages from templates. A page is one file, with its style and its pictures inside."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from lab.evidence.run_folder import replace
from lab.language import NAMES, Language
from lab.story.verdict import headline
from lab.text import thousands


def inline(path: Path) -> str:
    """Return an SVG file as text for a page. Each id gets the file's name as prefix, so that it is unique on the page."""
    text = path.read_text(encoding="utf-8")
    text = text[text.index("<svg") :]
    prefix = path.stem.replace("_", "-")
    for marker in ('id="', 'href="#', "url(#"):
        text = text.replace(marker, f"{marker}{prefix}-")
    return text


def path_in(path: Path, language: Language) -> Path:
    """Return the path of a page in a language: ``index.html`` is ``index.zh.html`` in Chinese."""
    return path if language is Language.ENGLISH else path.with_suffix(f".{language}{path.suffix}")


PAGES = {language: path_in(Path("report.html"), language).name for language in Language}  # of a run


def page_of(folder: Path, language: Language) -> str:
    """Return the name of a run's page in this language, or else in another one; empty without a page."""
    own_first = sorted(Language, key=lambda candidate: candidate != language)
    return next((PAGES[candidate] for candidate in own_first if (folder / PAGES[candidate]).is_file()), "")


def in_both(
    template: str,
    path: Path,
    values: Callable[[Language], Mapping[str, Any]],
    languages: Iterable[Language] = Language,
    *more_templates: Path,
) -> list[Path]:
    """Write a page in each language, with a button for each other language. Return the paths, in the order of the languages."""
    files = {language: path_in(path, language).name for language in languages}
    for language, name in files.items():
        replace(
            path.with_name(name), page(template, *more_templates, language=language, files=files, **values(language)).encode()
        )
    return [path.with_name(name) for name in files.values()]


def page(template: str, *more_templates: Path, **values: Any) -> str:
    """Return a page from a template. more_templates: folders of templates to look in after the report's own."""
    text = _environment(*more_templates).get_template(template).render(**values)
    return text.replace("\u2009", "\u202f")  # a number must not break at the end of a line


@cache
def _environment(*more_templates: Path) -> jinja2.Environment:
    """Return the environment of the templates. It is shared, because a template takes longer to compile than to fill.

    Compiled templates are kept beside the templates, as Python keeps its modules, if the user may write there.
    """
    home = Path(__file__).with_name("templates")
    keeps = not sys.dont_write_bytecode and os.access(home, os.W_OK)
    if keeps:
        (home / "__pycache__").mkdir(exist_ok=True)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([home, *more_templates]),
        bytecode_cache=jinja2.FileSystemBytecodeCache(str(home / "__pycache__")) if keeps else None,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["languages"] = {language: names._asdict() for language, names in NAMES.items()}
    environment.filters["thousands"] = thousands
    environment.filters["headline"] = headline
    environment.filters["px"] = lambda number: f"{round(number, 1):g}"
    return environment

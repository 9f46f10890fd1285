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


def named(path: Path, language: Language) -> Path:
    """Return the path of a page in a language: ``index.html`` is ``index.zh.html`` in Chinese."""
    return path if language is Language.ENGLISH else path.with_suffix(f".{language}{path.suffix}")


PAGES = {one: named(Path("report.html"), one).name for one in Language}  # of a run


def page_of(folder: Path, language: Language) -> str:
    """Return the name of a run's page: in a language, or else in another; empty without a page."""
    own_first = sorted(Language, key=lambda one: one != language)
    return next((PAGES[one] for one in own_first if (folder / PAGES[one]).is_file()), "")


def in_both(
    template: str,
    path: Path,
    values: Callable[[Language], Mapping[str, Any]],
    languages: Iterable[Language] = Language,
    *more_templates: Path,
) -> list[Path]:
    """Write a page in each language, each with a button to the others. Return the paths, in the order of the languages."""
    files = {one: named(path, one).name for one in languages}
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
    """Return what has compiled templates: one for all pages, since a template takes longer to compile than to fill.

    They are kept beside the templates, as Python keeps its modules, if the user may write there.
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
    environment.globals["languages"] = {one: names._asdict() for one, names in NAMES.items()}
    environment.filters["thousands"] = thousands
    environment.filters["headline"] = headline
    environment.filters["px"] = lambda number: f"{round(number, 1):g}"
    return environment

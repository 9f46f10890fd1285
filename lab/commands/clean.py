"""``lab clean``: remove old runs."""

from __future__ import annotations

from pathlib import Path

from lab.evidence import run_folder
from lab.paths import REPORTS
from lab.pipeline import publish_site
from lab.report import site


def clean(keep: int) -> list[Path]:
    """Remove old runs, from the site as well. Return the removed ones."""
    removed = run_folder.clean(keep)
    if (REPORTS / site.INDEX).exists():
        publish_site()
    return removed

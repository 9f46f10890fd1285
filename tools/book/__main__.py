"""The command line of the book: ``python -m tools.book``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lab.commands.exit_status import status_of
from lab.errors import ExitStatus
from lab.paths import HOME, new_folder, shown
from tools.book import drift, explored, figures, generate, links, translations, website


@click.command()
@click.option(
    "--rerun",
    multiple=True,
    metavar="PICTURE",
    help="Picture of docs/pictures.toml, or `all`: repeat its run first. Can be repeated.",
)
@click.option(
    "--keep",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a ladder, or of one run under rush: keep its runs as those of the reference ladder first.",
)
@click.option(
    "--compared",
    metavar="PAGE",
    help="Chinese page, such as docs/zh/class.md: record that you have compared it with its English page, and do nothing else.",
)
@click.option(
    "--website",
    "website_folder",
    metavar="FOLDER",
    help="Write the documents and pages as a website of static files, and do nothing else.",
)
@click.option(
    "--check", is_flag=True, help="Write nothing: list each document and picture that differs from what would be written."
)
def book(rerun: tuple[str, ...], keep: Path | None, compared: str | None, website_folder: str | None, check: bool) -> ExitStatus:
    """Write the generated parts and pictures of docs/ again.

    The data are the stages and scenarios of this checkout, and the runs in reports/reference. The command also lists links that
    lead nowhere, the Chinese pages whose English page has changed since a person compared them, and the stages and slips whose
    code has changed since `lab explore` decided them. --check exits with 1 if anything differs.
    """
    status = ExitStatus.GOOD
    if website_folder:
        click.echo(f"wrote {shown(website.write(new_folder(website_folder, '--website')))}")
        return status
    if compared:
        translations.record_comparison(compared)
        return status
    if keep:
        click.echo(f"kept {len(figures.keep_ladder(keep))} runs")
    figures.rerun(rerun, click.echo)
    for path, new in drift.drifted():
        click.echo(f"{'differs' if check else 'wrote'}: {path.relative_to(HOME)}")
        if check:
            status = ExitStatus.BROKEN
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, encoding="utf-8")
    for line in (*links.wrong(generate.documents()), *translations.stale()):
        status = ExitStatus.BROKEN if check else status
        click.echo(line)
    for line in explored.to_do():
        click.echo(line)
    return status


if __name__ == "__main__":
    sys.exit(status_of(book))

"""The command line of the book: ``python -m tools.book``."""

import sys
from pathlib import Path

import click

from lab.commands.exit_status import status_of
from lab.errors import ExitStatus
from lab.paths import HOME, new_folder, shown
from tools.book import figures, generate, links, translations
from tools.book.website import write

EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--rerun", multiple=True, metavar="PICTURE", help="Repeat the run of a picture of docs/pictures.toml first.")
@click.option("--keep", metavar="FOLDER", type=EXISTING, help="Keep the runs of this ladder, or this run, first.")
@click.option("--compared", metavar="PAGE", help="Record that you have compared a Chinese page with its English page, only.")
@click.option("--website", metavar="FOLDER", help="Write the documents and pages as a website of static files, only.")
@click.option("--check", is_flag=True, help="Write nothing: list the files that would change.")
def book(rerun: tuple[str, ...], keep: Path | None, compared: str | None, website: str | None, check: bool) -> ExitStatus:
    """Write the generated parts and pictures of docs/ again.

    The data are the stages and scenarios of this checkout, and the runs in reports/reference. The command also lists links
    that lead nowhere, and the Chinese pages whose English page has changed since a person compared them. --check exits with 1
    if anything differs.
    """
    status = ExitStatus.GOOD
    if website:
        click.echo(f"wrote {shown(write(new_folder(website, '--website')))}")
        return status
    if compared:
        translations.record_comparison(compared)
        return status
    if keep:
        click.echo(f"kept {len(figures.keep_ladder(keep))} runs")
    figures.rerun(rerun, click.echo)
    for path, new in generate.drifted():
        click.echo(f"{'differs' if check else 'wrote'}: {path.relative_to(HOME)}")
        if check:
            status = ExitStatus.BROKEN
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, encoding="utf-8")
    for line in (*links.wrong(generate.documents()), *translations.stale()):
        status = ExitStatus.BROKEN if check else status
        click.echo(line)
    return status


if __name__ == "__main__":
    sys.exit(status_of(book))

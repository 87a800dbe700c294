"""`python -m leaderboard`: build the site, look at it, take its pictures."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click

from honestybench.errors import UsageError
from honestybench.terminal import run_command
from leaderboard.browser import PICTURES, take_pictures
from leaderboard.cells import some
from leaderboard.collect import collect
from leaderboard.render import write_site

CHECKOUT = Path(__file__).resolve().parent.parent
SITE = CHECKOUT / "site"
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Build the leaderboard as static pages, and look at them.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
    """


@cli.command()
@click.option("--out", type=FOLDER, default=SITE, help="Where the site goes [default: site/ of the checkout].")
@click.option(
    "--submissions", type=FOLDER, default=CHECKOUT / "submissions", help="What is shown [default: submissions/]."
)
@click.option(
    "--release",
    type=FOLDER,
    default=CHECKOUT / "honestybench" / "sample",
    help="Whose questions and answers are quoted [default: the embedded sample].",
)
def build(out: Path, submissions: Path, release: Path) -> None:
    """Write the site from scored submissions. It opens from the disk and needs no server."""
    boards = collect(submissions, release)
    pages = write_site(boards, out)
    systems = sum(len(board.entries) for board in boards)
    click.echo(
        f"built: {out}, {len(pages)} pages: {some(systems, 'system', 'systems')} on {some(len(boards), 'LLM', 'LLMs')}"
    )
    click.echo(f"open: {(out / 'index.html').resolve().as_uri()}")


@cli.command()
@click.option("--out", "site", type=FOLDER, default=SITE, help="The site [default: site/ of the checkout].")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
def serve(site: Path, port: int) -> None:
    """Serve the site to this machine's browsers until Ctrl-C."""
    _require_site(site)
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        click.echo(f"serving {site} at http://127.0.0.1:{server.server_port}/ (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("\nstopped")


@cli.command()
@click.option("--out", "site", type=FOLDER, default=SITE, help="The site [default: site/ of the checkout].")
@click.option(
    "--pictures", type=FOLDER, default=CHECKOUT / "build" / "screenshots", help="Where they go [build/screenshots/]."
)
def screenshots(site: Path, pictures: Path) -> None:
    """Take pictures of the pages with Chromium: three widths, light and dark."""
    _require_site(site)
    for path in take_pictures(site, pictures):
        click.echo(path)
    click.echo(f"{len(PICTURES)} views of every page kind: {pictures}")


def _require_site(site: Path) -> None:
    if not (site / "index.html").is_file():
        raise UsageError("no site here", where=str(site), remedy="build it with `make leaderboard`")


if __name__ == "__main__":
    run_command(cli, None, program="python -m leaderboard")

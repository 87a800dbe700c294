"""Write the site: views through templates into a folder that is built aside and swapped in whole."""

import json
import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from honestybench.errors import UsageError
from honestybench.scorecard import SCORER_VERSION
from honestybench.storage import MANIFEST_NAME, ReplacedFolder, refused_writes
from leaderboard.board_view import SELECTIONS, board_view
from leaderboard.cells import shown
from leaderboard.collect import Board
from leaderboard.places import ABOUT, INDEX, SUBMIT, Place, frame
from leaderboard.system_view import system_view
from leaderboard.views import BoardView, Fact, SystemView, TextView
from leaderboard.words import FLAGS, METHOD_CLASSES, NOT_RANKED, SEES, SHOWN, column

HERE = Path(__file__).resolve().parent
SITE_KIND = "honestybench-site"
View = BoardView | SystemView | TextView


def write_site(boards: Sequence[Board], out: Path) -> list[str]:
    """Write every page, the static files and a manifest of both; give the paths of the pages.

    Equal input gives equal bytes. Raises: UsageError when `out` holds anything that is not of a site; StorageError.
    """
    _refuse_other_folder(out)
    files = dict(_pages(boards))
    pages = list(files)
    files |= {path.name: path.read_bytes() for path in sorted((HERE / "static").iterdir())}
    with ReplacedFolder(out) as folder, refused_writes(out):
        for path, content in files.items():
            target = folder.new / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        (folder.new / MANIFEST_NAME).write_text(_manifest(files), encoding="utf-8")
        folder.commit()
    return pages


def _pages(boards: Sequence[Board]) -> Iterator[tuple[str, bytes]]:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def page(place: Place, template: str, view: View) -> tuple[str, bytes]:
        text = environment.get_template(template).render(view=view, page=view.page)
        return place.path, text.encode("utf-8")

    yield page(INDEX, "board.html", board_view(boards, boards[0], "all", INDEX))
    for board in boards:
        for selection in SELECTIONS:
            place = Place.board(board.llm, selection)
            yield page(place, "board.html", board_view(boards, board, selection, place))
        for entry in board.entries:
            yield page(Place.system(board.llm, entry.slug), "system.html", system_view(board, entry))
    yield page(ABOUT, "about.html", _text_view(ABOUT, "About", "about"))
    yield page(SUBMIT, "submit.html", _text_view(SUBMIT, "How to submit", "submit"))


def _printable(value: object) -> object:
    """Replace what a page cannot hold in every text that a template writes; markup comes from macros, written once."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _text_view(place: Place, title: str, section: str) -> TextView:
    def facts(words: dict[str, str]) -> tuple[Fact, ...]:
        return tuple(Fact(name=name, value=meaning) for name, meaning in words.items())

    return TextView(
        page=frame(place, f"{title} · HonestyBench", f"{title}: the HonestyBench leaderboard.", section),
        scorer_version=SCORER_VERSION,
        metrics=tuple(Fact(name=f"{one.heading} {one.arrow}", value=one.meaning) for one in map(column, SHOWN)),
        flags=facts(FLAGS),
        sees=facts(SEES),
        classes=facts(METHOD_CLASSES),
        not_ranked=NOT_RANKED,
    )


def _manifest(files: dict[str, bytes]) -> str:
    """List the site's files with their sha256; the kind keeps a release from being taken for a site."""
    hashes = {path: sha256(content).hexdigest() for path, content in files.items()}
    return json.dumps({"kind": SITE_KIND, "files": hashes}, indent=2, sort_keys=True) + "\n"


def _refuse_other_folder(out: Path) -> None:
    """Refuse a folder that is no site, or holds more than the site that its manifest lists: all of it would go."""
    remedy = "name an empty or new folder, or that of an older site"
    if out.exists() and not out.is_dir():
        raise UsageError("a file stands where the site's folder must be", where=str(out), remedy=remedy)
    if not out.is_dir() or not any(out.iterdir()):
        return
    listed = _listed(out / MANIFEST_NAME)
    if listed is None:
        raise UsageError("the folder is not empty and holds no site; it stays as it is", where=str(out), remedy=remedy)
    ours = {MANIFEST_NAME, *listed, *(str(parent) for path in listed for parent in PurePosixPath(path).parents)}
    foreign = sorted(path for path in _contents(out) if path not in ours)
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise UsageError(
            f"{foreign[0]}{more}: not written by an earlier build; the folder stays as it is",
            where=str(out),
            remedy="move what is yours out of the folder, or name another",
        )


def _listed(manifest: Path) -> set[str] | None:
    """The files that a site's manifest lists; None when it is no manifest of a site."""
    try:
        value = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("kind") != SITE_KIND or not isinstance(value.get("files"), dict):
        return None
    return set(value["files"])


def _contents(folder: Path) -> Iterator[str]:
    """Every file and folder below a folder, relative to it; links are not followed."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield (Path(parent) / name).relative_to(folder).as_posix()

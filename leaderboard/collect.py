"""Gather what the site shows: scorecards and system files of every LLM, and the texts of confident errors."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from honestybench.errors import DataError, UsageError
from honestybench.records import TRACKS
from honestybench.release import CONFIG_NAME, Manifest, read_manifest
from honestybench.scorecard import SCORECARD_NAME, ScoreCard, read_scorecard
from honestybench.shards import iter_batches
from honestybench.submission import System, read_system
from leaderboard.checks import SYSTEM_NAME, check_described, check_entry

_TEXT_COLUMNS = ("id", "question", "answers", "greedy_response")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One submission that was scored; `slug` is the name of its folder."""

    slug: str
    info: System
    card: ScoreCard


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerText:
    """What an LLM was asked, what would have been right, and what it answered."""

    question: str
    golds: tuple[str, ...]
    greedy_answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All entries of one answering LLM.

    `texts` maps example ids to texts, for entries scored against `texts_release` (None without texts);
    `source_titles` names sources as that release does.
    """

    llm: str
    entries: tuple[Entry, ...]
    texts_release: str | None
    texts: Mapping[str, AnswerText]
    source_titles: Mapping[str, str]


def collect(submissions: Path, release: Path) -> tuple[Board, ...]:
    """Read `submissions/<llm>/<system>/`, and texts from the release where it is the one that was scored.

    Boards are sorted by LLM, entries by folder. Raises: UsageError when there is no submission;
    DataError for a folder, a card or a system file that is not what it must be, or of something else.
    """
    boards = tuple(_board(folder, release) for folder in _folders(submissions))
    boards = tuple(board for board in boards if board.entries)
    if not boards:
        raise UsageError(
            "no submissions here", where=str(submissions), remedy="run `make score`, or name another --submissions"
        )
    return boards


def _board(folder: Path, release: Path) -> Board:
    entries = tuple(_entry(inner) for inner in _folders(folder))
    manifest = read_manifest(release) if release.is_dir() else None
    same: list[Entry] = []
    if manifest is not None and folder.name in manifest.content["llms"]:
        same = [entry for entry in entries if entry.card["release_id"] == manifest.release_id]
    return Board(
        llm=folder.name,
        entries=entries,
        texts_release=manifest.release_id if manifest and same else None,
        texts=_texts(release, manifest, folder.name, _error_ids(same)) if manifest and same else {},
        source_titles={key: terms["title"] for key, terms in manifest.content["sources"].items()} if manifest else {},
    )


def _entry(folder: Path) -> Entry:
    check_described(folder)
    card, info = read_scorecard(folder / SCORECARD_NAME), read_system(folder / SYSTEM_NAME)
    check_entry(folder, card, info)
    return Entry(slug=folder.name, info=info, card=card)


def _folders(parent: Path) -> Iterator[Path]:
    """List the folders in a folder by name; their names become file names and addresses, so no odd one passes."""
    if not parent.is_dir():
        return
    for path in sorted(parent.iterdir(), key=lambda path: path.name):
        if not path.is_dir() or path.name.startswith("."):
            continue
        if not CONFIG_NAME.fullmatch(path.name):
            raise DataError(
                "a folder's name has lower case letters, digits, '.', '_' and '-'",
                where=str(parent),
                value=path.name,
                remedy="rename it",
            )
        if path.is_symlink():
            # Scoring and the checks read names of folders: behind a link those of another place would count.
            remedy = "put the folder itself here, or move the link away"
            raise DataError("a symbolic link stands where a folder must be", where=str(path), remedy=remedy)
        yield path


def _error_ids(entries: Iterable[Entry]) -> set[str]:
    tracks = (track for entry in entries for track in entry.card["tracks"].values())
    return {error["id"] for track in tracks for error in track["confident_errors"]}


def _texts(release: Path, manifest: Manifest, llm: str, wanted: set[str]) -> dict[str, AnswerText]:
    return {
        row["id"]: AnswerText(
            question=row["question"], golds=tuple(row["answers"]), greedy_answer=row["greedy_response"]
        )
        for track in TRACKS
        if track in manifest.splits(llm)
        for batch in iter_batches(release, llm, track, _TEXT_COLUMNS)
        for row in batch.to_pylist()
        if row["id"] in wanted
    }

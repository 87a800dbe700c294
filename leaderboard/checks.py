"""What must hold before a submission is shown: folder, card, system file and confidences belong together."""

from collections.abc import Iterator
from pathlib import Path

from honestybench.errors import DataError
from honestybench.scorecard import SCORECARD_NAME, ScoreCard, TrackScore
from honestybench.shards import file_sha256
from honestybench.submission import System
from leaderboard.words import SHOWN

SYSTEM_NAME = "system.yaml"
SCORE_AGAIN = "score it again with `make score`"


def check_described(folder: Path) -> None:
    """Refuse a folder that nobody described: it is not scored either. Raises: DataError."""
    if not (folder / SYSTEM_NAME).is_file():
        raise DataError(
            f"a system without {SYSTEM_NAME}",
            where=str(folder),
            remedy=f"write {SYSTEM_NAME} as docs/submitting.md says and run `make score`, or move the folder away",
        )


def check_entry(folder: Path, card: ScoreCard, info: System) -> None:
    """Refuse a submission whose parts contradict each other; `folder` is `<llm>/<system>`. Raises: DataError."""
    _check_names(folder, card, info)
    for one in card["inputs"]:
        path = folder / one["file"]
        if path.name != one["file"] or not path.is_file():
            raise DataError(
                "a scored file is not in its folder", where=str(folder), value=one["file"], remedy=SCORE_AGAIN
            )
        if file_sha256(path) != one["sha256"]:
            raise DataError("the file was changed after it was scored", where=str(path), remedy=SCORE_AGAIN)
    for fault in _card_faults(card):
        raise DataError(f"the scorecard cannot be shown: {fault}", where=_card(folder), remedy=SCORE_AGAIN)


def _check_names(folder: Path, card: ScoreCard, info: System) -> None:
    llm, slug = folder.parent.name, folder.name
    if card["llm"] != llm:
        remedy = "give the folder the name of the LLM that was scored"
        raise DataError(
            f"the scorecard is of another LLM than its folder {llm}",
            where=_card(folder),
            value=card["llm"],
            remedy=remedy,
        )
    if card["system"] != slug:
        what = f"the scorecard is of another system than its folder {slug}"
        raise DataError(what, where=_card(folder), value=card["system"], remedy=SCORE_AGAIN)
    for key, given, scored in (("llm", info.llm, llm), ("release", info.release, card["release_id"])):
        if given != scored:
            raise DataError(
                f"{key} is not the one that was scored, {scored}",
                where=str(folder / SYSTEM_NAME),
                value=given,
                remedy=f"put the right {key} there, and run `make score`",
            )


def _card_faults(card: ScoreCard) -> Iterator[str]:
    """Find what the shape of a card cannot tell and the pages rely on."""
    for name, track in card["tracks"].items():
        if track["status"] == "scored":
            for fault in _track_faults(track):
                yield f"tracks.{name}.{fault}"


def _track_faults(track: TrackScore) -> Iterator[str]:
    aggregates, curves = track["aggregates"], track["curves"]
    tables = {
        **{f"aggregates.{kind}": aggregates[kind] for kind in ("weighted", "macro", "pooled")},
        **{f"sources.{source}": table["metrics"] for source, table in track["sources"].items()},
        **{f"slices.{key}": part["metrics"] for key, part in track["slices"].items()},
    }
    for where, metrics in tables.items():
        yield from (f"{where} lacks {metric}" for metric in SHOWN if metric not in metrics)
    headlines = {"headline": track["headline"]}
    headlines |= {f"slices.{key}.headline": part["headline"] for key, part in track["slices"].items()}
    for where, headline in headlines.items():
        if not all(_is_share(end) for end in (headline["value"], headline["ci_low"], headline["ci_high"])):
            yield f"{where} is outside 0 to 1"
    if any(each["n"] < 1 for each in curves["reliability"]):
        yield "curves.reliability has a bin without answers"
    if any(min(each["n_correct"], each["n_wrong"]) < 0 for each in curves["histogram"]):
        yield "curves.histogram has a negative count"
    if any(len(point) != 2 for point in curves["risk_coverage"]):
        yield "curves.risk_coverage has a point that is no pair"


def _is_share(value: float | None) -> bool:
    return value is None or 0 <= value <= 1


def _card(folder: Path) -> str:
    return str(folder / SCORECARD_NAME)

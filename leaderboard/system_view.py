"""From one entry to the view of its page."""

from collections.abc import Mapping

from honestybench.metrics import HEADLINE_METRIC
from honestybench.records import TRACKS
from honestybench.scorecard import EceNull, SeedSpread, TrackScore, Value
from leaderboard.board_view import badges, counts_line, headline_name, null_mark
from leaderboard.cells import NONE, Notes, Number, Scale, decimal, number, web_link
from leaderboard.charts import histogram, reliability, risk_coverage
from leaderboard.collect import Board, Entry
from leaderboard.places import Place, frame
from leaderboard.views import (
    Column,
    ErrorText,
    ErrorView,
    Fact,
    LeftOut,
    Link,
    NumberGroup,
    NumberRow,
    NumberTable,
    SystemTrack,
    SystemView,
)
from leaderboard.words import FLAGS, METHOD_CLASSES, SHOWN, TRACK_TITLES, column

ERRORS_SHOWN = 8
_COLUMNS = (Column(heading="Questions"), Column(heading="Correct"), *map(column, SHOWN))


def system_view(board: Board, entry: Entry) -> SystemView:
    """Show one system, with every track."""
    info, card = entry.info, entry.card
    place = Place.system(board.llm, entry.slug)
    scale = Scale.around(track["headline"] for track in card["tracks"].values())
    return SystemView(
        page=frame(place, f"{info.name} · HonestyBench", f"{info.name} on {board.llm}, scored.", "board"),
        name=info.name,
        llm=board.llm,
        board=Link(text=f"All systems on {board.llm}", href=place.to(Place.board(board.llm, "all"))),
        description=info.description,
        badges=badges(entry),
        facts=_facts(entry),
        flags=tuple(Fact(name=flag, value=FLAGS.get(flag, "")) for flag in card["flags"]),
        warnings=tuple(_warning(w["code"], w["line"], w["id"], w["message"]) for w in card["warnings"]),
        inputs=tuple(Fact(name=one["file"], value=one["sha256"]) for one in card["inputs"]),
        tracks=tuple(_track(board, entry, track, scale) for track in TRACKS),
        verify=f"honestybench verify submissions/{board.llm}/{entry.slug}",
        citation=_citation(board.llm, entry),
    )


def _facts(entry: Entry) -> tuple[Fact, ...]:
    info, card = entry.info, entry.card
    release = card["release_id"]
    facts = [
        Fact(name="Method class", value=METHOD_CLASSES.get(info.method_class, info.method_class)),
        Fact(name="Sees", value=info.sees),
        Fact(name="Labels used", value=f"{info.labels_used:,}"),
        Fact(name="Sampled answers per question", value=f"{info.samples_per_question:,}"),
        Fact(name="Extra passes per question", value=f"{info.extra_passes:,}"),
        Fact(name="Selected on", value=info.selected_on),
        Fact(name="Authors", value=", ".join(info.authors)),
        Fact(name="Licence", value=info.license or NONE),
        Fact(name="Date", value=info.date.isoformat()),
        Fact(name="Scorer", value=f"version {card['scorer_version']}"),
        Fact(name="Release", value=release or NONE),
    ]
    for name, address in (("Website", info.url), ("Code", info.code_url), ("Paper", info.paper)):
        if address:
            facts.append(Fact(name=name, value=address, href=web_link(address)))
    return tuple(facts)


def _track(board: Board, entry: Entry, track: str, scale: Scale) -> SystemTrack:
    score = entry.card["tracks"].get(track)
    if score is None or score["status"] != "scored":
        return _absent(track)
    headline = score["headline"]
    errors, missing = _errors(board, entry, score)
    curves = score["curves"]
    return SystemTrack(
        key=track,
        title=TRACK_TITLES[track],
        counts=counts_line(score["n"], score["n_correct"], score["n_unlabelled"]),
        absent=None,
        banner=headline["banner"],
        headline=number(headline, Notes(), scale=scale),
        headline_name=headline_name(headline["kind"]),
        headline_missing=headline["reason"],
        seeds=_seeds((entry.card["seeds"] or {}).get(track)),
        scores=_scores(score, board.source_titles),
        left_out=_left_out(score, board.source_titles),
        slices=_slices(score),
        charts=(
            reliability(f"{track}-reliability", curves["reliability"]),
            risk_coverage(f"{track}-risk", curves["risk_coverage"]),
            histogram(f"{track}-histogram", curves["histogram"]),
        ),
        errors=errors[:ERRORS_SHOWN],
        more_errors=errors[ERRORS_SHOWN:],
        errors_missing=missing,
    )


def _absent(track: str) -> SystemTrack:
    empty = NumberTable(columns=(), groups=(), notes=())
    return SystemTrack(
        key=track,
        title=TRACK_TITLES[track],
        counts="",
        absent="No confidences were submitted for this track.",
        banner=None,
        headline=None,
        headline_name="",
        headline_missing=None,
        seeds=None,
        scores=empty,
        left_out=(),
        slices=empty,
        charts=(),
        errors=(),
        more_errors=(),
        errors_missing=None,
    )


def _scores(score: TrackScore, titles: Mapping[str, str]) -> NumberTable:
    """The means over sources, and every source."""
    notes, aggregates = Notes(), score["aggregates"]
    means = (
        ("weighted", "Mean over sources, by size", aggregates["weighted"]),
        ("macro", "Mean over sources, each once", aggregates["macro"]),
        ("pooled", "All answers together", aggregates["pooled"]),
    )
    left_out = score["left_out"].get(HEADLINE_METRIC, {})
    counted = [table for source, table in score["sources"].items() if source not in left_out]
    overall = []
    for key, name, metrics in means:
        n, n_correct = score["n"], score["n_correct"]
        if key != "pooled":
            n, n_correct = sum(table["n"] for table in counted), sum(table["n_correct"] for table in counted)
        overall.append(
            NumberRow(name=name, numbers=_numbers(n, n_correct, metrics, score["ece_10_null"].get(key), notes))
        )
    sources = tuple(
        NumberRow(
            name=titles.get(source, source),
            numbers=_numbers(table["n"], table["n_correct"], table["metrics"], table["ece_10_null"], notes),
            flags=tuple(flag.replace("_", " ") for flag in table["flags"]),
        )
        for source, table in score["sources"].items()
    )
    groups = (NumberGroup(title="Overall", rows=tuple(overall)), NumberGroup(title="By source", rows=sources))
    return NumberTable(columns=_COLUMNS, groups=groups, notes=notes.all())


def _left_out(score: TrackScore, titles: Mapping[str, str]) -> tuple[LeftOut, ...]:
    """List the sources that stand in no mean, each with its reasons and the metrics that it is missing from."""
    found: dict[tuple[str, str], list[str]] = {}
    for metric in SHOWN:
        for source, reason in score["left_out"].get(metric, {}).items():
            found.setdefault((source, reason), []).append(column(metric).heading)
    return tuple(
        LeftOut(
            source=titles.get(source, source),
            metrics="" if len(metrics) == len(SHOWN) else ", ".join(metrics),
            reason=reason,
        )
        for (source, reason), metrics in found.items()
    )


def _slices(score: TrackScore) -> NumberTable:
    """The slices, but for the sources: those stand in the table of scores."""
    notes = Notes()
    rows = tuple(
        NumberRow(
            name=part["label"],
            numbers=_numbers(part["n"], part["n_correct"], part["metrics"], None, notes),
        )
        for name, part in score["slices"].items()
        if not name.startswith("source:")
    )
    return NumberTable(columns=_COLUMNS, groups=(NumberGroup(title="By slice", rows=rows),), notes=notes.all())


def _numbers(
    n: int, n_correct: int, metrics: Mapping[str, Value], null: EceNull | None, notes: Notes
) -> tuple[Number, ...]:
    counts = (Number(text=f"{n:,}"), Number(text=f"{n_correct:,}"))
    mark = null_mark(null)
    return (
        *counts,
        *(number(metrics[name], notes, below=mark if name == "ece_10" else None) for name in SHOWN),
    )


def _errors(board: Board, entry: Entry, score: TrackScore) -> tuple[tuple[ErrorView, ...], str | None]:
    """Give the confident errors with their texts, and why texts are missing."""
    views = []
    at_hand = board.texts_release is not None and board.texts_release == entry.card["release_id"]
    for error in score["confident_errors"]:
        found = board.texts.get(error["id"]) if at_hand else None
        text = ErrorText(question=found.question, golds=found.golds, answer=found.greedy_answer) if found else None
        views.append(ErrorView(id=error["id"], confidence=decimal(error["confidence"]), text=text))
    missing = None
    if any(view.text is None for view in views):
        missing = "Where only an id stands, the text is in the release that was scored and not in the one at hand."
    return tuple(views), missing


def _seeds(spread: SeedSpread | None) -> str | None:
    """Say how far the seeds lie apart; None for one file."""
    if spread is None:
        return None
    by_seed = (f"{seed}: {NONE if value is None else decimal(value)}" for seed, value in spread["by_seed"].items())
    sd = NONE if spread["sd"] is None else decimal(spread["sd"])
    return f"Headline by seed: {', '.join(by_seed)} (standard deviation {sd})."


def _warning(code: str, line: int | None, example_id: str | None, message: str) -> str:
    where = "".join((f", line {line}" if line is not None else "", f", {example_id}" if example_id else ""))
    return f"{code}{where}: {message}"


def _citation(llm: str, entry: Entry) -> str:
    """Write a BibTeX entry; braces and backslashes of outside text are taken out, for they would end a field."""
    info = entry.info

    def field(text: str) -> str:
        return "".join(letter for letter in text if letter not in "{}\\")

    lines = [
        f"@misc{{honestybench-{llm}-{entry.slug},",
        f"  title        = {{{{{field(info.name)}}}}},",
        f"  author       = {{{field(' and '.join(info.authors))}}},",
        f"  year         = {{{info.date.year}}},",
        f"  note         = {{HonestyBench, answers of {llm}, scorer {entry.card['scorer_version']}, "
        f"release {entry.card['release_id'] or 'unknown'}}},",
    ]
    if (address := web_link(info.paper) or web_link(info.url)) is not None:
        lines.append(f"  howpublished = {{\\url{{{field(address)}}}}},")
    return "\n".join([*lines, "}"])

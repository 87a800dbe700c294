"""From the entries of one LLM to the view of its board."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from honestybench.records import TRACKS
from honestybench.scorecard import EceNull, Headline, ScoreCard, TrackScore, Value
from leaderboard.cells import CHANCE, NONE, Notes, Number, Scale, decimal, number, share, some
from leaderboard.collect import Board, Entry
from leaderboard.places import Place, frame
from leaderboard.views import Absent, Badge, BoardGroup, BoardRow, BoardTrack, BoardView, Column, Lead, Link
from leaderboard.words import (
    FLAGS,
    METHOD_CLASSES,
    NOT_RANKED,
    OF_THE_LABELS,
    SHOWN,
    TRACK_INTROS,
    TRACK_TITLES,
    column,
)

SELECTIONS = {"all": "All questions", "clean": "Clean questions only"}
_METRICS = SHOWN[1:]
COSTS = (
    Column(heading="Labels", meaning="gold-labelled examples used, those for selection included"),
    Column(heading="Samples", meaning="sampled answers per question"),
    Column(heading="Passes", meaning="extra passes of a model per question"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """One entry's numbers on one track and selection of questions."""

    entry: Entry
    headline: Headline
    metrics: Mapping[str, Value]
    ece_null: EceNull | None
    n: int
    n_correct: int
    n_unlabelled: int


def board_view(boards: Sequence[Board], board: Board, selection: str, place: Place) -> BoardView:
    """Show one LLM's board at a place, for a selection of questions: a key of SELECTIONS."""
    title = f"{board.llm} · HonestyBench"
    cards = [entry.card for entry in board.entries]
    return BoardView(
        page=frame(place, title, f"How well confidence methods know when {board.llm} is right.", "board"),
        llm=board.llm,
        scored=_scored_by(cards),
        llms=tuple(
            Link(text=other.llm, href=place.to(Place.board(other.llm, selection)), current=other is board)
            for other in boards
        ),
        selections=tuple(
            Link(text=name, href=place.to(Place.board(board.llm, key)), current=key == selection)
            for key, name in SELECTIONS.items()
        ),
        selection=selection,
        tracks=tuple(_track(board, track, selection, place) for track in TRACKS),
    )


def badges(entry: Entry) -> tuple[Badge, ...]:
    """Say how far a row can be trusted: whether it is ranked, whether its code is public, its seeds, its flags."""
    found = []
    if not entry.info.is_ranked:
        meaning = "it knows the gold answers of the questions it is scored on: a ceiling, not a method"
        found.append(Badge(text=NOT_RANKED, meaning=meaning, role="bad"))
    if entry.info.code_url:
        found.append(Badge(text="code", meaning="its code is public, so anybody can run it again", role="good"))
    else:
        found.append(Badge(text="self-reported", meaning="nobody else has run it", role="plain"))
    if len(entry.card["inputs"]) > 1:
        files = len(entry.card["inputs"])
        found.append(Badge(text=f"{files} seeds", meaning="every number is the mean over the seeds", role="plain"))
    flags = (flag for flag in entry.card["flags"] if flag not in OF_THE_LABELS)
    found += [Badge(text=flag.replace("_", " "), meaning=FLAGS.get(flag, "flag"), role="bad") for flag in flags]
    return tuple(found)


def headline_name(kind: str) -> str:
    """Name the headline by its kind."""
    return "AUROC, pooled within sources" if kind == "pooled" else "AUROC, mean over sources"


def counts_line(n: int, n_correct: int, n_unlabelled: int) -> str:
    """Say how many questions stand behind a table and how many of them were answered correctly."""
    dropped = f"; {n_unlabelled:,} without a label left out" if n_unlabelled else ""
    return f"{n:,} questions, {n_correct:,} answered correctly ({share(n_correct, n)}){dropped}"


def _track(board: Board, track: str, selection: str, place: Place) -> BoardTrack:
    found = [scored for entry in board.entries if (scored := _scored(entry, track, selection)) is not None]
    found.sort(key=_order)
    ranked = [scored for scored in found if scored.entry.info.is_ranked]
    submitted = {scored.entry.slug for scored in found}
    scale = Scale.around(scored.headline for scored in found)
    notes = Notes()
    hrefs = {entry.slug: place.to(Place.system(board.llm, entry.slug)) for entry in board.entries}
    ranks = _ranks([scored.headline["value"] for scored in ranked]) + [NONE] * (len(found) - len(ranked))
    rows = [
        _row(scored, rank, scale, notes, hrefs[scored.entry.slug]) for scored, rank in zip(found, ranks, strict=True)
    ]
    first = found[0] if found else None
    return BoardTrack(
        key=track,
        title=TRACK_TITLES[track],
        intro=TRACK_INTROS[track],
        counts=counts_line(first.n, first.n_correct, first.n_unlabelled) if first else "",
        banner=next((banner for scored in found if (banner := scored.headline["banner"])), None),
        lead=_lead(ranked, hrefs) if ranked and ranked[0].headline["value"] is not None else None,
        headline=Column(
            heading=headline_name(first.headline["kind"] if first else "weighted"),
            arrow=column("auroc").arrow,
            meaning=column("auroc").meaning,
        ),
        ticks=scale.ticks(),
        metrics=tuple(column(name) for name in _METRICS),
        costs=COSTS,
        groups=_groups(found, rows),
        absent=tuple(_absent(entry, hrefs) for entry in board.entries if entry.slug not in submitted),
        notes=notes.all(),
    )


def _scored(entry: Entry, track: str, selection: str) -> _Scored | None:
    score = entry.card["tracks"].get(track)
    if score is None or score["status"] != "scored":
        return None
    if selection == "all":
        kind = score["headline"]["kind"]
        return _Scored(
            entry=entry,
            headline=score["headline"],
            metrics=score["aggregates"][kind],
            ece_null=score["ece_10_null"].get(kind),
            n=score["n"],
            n_correct=score["n_correct"],
            n_unlabelled=score["n_unlabelled"],
        )
    return _scored_slice(entry, score, selection)


def _scored_slice(entry: Entry, score: TrackScore, selection: str) -> _Scored | None:
    part = score["slices"].get(selection)
    if part is None:
        return None
    return _Scored(
        entry=entry,
        headline=part["headline"],
        metrics=part["metrics"],
        ece_null=None,
        n=part["n"],
        n_correct=part["n_correct"],
        n_unlabelled=0,
    )


def _row(scored: _Scored, rank: str, scale: Scale, notes: Notes, href: str) -> BoardRow:
    info, card = scored.entry.info, scored.entry.card
    return BoardRow(
        rank=rank,
        name=info.name,
        href=href,
        best=rank in ("1", "=1") and (scored.headline["value"] or 0) > CHANCE,
        badges=badges(scored.entry),
        headline=number(scored.headline, notes, scale=scale),
        metrics=tuple(_plain(scored, name, notes) for name in _METRICS),
        costs=tuple(f"{cost:,}" for cost in (info.labels_used, info.samples_per_question, info.extra_passes)),
        sees=info.sees,
        date=info.date.isoformat(),
        scored=_scored_by([card]).replace("release ", ""),
    )


def _plain(scored: _Scored, name: str, notes: Notes) -> Number:
    """A metric without its interval, which the system's own page has; ECE with its null value."""
    entry: Value = {**scored.metrics[name], "ci_low": None, "ci_high": None}
    return number(entry, notes, below=null_mark(scored.ece_null) if name == "ece_10" else None)


def _lead(ranked: Sequence[_Scored], hrefs: Mapping[str, str]) -> Lead:
    top = ranked[0]
    value, info = number(top.headline, Notes()), top.entry.info
    costs = (
        some(info.labels_used, "label", "labels"),
        some(info.samples_per_question, "sampled answer", "sampled answers"),
        some(info.extra_passes, "extra pass", "extra passes"),
    )
    return Lead(
        name=info.name,
        href=hrefs[top.entry.slug],
        value=value.text,
        interval=value.below,
        cost=f"{costs[0]}; per question {costs[1]} and {costs[2]}",
        caution=_caution(top.headline, [scored.headline["value"] for scored in ranked[1:]]),
    )


def _caution(top: Headline, others: Sequence[float | None]) -> str | None:
    """Say what keeps the top row from being a clear winner."""
    low = top["ci_low"]
    if top["value"] is not None and top["value"] <= CHANCE:
        return "No row is above 0.5, which is chance."
    if low is None:
        return "Its interval is not known."
    if low <= CHANCE:
        return "Its interval reaches down to 0.5, which is chance."
    inside = sum(value is not None and value >= low for value in others)
    return (
        f"{some(inside, 'other row has its value', 'other rows have their values')} in this interval."
        if inside
        else None
    )


def _groups(found: Sequence[_Scored], rows: Sequence[BoardRow]) -> tuple[BoardGroup, ...]:
    """Group rows by method class, the group of the best row first; rows that are not ranked come last, apart."""
    grouped: dict[str, list[BoardRow]] = {}
    for scored, row in zip(found, rows, strict=True):
        info = scored.entry.info
        title = METHOD_CLASSES.get(info.method_class, info.method_class) if info.is_ranked else NOT_RANKED.capitalize()
        grouped.setdefault(title, []).append(row)
    return tuple(BoardGroup(title=title, rows=tuple(group)) for title, group in grouped.items())


def _absent(entry: Entry, hrefs: Mapping[str, str]) -> Absent:
    return Absent(
        name=entry.info.name,
        href=hrefs[entry.slug],
        reason="no confidences submitted for this track",
    )


def _ranks(values: Sequence[float | None]) -> list[str]:
    """Label sorted values 1, 2, … ; equal ones share a label with "=" before it, missing ones have none."""
    labels = []
    for value in values:
        if value is None:
            labels.append(NONE)
        else:
            tied = "=" if values.count(value) > 1 else ""
            labels.append(f"{tied}{values.index(value) + 1}")
    return labels


def null_mark(null: EceNull | None) -> str | None:
    """Say which ECE a calibrated system could get: its 95 % point."""
    return f"null ≤ {decimal(null['p95'])}" if null and null["p95"] is not None else None


def _order(scored: _Scored) -> tuple[bool, float, str]:
    """Sort ranked rows first, then by headline, a missing one last, then by name."""
    value = scored.headline["value"]
    return (not scored.entry.info.is_ranked, 1.0 if value is None else -value, scored.entry.slug)


def _scored_by(cards: Iterable[ScoreCard]) -> str:
    """Name scorer version and release of cards: "scorer 1 · release 01234567"."""
    pairs = sorted({(card["scorer_version"], card["release_id"] or "") for card in cards})
    return "; ".join(f"scorer {scorer} · release {release[:8] or 'unknown'}" for scorer, release in pairs)

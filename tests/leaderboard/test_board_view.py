"""What a board says of its rows: order, ties, groups, gaps, cautions, and the view of clean questions."""

import copy
from dataclasses import replace
from types import ModuleType

import pytest

from honestybench.submission.system import ORACLE_FAMILY
from leaderboard.board_view import board_view
from leaderboard.collect import Board, Entry
from leaderboard.places import INDEX
from leaderboard.system_view import system_view
from leaderboard.views import BoardTrack
from leaderboard.words import NOT_RANKED


def value(number, low=None, high=None, reason=None):
    return {"value": number, "ci_low": low, "ci_high": high, "n": 60, "reason": reason}


@pytest.fixture
def entry(boards: tuple[Board, ...]) -> Entry:
    return boards[0].entries[0]


def with_headline(entry: Entry, slug: str, number: dict, method_class: str = "training_free", banner=None) -> Entry:
    card = copy.deepcopy(entry.card)
    for part in (card["tracks"]["ood"], card["tracks"]["ood"]["slices"]["all"]):
        part["headline"] = {"kind": "pooled", "metric": "auroc", **number, "banner": banner}
    return replace(entry, slug=slug, card=card, info=replace(entry.info, name=slug, method_class=method_class))


def without_track(entry: Entry, slug: str) -> Entry:
    card = copy.deepcopy(entry.card)
    del card["tracks"]["ood"]
    return replace(entry, slug=slug, card=card)


def ood(*entries: Entry, selection: str = "all") -> BoardTrack:
    board = Board(llm="llm", entries=entries, texts_release=None, texts={}, source_titles={})
    (track,) = [t for t in board_view([board], board, selection, INDEX).tracks if t.key == "ood"]
    return track


def rows(track: BoardTrack):
    return [row for group in track.groups for row in group.rows]


def test_best_first_ties_share_a_label_and_a_gap_has_none(entry: Entry) -> None:
    track = ood(
        with_headline(entry, "gap", value(None, reason="all answers wrong")),
        with_headline(entry, "low", value(0.4)),
        with_headline(entry, "tied-b", value(0.7)),
        with_headline(entry, "tied-a", value(0.7)),
    )
    assert [(row.name, row.rank, row.best) for row in rows(track)] == [
        ("tied-a", "=1", True),
        ("tied-b", "=1", True),
        ("low", "3", False),
        ("gap", "–", False),
    ]
    gap = rows(track)[-1].headline
    assert (gap.text, gap.bar) == ("–", None)
    assert [note.reason for note in track.notes if note.mark == gap.note] == ["all answers wrong"]


def test_links_lead_to_the_pages_of_the_board(entry: Entry) -> None:
    astray = replace(entry, info=replace(entry.info, llm="another"))
    track = ood(with_headline(astray, "a", value(0.6)), without_track(astray, "b"))
    assert track.lead is not None
    assert [row.href for row in rows(track)] == [track.lead.href] == ["system/llm/a.html"]
    assert [absent.href for absent in track.absent] == ["system/llm/b.html"]


def test_groups_are_method_classes_the_best_rows_first(entry: Entry) -> None:
    track = ood(
        with_headline(entry, "a", value(0.6), "calibration"),
        with_headline(entry, "b", value(0.9), "elicitation"),
        with_headline(entry, "c", value(0.8), "calibration"),
    )
    assert [(group.title, [row.rank for row in group.rows]) for group in track.groups] == [
        ("Elicitation", ["1"]),
        ("Calibration", ["2", "3"]),
    ]


@pytest.mark.parametrize(
    ("top", "caution"),
    [
        (value(0.8, 0.75, 0.85), None),
        (value(0.8, 0.7, 0.9), "1 other row has its value in this interval."),
        (value(0.8, 0.6, 0.9), "2 other rows have their values in this interval."),
        (value(0.8, 0.45, 0.95), "Its interval reaches down to 0.5, which is chance."),
        (value(0.8), "Its interval is not known."),
        (value(0.5, 0.4, 0.6), "No row is above 0.5, which is chance."),
    ],
)
def test_the_lead_says_what_keeps_it_from_being_clear(top: dict, caution: str | None, entry: Entry) -> None:
    others = [with_headline(entry, "b", value(0.72)), with_headline(entry, "c", value(0.65))]
    if top["value"] == 0.5:
        others = []
    lead = ood(with_headline(entry, "a", top), *others).lead
    assert lead is not None
    assert (lead.name, lead.caution) == ("a", caution)


def test_a_row_at_chance_is_not_marked_as_the_best(entry: Entry) -> None:
    (row,) = rows(ood(with_headline(entry, "a", value(0.5))))
    assert (row.rank, row.best) == ("1", False)


def oracle(entry: Entry, slug: str, number: dict) -> Entry:
    entry = with_headline(entry, slug, number, "other")
    return replace(entry, info=replace(entry.info, family=ORACLE_FAMILY))


def test_what_reads_evaluation_labels_is_shown_last_and_never_ranked(entry: Entry) -> None:
    """Neither its place nor its value counts: not for the lead, nor for a tie, nor for what lies in an interval."""
    ceiling = oracle(entry, "ceiling", value(0.7, 0.6, 0.8))
    others = [with_headline(entry, "b", value(0.7, 0.65, 0.75), "other"), with_headline(entry, "c", value(0.6))]
    track = ood(ceiling, *others)
    assert [(group.title, [(row.name, row.rank, row.best) for row in group.rows]) for group in track.groups] == [
        ("Other", [("b", "1", True)]),
        ("Training-free", [("c", "2", False)]),
        ("Reads evaluation labels, not ranked", [("ceiling", "–", False)]),
    ]
    assert track.lead is not None
    assert (track.lead.name, track.lead.caution) == ("b", None)
    marks = {row.name: [badge.text for badge in row.badges if badge.text == NOT_RANKED] for row in rows(track)}
    assert marks == {"b": [], "c": [], "ceiling": [NOT_RANKED]}
    alone = ood(ceiling)
    assert (alone.lead, [row.rank for row in rows(alone)]) == (None, ["–"])


def test_seeds_are_told_apart(entry: Entry) -> None:
    spread = {"by_seed": {"0": 0.7, "1": None}, "minimum": 0.7, "maximum": 0.7, "sd": None}
    entry = replace(entry, card={**entry.card, "seeds": {"ood": spread}})
    board = Board(llm="llm", entries=(entry,), texts_release=None, texts={}, source_titles={})
    (track,) = [track for track in system_view(board, entry).tracks if track.key == "ood"]
    assert track.seeds == "Headline by seed: 0: 0.700, 1: – (standard deviation –)."


def test_pooled_headline_is_named_and_has_its_banner(entry: Entry) -> None:
    track = ood(with_headline(entry, "a", value(0.6), banner="only 12 right answers"))
    assert (track.headline.heading, track.banner) == ("AUROC, pooled within sources", "only 12 right answers")


def test_interval_is_drawn_to_scale(entry: Entry) -> None:
    bar = rows(ood(with_headline(entry, "a", value(0.7, 0.55, 0.82))))[0].headline.bar
    assert bar is not None
    # The axis runs from 0.4 to 1: 1 + 98 (v - 0.4) / 0.6 per cent.
    assert (bar.low, bar.value, bar.high, bar.chance) == (25.5, 50.0, 69.6, 17.33)


def test_a_system_without_the_track_is_named_below(entry: Entry, made_up: ModuleType) -> None:
    card = copy.deepcopy(entry.card)
    card["tracks"]["ood"] = made_up.not_submitted()
    track = ood(with_headline(entry, "a", value(0.7)), replace(entry, slug="absent", card=card))
    assert [row.name for row in rows(track)] == ["a"]
    assert [absent.reason for absent in track.absent] == ["no confidences submitted for this track"]


def test_nobody_on_the_track(entry: Entry, made_up: ModuleType) -> None:
    card = copy.deepcopy(entry.card)
    card["tracks"]["ood"] = made_up.not_submitted()
    track = ood(replace(entry, card=card))
    assert (track.groups, track.lead, track.counts) == ((), None, "")


def test_clean_view_ranks_by_the_clean_slice(entry: Entry) -> None:
    first, second = with_headline(entry, "a", value(0.9)), with_headline(entry, "b", value(0.8))
    for one, clean in ((first, 0.5), (second, 0.6)):
        one.card["tracks"]["ood"]["slices"]["clean"]["headline"]["value"] = clean
    assert [row.name for row in rows(ood(first, second))] == ["a", "b"]
    assert [row.name for row in rows(ood(first, second, selection="clean"))] == ["b", "a"]


def test_flags_of_the_labels_are_left_to_the_banner(entry: Entry) -> None:
    card = {**entry.card, "flags": ["few", "one_class", "too_good"]}
    (row,) = rows(ood(with_headline(replace(entry, card=card), "a", value(0.9))))
    assert [badge.text for badge in row.badges if badge.role == "bad"] == ["too good"]

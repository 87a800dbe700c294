import json
from pathlib import Path

import pytest

from honestybench.errors import DataError, StorageError
from honestybench.scorecard import (
    SCORER_VERSION,
    Comparison,
    ScoreCard,
    read_comparison,
    read_scorecard,
    rounded,
    write_comparison,
    write_scorecard,
)


def card(**changes: object) -> ScoreCard:
    plain = ScoreCard(
        scorer_version=SCORER_VERSION,
        llm="made-up-llm",
        system="mine",
        release_id=None,
        inputs=[],
        flags=["few"],
        flags_not_computed=[],
        warnings=[],
        tracks={},
        seeds=None,
    )
    return ScoreCard(**{**plain, **changes})  # type: ignore[typeddict-item]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "scorecard.json"
    write_scorecard(path, card())
    assert read_scorecard(path) == card()
    assert [each.name for each in tmp_path.iterdir()] == ["scorecard.json"]


def test_a_comparison_is_written_and_read(tmp_path: Path) -> None:
    comparison = Comparison(scorer_version=SCORER_VERSION, llm="made-up-llm", release_id=None, tracks={})
    write_comparison(tmp_path / "comparison.json", comparison)
    assert read_comparison(tmp_path / "comparison.json") == comparison


def test_the_bytes_are_canonical(tmp_path: Path) -> None:
    for name, given in (("a", card()), ("b", ScoreCard(**dict(reversed(card().items()))))):  # type: ignore[typeddict-item]
        write_scorecard(tmp_path / name, given)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (
        (tmp_path / "a")
        .read_text(encoding="utf-8")
        .startswith('{"flags":["few"],"flags_not_computed":[],"inputs":[],"llm":"made-up-llm"')
    )


def test_numbers_have_twelve_digits() -> None:
    given = {"a": [1 / 3, 2 / 3 * 1e-7], "b": (-0.0, 1, True, None, "x")}
    assert json.dumps(rounded(given)) == ('{"a": [0.333333333333, 6.66666666667e-08], "b": [0.0, 1, true, null, "x"]}')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("[]", "no ScoreCard"),
        ('{"scorer_version": "1"}', "file.llm is missing"),
        (json.dumps(card(inputs=7)), "file.inputs must be a list"),
        (json.dumps(card(release_id=5)), "file.release_id must be str or null, not 5"),
        (json.dumps(card(tracks=[])), "file.tracks must be an object"),
        (json.dumps(card(tracks={"ood": {"status": "scored"}})), r"file.tracks.ood.n is missing; .*and [0-9]+ more"),
        (json.dumps(card(seeds={"ood": []})), "file.seeds.ood must be an object"),
        (json.dumps(card(flags=[float("nan")])), "NaN is not JSON"),
        (json.dumps(card(flags=[-float("inf")])), "-Infinity is not JSON"),
        (json.dumps(card()).replace('["few"]', "[1e999]"), "cannot be read"),
        (json.dumps(card(llm="\ud800")), "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        (json.dumps({**card(), "scorer_version": "0"}), "another scorer"),
    ],
)
def test_what_is_no_card_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "scorecard.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=words) as caught:
        read_scorecard(tmp_path / "scorecard.json")
    assert "make score" in str(caught.value)


def test_a_missing_card_is_told_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="missing") as caught:
        read_scorecard(tmp_path / "scorecard.json")
    assert "make score" in str(caught.value)


def test_a_refused_write_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StorageError):
        write_scorecard(tmp_path / "file" / "scorecard.json", card())

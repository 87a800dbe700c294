"""What the site refuses to show, each time with the place and the remedy."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from honestybench.errors import DataError, UsageError
from leaderboard.collect import collect

NOWHERE = Path("/nonexistent")


@pytest.fixture
def folder(made_up: ModuleType, tmp_path: Path) -> Path:
    """One submission, in tmp_path/made-up-llm/prob."""
    return made_up.write_one(tmp_path, "prob", made_up.card("prob", per_source=20), made_up.system_yaml("prob"))


def test_boards_are_sorted_and_hold_their_systems(made_up: ModuleType, folder: Path, tmp_path: Path) -> None:
    keys = made_up.system_yaml("prob", llm="a-llm")
    made_up.write_one(tmp_path, "prob", made_up.card("prob", llm="a-llm", per_source=20), keys)
    (tmp_path / "README.md").write_text("a file beside the folders")
    boards = collect(tmp_path, NOWHERE)
    assert [(board.llm, [entry.slug for entry in board.entries]) for board in boards] == [
        ("a-llm", ["prob"]),
        ("made-up-llm", ["prob"]),
    ]
    assert boards[0].texts_release is None


@pytest.mark.parametrize("name", ["Prob", "pr ob", "<b>", "..x", "é"])
def test_odd_folder_names_are_refused(name: str, folder: Path, tmp_path: Path) -> None:
    folder.rename(folder.with_name(name)) if not name.startswith(".") else folder.rename(folder.with_name("_" + name))
    with pytest.raises(DataError, match="Remedy: rename it"):
        collect(tmp_path, NOWHERE)


def test_a_system_that_was_not_scored_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "scorecard.json").unlink()
    with pytest.raises(DataError, match=r"scorecard.json: the file is missing.*make score"):
        collect(tmp_path, NOWHERE)


def test_a_card_of_another_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    card = json.loads((folder / "scorecard.json").read_text())
    (folder / "scorecard.json").write_text(json.dumps({**card, "system": "n-prob"}))
    with pytest.raises(DataError, match=r"is not of this folder, made-up-llm/prob \(got 'made-up-llm/n-prob'\)"):
        collect(tmp_path, NOWHERE)


def test_no_submission(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError, match="no submissions here"):
            collect(folder, NOWHERE)


def test_texts_come_from_the_scored_release_only(
    made_up: ModuleType, small_release: ModuleType, tmp_path: Path
) -> None:
    release = tmp_path / "release"
    manifest = small_release.write(release)
    record = next(one for one in small_release.records() if one.example.split == "ood")
    for name, release_id in (("same", manifest.release_id), ("other", "0" * 64)):
        card = made_up.card("prob", small_release.LLM, release_id, per_source=20, ids=[record.example.id])
        keys = made_up.system_yaml("prob", small_release.LLM, release_id)
        made_up.write_one(tmp_path / name, "prob", card, keys)
    (same,), (other,) = (collect(tmp_path / name, release) for name in ("same", "other"))
    assert {key: (text.question, text.golds, text.greedy_answer) for key, text in same.texts.items()} == {
        record.example.id: (record.example.question, record.example.answers, record.greedy.text)
    }
    assert (other.texts, other.texts_release) == ({}, None)

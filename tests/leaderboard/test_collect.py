"""What the site refuses to show, each time with the place and the remedy."""

import json
import re
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


def change(path: Path, *keys: str | int, to: object) -> None:
    """Put a value somewhere into a JSON file; NaN passes, as it does in a file written by another hand."""
    value = json.loads(path.read_text())
    inner = value
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = to
    path.write_text(json.dumps(value))


def refusal(submissions: Path) -> str:
    with pytest.raises(DataError) as caught:
        collect(submissions, NOWHERE)
    return str(caught.value)


def test_a_system_that_was_not_scored_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "scorecard.json").unlink()
    assert re.search(r"scorecard.json: the file is missing.*make score", refusal(tmp_path))


def test_a_system_that_nobody_described_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "system.yaml").unlink()
    message = refusal(tmp_path)
    assert message.startswith(
        f"{folder}: a system without system.yaml. Remedy: write system.yaml as docs/submitting.md"
    )


@pytest.mark.parametrize(
    ("keys", "to", "fault"),
    [
        (["tracks", "in_domain"], {"status": "scored"}, "file.tracks.in_domain.n is missing"),
        (["tracks"], [], "file.tracks must be an object"),
        (["tracks", "ood", "headline", "value"], "x", "file.tracks.ood.headline.value must be float or null, not 'x'"),
        (["tracks", "ood", "headline", "value"], float("nan"), "NaN is not JSON"),
        (["tracks", "ood", "n"], float("inf"), "Infinity is not JSON"),
        (["tracks", "ood", "headline", "kind"], "median", "must be 'weighted' or 'pooled', not 'median'"),
        (["tracks", "ood", "headline", "ci_low"], -1e308, "tracks.ood.headline is outside 0 to 1"),
        (["tracks", "ood", "slices", "all", "headline", "value"], 2, "slices.all.headline is outside 0 to 1"),
        (["tracks", "ood", "aggregates", "weighted"], {}, "tracks.ood.aggregates.weighted lacks auroc"),
        (["tracks", "ood", "sources", "cwq", "metrics"], {}, "tracks.ood.sources.cwq lacks auroc"),
        (["tracks", "ood", "slices", "clean", "metrics"], {}, "tracks.ood.slices.clean lacks auroc"),
        (["tracks", "ood", "curves", "reliability", 0, "n"], 0, "has a bin without answers"),
        (["tracks", "ood", "curves", "histogram", 0, "n_wrong"], -1, "has a negative count"),
        (["tracks", "ood", "curves", "risk_coverage", 0], [0.5], "has a point that is no pair"),
        (["inputs"], 7, "file.inputs must be a list"),
        (["release_id"], 5, "file.release_id must be str or null, not 5"),
    ],
)
def test_a_damaged_card_is_refused(keys: list[str | int], to: object, fault: str, folder: Path, tmp_path: Path) -> None:
    change(folder / "scorecard.json", *keys, to=to)
    message = refusal(tmp_path)
    assert message.startswith(f"{folder}/scorecard.json: ")
    assert fault in message
    assert "make score" in message


def test_a_card_of_another_system_is_refused(folder: Path, tmp_path: Path) -> None:
    change(folder / "scorecard.json", "system", to="n-prob")
    assert "is of another system than its folder prob (got 'n-prob'). Remedy: score it again" in refusal(tmp_path)


def test_the_folder_of_an_llm_has_its_name(folder: Path, tmp_path: Path) -> None:
    folder.parent.rename(tmp_path / "another")
    message = refusal(tmp_path)
    assert "is of another LLM than its folder another (got 'made-up-llm'). Remedy: give the folder the name" in message


@pytest.mark.parametrize(("key", "to"), [("llm", "another-llm"), ("release", "0" * 64)])
def test_a_system_file_of_another_llm_or_release_is_refused(key: str, to: str, folder: Path, tmp_path: Path) -> None:
    change(folder / "system.yaml", key, to=to)
    message = refusal(tmp_path)
    assert message.startswith(f"{folder}/system.yaml: {key} is not the one that was scored, ")
    assert re.search(f"got '{to}'.*Remedy: .*make score", message)


def test_confidences_changed_after_scoring_are_refused(folder: Path, tmp_path: Path) -> None:
    with (folder / "confidences.jsonl").open("a") as file:
        file.write("\n")
    message = f"{folder}/confidences.jsonl: the file was changed after it was scored. Remedy: score it again"
    assert refusal(tmp_path).startswith(message)


@pytest.mark.parametrize("name", ["confidences-seed1.jsonl", "../prob/confidences.jsonl", "..", "", "a\0b"])
def test_a_scored_file_stands_in_its_folder(name: str, folder: Path, tmp_path: Path) -> None:
    change(folder / "scorecard.json", "inputs", 0, "file", to=name)
    assert re.search("a scored file is not in its folder .*make score", refusal(tmp_path))


@pytest.mark.parametrize("parent", [".", "made-up-llm"])
def test_links_to_folders_are_refused(parent: str, folder: Path, tmp_path: Path) -> None:
    target = folder.parent if parent == "." else folder
    link = target.with_name("z-link")
    link.symlink_to(target, target_is_directory=True)
    assert refusal(tmp_path).startswith(f"{link}: a symbolic link stands where a folder must be. Remedy: ")


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

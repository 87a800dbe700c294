import json
import os
from pathlib import Path
from types import ModuleType

import pytest

from honestybench.baselines import BASELINES
from honestybench.cli.main import main

LABELS = [(f"q{row}", "mine" if row < 30 else "yours", int(row % 3 == 0)) for row in range(40)]


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.fixture
def own(tmp_path: Path) -> tuple[Path, Path]:
    """A toy file of confidences and one of labels."""
    labels, file = tmp_path / "labels.jsonl", tmp_path / "confidences.jsonl"
    labels.write_text("".join(json.dumps({"id": q, "source": s, "correct": y}) + "\n" for q, s, y in LABELS))
    # 10 right answers of "mine" at .6 or .3, 20 wrong at .6 or .3: every other row.
    rows = [{"id": q, "confidence": 0.6 if row % 2 else 0.3} for row, (q, _, _) in enumerate(LABELS)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file, labels


@pytest.fixture
def release(small_release: ModuleType, tmp_path: Path) -> Path:
    small_release.write(tmp_path / "release")
    return tmp_path / "release"


def test_a_toy_label_file_is_scored(own: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "score", own[0], "--labels", own[1])
    assert (code, err) == (0, "")
    assert "labels: 14 of 40 right" in out
    # Source mine: 5 of 10 right and 10 of 20 wrong at .6: AUROC 1/2. Brier: (.16 + .49) / 2 right, (.36 + .09) / 2
    # wrong: (10 * .325 + 20 * .225) / 30 = .258.
    (row,) = [line.split() for line in out.splitlines() if line.split()[:1] == ["mine"]]
    assert row[:3] == ["mine", "30", "0.500"] and "0.258" in row
    assert "headline (weighted AUROC): 0.500" in out


def test_json_is_the_score_card(own: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "score", own[0], "--labels", own[1], "--json")
    card = json.loads(out)
    assert code == 0
    assert (card["llm"], card["system"], list(card["tracks"])) == (None, None, ["labels"])
    assert card["tracks"]["labels"]["sources"]["yours"]["n_correct"] == 4


def test_a_faulty_file_is_rejected_line_by_line(own: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    own[0].write_text('{"id": "q0", "confidence": 80}\n{"id": "q1"}\n')
    code, out, err = run(capsys, "score", own[0], "--labels", own[1])
    assert (code, out) == (1, "")
    lines = err.splitlines()
    assert any("line 1: OUT_OF_RANGE" in line for line in lines)
    assert any("line 2: MISSING_CONFIDENCE" in line for line in lines)
    assert lines[-1].startswith("error: ") and "rejected" in lines[-1]


def test_labels_and_release_exclude_each_other(own: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "score", own[0], "--labels", own[1], "--release", own[0].parent)
    assert code == 2 and "--labels goes without --release" in err


def test_from_a_release_to_verified_baselines(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llm = release.parent / "submissions" / "made-up-llm"
    code, out, _ = run(capsys, "score-release", release, "--out", llm)
    assert code == 0 and "evaluation questions" in out
    assert run(capsys, "baselines", release, "--out", llm)[0] == 0
    assert run(capsys, "score-all", llm.parent) == (0, f"{llm}: {len(BASELINES)} systems scored\n", "")
    compared = json.loads((llm / "comparison.json").read_bytes())["tracks"]
    assert all(track["systems"] == sorted(BASELINES.keys() - {"oracle"}) for track in compared.values())
    for name in ("prob", "constant"):
        assert run(capsys, "verify", llm / name) == (0, f"{llm / name}: scored again: no difference\n", "")
    code, out, _ = run(capsys, "score", llm / "prob" / "confidences.jsonl", "--release", release)
    assert code == 0 and "headline (pooled AUROC)" in out


def test_scoring_again_writes_the_same_bytes(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llm = release.parent / "submissions" / "made-up-llm"
    run(capsys, "score-release", release, "--out", llm)
    run(capsys, "baselines", release, "--out", llm)
    found = []
    for _ in range(2):
        run(capsys, "score-all", llm.parent)
        found.append({path: path.read_bytes() for path in llm.rglob("*.json")})
    assert found[0] == found[1] and len(found[0]) == len(BASELINES) + 2  # and release.json, comparison.json


def test_verify_lists_what_differs(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llm = release.parent / "submissions" / "made-up-llm"
    run(capsys, "score-release", release, "--out", llm)
    run(capsys, "baselines", release, "--out", llm)
    code, _, err = run(capsys, "verify", llm / "prob")
    assert code == 1 and "make score" in err
    run(capsys, "score-all", llm.parent)
    card = llm / "prob" / "scorecard.json"
    card.write_text(card.read_text(encoding="utf-8").replace('"system":"prob"', '"system":"best"'), encoding="utf-8")
    code, out, err = run(capsys, "verify", llm / "prob")
    assert (code, out) == (1, "")
    assert err.splitlines() == ["system: 'best' in the card, 'prob' now", f"error: {llm / 'prob'}: 1 fault"]


def test_a_folder_without_labels_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "score-all", tmp_path)
    assert code == 2 and "score-release" in err and os.linesep not in err.strip()


def test_labels_go_into_the_folder_of_their_llm(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = release.parent / "other-name"
    code, _, err = run(capsys, "score-release", release, "--out", out)
    assert code == 2 and f"Remedy: give --out {release.parent / 'made-up-llm'}" in err and not out.exists()


def test_baselines_stay_out_of_the_folder_of_another_llm(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llm = release.parent / "made-up-llm"
    run(capsys, "score-release", release, "--out", llm)
    described = llm / "release.json"
    described.write_text(described.read_text(encoding="utf-8").replace('"made-up-llm"', '"other"'), encoding="utf-8")
    code, _, err = run(capsys, "baselines", release, "--out", llm)
    assert code == 1 and "labels of another LLM" in err and not (llm / "prob").exists()


def test_score_all_lists_the_faults_of_all_systems(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llm = release.parent / "submissions" / "made-up-llm"
    run(capsys, "score-release", release, "--out", llm)
    run(capsys, "baselines", release, "--out", llm)
    (llm / "empty").mkdir()
    (llm / "prob" / "confidences.jsonl").write_text("{\n", encoding="utf-8")
    code, out, err = run(capsys, "score-all", llm.parent)
    first, second, last = err.splitlines()
    assert (code, out) == (1, "")
    assert first.startswith(f"{llm / 'empty'}: no system.yaml here.")
    assert second.startswith(f"{llm / 'prob' / 'confidences.jsonl'}: line 1: BAD_JSON: ")
    assert last == f"error: {llm.parent}: 2 faults; nothing was written of the LLMs with faults"
    assert not list(llm.rglob("scorecard.json"))


@pytest.mark.parametrize("command", ["score", "validate"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_pipe_is_refused_and_not_waited_for(
    command: str, which: int, own: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    own[which].unlink()
    os.mkfifo(own[which])
    code, out, err = run(capsys, command, own[0], "--labels", own[1])
    what = "a pipe or a device cannot be read here. Remedy: save it as a file and name that"
    assert (code, out, err) == (1, "", f"error: {own[which]}: {what}\n")


def test_validate_and_score_know_the_same_ids(own: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": q, "source": s, "correct": y, "greedy_correctness": y, "split": "ood"} for q, s, y in LABELS]
    own[1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(capsys, "validate", own[0], "--labels", own[1])[:2] == (0, f"{own[0]}: accepted; labels: 40 of 40\n")
    assert run(capsys, "score", own[0], "--labels", own[1])[0] == 0


def test_numbers_are_whole_in_a_narrow_terminal(
    own: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for columns in ("30", "79", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        out = run(capsys, "score", own[0], "--labels", own[1])[1]
        found.append([line.split() for line in out.splitlines() if line.split()[:1] in (["mine"], ["yours"])])
        assert "…" not in out
    assert found[0] == found[1] == found[2] and len(found[0]) == 2


def test_verify_lists_twenty_differences_and_counts_the_rest(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llm = release.parent / "submissions" / "made-up-llm"
    run(capsys, "score-release", release, "--out", llm)
    run(capsys, "baselines", release, "--out", llm)
    run(capsys, "score-all", llm.parent)
    path = llm / "prob" / "scorecard.json"
    card = json.loads(path.read_bytes())
    path.write_text(json.dumps({**card, **{f"\x1b[2J{number}": 1 for number in range(25)}}), encoding="utf-8")
    code, _, err = run(capsys, "verify", llm / "prob")
    lines = err.splitlines()
    assert (code, len(lines)) == (1, 22) and all(map(str.isprintable, lines))
    assert lines[0] == '"\\u001b[2J0": only in the committed card'
    assert lines[20:] == ["… and 5 more", f"error: {llm / 'prob'}: 25 faults"]

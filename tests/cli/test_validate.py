import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from honestybench.cli.main import main
from honestybench.submission import FAULTS

CASES = Path(__file__).parent.parent / "fixtures" / "cases"
EXPECTED = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))["cases"]
LABELS = CASES / "gold.jsonl"


@pytest.fixture
def release(small_release: ModuleType, tmp_path: Path) -> Path:
    small_release.write(tmp_path / "release")
    return tmp_path / "release"


def validate(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["validate", *map(str, arguments)])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def write(path: Path, *ids: str) -> Path:
    path.write_text("".join(json.dumps({"id": each, "confidence": k / 100}) + "\n" for k, each in enumerate(ids)))
    return path


def ids_of(small_release: ModuleType, *splits: str) -> list[str]:
    return [example.id for example in small_release.examples() if example.split in splits]


@pytest.mark.parametrize("name", EXPECTED)
def test_json_tells_what_each_case_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    case = EXPECTED[name]
    code, out, err = validate(capsys, CASES / name, "--labels", LABELS, "--json")
    report: dict[str, Any] = json.loads(out)
    assert (report["outcome"], code, err) == (case["outcome"], int(case["outcome"] == "reject"), "")
    assert report.keys() == {"outcome", "file", "against", "faults", "n_faults", "tracks"}
    first = report["faults"][0] if report["faults"] else {"code": None, "line": None}
    assert (first["code"], first["line"]) == (case["code"], case["line"])
    for fault in report["faults"]:
        assert fault.keys() == {"code", "outcome", "line", "id", "message"}
        assert fault["outcome"] == FAULTS[fault["code"]].outcome and fault["message"]


def test_json_counts_the_tracks(
    small_release: ModuleType, release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The small release has 4 questions in domain, 6 out of domain and 1 of MMLU."""
    file = write(tmp_path / "c.jsonl", *ids_of(small_release, "in_domain"), ids_of(small_release, "ood")[0])
    code, out, _ = validate(capsys, file, "--release", release, "--llm", small_release.LLM, "--json")
    report = json.loads(out)
    assert (code, report["against"], [fault["code"] for fault in report["faults"]]) == (
        1,
        str(release),
        ["MISSING_IDS"],
    )
    assert report["tracks"] == {
        "in_domain": {"n_questions": 4, "n_found": 4, "status": "submitted"},
        "ood": {"n_questions": 6, "n_found": 1, "status": "incomplete"},
        "mmlu": {"n_questions": 1, "n_found": 0, "status": "not_submitted"},
    }


def test_people_get_one_line_for_a_good_file(
    small_release: ModuleType, release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = ids_of(small_release, "ood")
    file = write(tmp_path / "c.jsonl", *ids)
    code, out, err = validate(capsys, file, "--release", release)
    told = f"in_domain: not submitted, ood: {len(ids)} of {len(ids)}, mmlu: not submitted"
    assert (code, out, err) == (0, f"{file}: accepted; {told}\n", "")


def test_people_get_every_fault_and_a_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text('{"id": "q-0001", "confidence": 900}\n' + "{\n" * 22, encoding="utf-8")
    code, out, err = validate(capsys, file, "--labels", LABELS)
    lines = err.splitlines()
    assert (code, out, len(lines)) == (1, "", 22)
    assert lines[0] == (
        f"{file}: line 1: OUT_OF_RANGE: confidence 900 is outside [0, 1]; "
        'write a number in [0, 1], higher for more likely correct (id "q-0001")'
    )
    assert lines[1].startswith(f"{file}: line 2: BAD_JSON: ")
    assert lines[20:] == ["… and 3 more", f"error: {file}: rejected, 23 faults; labels: 1 of 6"]


def test_a_warning_does_not_reject(capsys: pytest.CaptureFixture[str]) -> None:
    file = CASES / "03_bom.jsonl"
    code, out, err = validate(capsys, file, "--labels", LABELS)
    assert (code, out) == (0, f"{file}: accepted with 1 warning; labels: 6 of 6\n")
    assert err == f"{file}: line 1: BOM: UTF-8 byte-order mark ignored; save without one\n"


def test_without_release_and_labels_the_embedded_sample_is_used_and_named(
    small_release: ModuleType,
    release: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("honestybench.cli.validate.SAMPLE", release)
    file = write(tmp_path / "c.jsonl", *ids_of(small_release, "ood"))
    code, out, err = validate(capsys, file)
    assert code == 0 and "accepted; in_domain: not submitted" in out
    assert err == f"no --release and no --labels: checked against the embedded sample, {release}\n"


def test_bad_labels_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "labels.jsonl"
    bad.write_text('{"id": "a", "source": "x", "correct": 3}\n', encoding="utf-8")
    code, out, err = validate(capsys, CASES / "01_ok.jsonl", "--labels", bad, "--json")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {bad}:1: correct must be 1, 0 or null, not 3. Remedy: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument 'FILE'"),
        (("none.jsonl",), "File 'none.jsonl' does not exist"),
        ((CASES,), "is a directory"),
        ((LABELS, "--labels", "none.jsonl"), "File 'none.jsonl' does not exist"),
        ((LABELS, "--labels", LABELS, "--release", CASES), "--labels goes without --release and --llm"),
        ((LABELS, "--labels", LABELS, "--llm", "x"), "--labels goes without --release and --llm"),
    ],
)
def test_wrong_usage_exits_with_2(
    arguments: tuple[str | Path, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = validate(capsys, *arguments)
    assert (code, out) == (2, "") and message in err


def test_an_unknown_llm_is_wrong_usage(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = validate(capsys, CASES / "01_ok.jsonl", "--release", release, "--llm", "made-up-lm")
    assert code == 2 and "did you mean 'made-up-llm'?" in err

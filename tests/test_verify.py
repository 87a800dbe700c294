import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from honestybench.release import Manifest
from honestybench.schema import ANNOTATED_SCHEMA
from honestybench.verify import verify_release

LLM = "made-up-llm"
SHARD = f"data/{LLM}/ood-00000-of-00001.parquet"


@pytest.fixture(scope="module")
def built(small_release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("built") / "release"
    small_release.write(folder)
    return folder


@pytest.fixture
def release(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "release")


def restamp(release: Path, change: Callable[[Any], None]) -> None:
    """Change the manifest's content and give it the right id, so that only the content is at fault."""
    path = release / "manifest.json"
    value = json.loads(path.read_text())
    change(value["content"])
    path.write_text(Manifest.of(value["content"], value["environment"]).to_json())


def one_fault(release: Path, *snippets: str) -> str:
    faults = verify_release(release)
    hits = [fault for fault in faults if all(snippet in fault for snippet in snippets)]
    assert len(hits) == 1, faults
    assert "\n" not in hits[0]
    return hits[0]


def test_a_sound_release_has_no_fault(release: Path) -> None:
    assert verify_release(release) == []


def test_no_release(tmp_path: Path) -> None:
    assert len(verify_release(tmp_path / "nowhere")) == 1
    one_fault(tmp_path, "no release here", "make build-bench")


def test_a_content_edited_by_hand(release: Path) -> None:
    path = release / "manifest.json"
    path.write_text(path.read_text().replace('"c0ffee"', '"decaf"'))
    one_fault(release, "manifest.json: its content hashes to")


def test_a_missing_shard(release: Path) -> None:
    (release / SHARD).unlink()
    assert verify_release(release) == [f"{SHARD}: the file is missing"]


def test_a_truncated_shard(release: Path) -> None:
    data = (release / SHARD).read_bytes()
    (release / SHARD).write_bytes(data[:-100])
    one_fault(release, SHARD, f"{len(data) - 100} bytes, the manifest says {len(data)}")
    one_fault(release, SHARD, "sha256")
    one_fault(release, SHARD, "cannot be read")


def test_a_folder_in_the_place_of_a_shard(release: Path) -> None:
    (release / SHARD).unlink()
    (release / SHARD).mkdir()
    one_fault(release, SHARD, "cannot be read")


def test_any_flipped_byte_is_found_and_none_raises(release: Path) -> None:
    data = (release / SHARD).read_bytes()
    rng = random.Random(0)
    for _ in range(60):
        place = rng.randrange(len(data))
        (release / SHARD).write_bytes(data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :])
        one_fault(release, SHARD, "sha256")


def test_any_cut_of_the_manifest_is_one_line(release: Path) -> None:
    data = (release / "manifest.json").read_bytes()
    for size in range(0, len(data) - 2, 97):
        (release / "manifest.json").write_bytes(data[:size])
        assert len(verify_release(release)) == 1


def test_a_stray_shard(release: Path) -> None:
    shutil.copy(release / SHARD, release / f"data/{LLM}/ood-00001-of-00002.parquet")
    assert verify_release(release) == [f"data/{LLM}/ood-00001-of-00002.parquet: the manifest does not list this file"]


def test_another_schema(release: Path) -> None:
    table = pq.read_table(release / SHARD)
    pq.write_table(table.cast(pa.schema([field.with_nullable(True) for field in table.schema])), release / SHARD)
    one_fault(release, SHARD, "other columns than its config")


def test_fewer_rows(release: Path) -> None:
    pq.write_table(pq.read_table(release / SHARD).slice(1), release / SHARD)
    one_fault(release, SHARD, "5 rows, the manifest says 6")
    one_fault(release, f"{LLM}: examples of popqa/ood: the manifest says 3, the rows give 2")
    one_fault(release, "do not hold the same examples")


def rewritten(release: Path, *rows: int) -> None:
    pq.write_table(pq.read_table(release / SHARD).take(list(rows)), release / SHARD)


def test_rows_out_of_order(release: Path) -> None:
    rewritten(release, 0, 2, 1, 3, 4, 5)
    one_fault(release, SHARD, "popqa-ood-", "not sorted by source, then id")


def test_a_repeated_row(release: Path) -> None:
    rewritten(release, 0, 1, 2, 2, 4, 5)
    one_fault(release, SHARD, "two rows share this id")


@pytest.mark.parametrize("name", ["README.md", "croissant.json"])
def test_a_card_that_is_edited_or_gone(release: Path, name: str) -> None:
    (release / name).write_text((release / name).read_text() + " ")
    assert verify_release(release) == [f"{name}: not what the manifest renders"]
    (release / name).unlink()
    assert verify_release(release) == [f"{name}: cannot be read: No such file or directory"]


Content = Callable[[Any], None]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda content: content["counts"]["nq"].update(in_domain=3),
            "questions: examples of nq/in_domain: the manifest says 3, the rows give 2",
        ),
        (
            lambda content: content["counts"].pop("nq"),
            f"{LLM}: examples of nq/in_domain: the manifest says 0, the rows give 2",
        ),
        (
            lambda content: content["flag_counts"].update(yes_no=1),
            f"{LLM}: examples flagged yes_no: the manifest says 1, the rows give 0",
        ),
        (
            lambda content: content["llms"][LLM]["unparsed"]["webquestions"].update(unparsed=0),
            f"{LLM}: unparsed verdicts of webquestions: the manifest says 0, the rows give 21",
        ),
        (
            lambda content: content["llms"][LLM]["unparsed"]["mmlu"].update(verdicts=1),
            f"{LLM}: verdicts of mmlu: the manifest says 1, the rows give 41",
        ),
        (
            lambda content: content["llms"].update(other=content["llms"][LLM]),
            "'other' must be both a config and an LLM",
        ),
        (lambda content: content["llms"].clear(), f"'{LLM}' must be both a config and an LLM"),
    ],
)
def test_counts_that_the_rows_do_not_give(release: Path, change: Content, fault: str) -> None:
    restamp(release, change)
    one_fault(release, fault)


def test_a_source_without_terms(release: Path) -> None:
    restamp(release, lambda content: content["sources"].pop("nq"))
    faults = verify_release(release)
    # Once for each config.
    assert faults.count("manifest.json: no licence entry for source 'nq'") == 2


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ({"self_consistency": 0.5}, "self_consistency is 0.5, its verdicts give 0.21052631578947367"),
        ({"self_consistency": None}, "self_consistency is None, its verdicts give 0.21052631578947367"),
        ({"sample_accuracy": 0.0}, "sample_accuracy is 0.0, its verdicts give 0.42105263157894735"),
        ({"n_unparsed": 2}, "n_unparsed is 2, its verdicts give 3"),
        ({"greedy_cumulative_logprob": -1.5}, "greedy_cumulative_logprob is -1.5, its tokens sum to -1.25"),
        ({"greedy_cumulative_logprob": float("nan")}, "greedy_cumulative_logprob is nan"),
        ({"greedy_tokens": ["one"]}, "1 greedy tokens, 2 log-probabilities"),
        ({"greedy_correctness": 2}, "a verdict is none of 1, 0 and null: [2]"),
        ({"question": "changed"}, "the content's id is 'nq-in_domain-"),
        ({"answers": []}, "an example needs at least one gold answer"),
        ({"flags": ["odd"]}, "unknown flag (got 'odd')"),
    ],
)
def test_a_row_that_contradicts_itself(
    small_release: ModuleType, tmp_path: Path, cells: dict[str, object], fault: str
) -> None:
    # The fixture's record 4, an nq one: of 19 parsed verdicts of each kind 4 are consistent and 8 correct; the
    # greedy verdict and the last of each kind are unparsed; the log-probabilities are -0.25 and -0.5 - 4/8.
    chosen = small_release.examples()[4]
    small_release.write(tmp_path / "release", change=lambda row: row | (cells if row["id"] == chosen.id else {}))
    one_fault(tmp_path / "release", f"data/{LLM}/in_domain", chosen.id, fault)


def test_a_copy_has_a_number_that_verifies(small_release: ModuleType) -> None:
    assert [each.id for each in small_release.examples()].count("squad-ood-046814a1d1c6-2") == 1


@pytest.mark.parametrize("suffix", ["-1", "-02", "-0", "-x", "x"])
def test_an_odd_copy_number(small_release: ModuleType, tmp_path: Path, suffix: str) -> None:
    def change(row: dict[str, object]) -> dict[str, object]:
        return row | ({"id": f"{row['id']}{suffix}"} if row["source"] == "mmlu" else {})

    small_release.write(tmp_path / "release", change=change)
    one_fault(tmp_path / "release", "the content's id is 'mmlu-mmlu-")


def test_nulls_and_alien_verdicts_in_a_shard(release: Path) -> None:
    rows = pq.read_table(release / SHARD).to_pylist()
    rows[0]["answers"] = ["a", None]
    pq.write_table(pa.Table.from_pylist(rows, schema=ANNOTATED_SCHEMA), release / SHARD)
    one_fault(release, SHARD, "null in answers")


def test_bytes_that_are_no_text_in_a_shard(release: Path) -> None:
    table = pq.read_table(release / SHARD)
    offsets = pa.array([0, 1, 2, 3, 4, 5, 6], pa.int32()).buffers()[1]
    broken = pa.StringArray.from_buffers(6, offsets, pa.py_buffer(b"a\xff\xfeabc"))
    place = table.column_names.index("greedy_response")
    pq.write_table(table.set_column(place, table.schema.field(place), broken), release / SHARD)
    one_fault(release, SHARD, "cannot be read", "UTF8")


def test_a_shard_with_many_faults_lists_twenty(small_release: ModuleType, tmp_path: Path) -> None:
    # Six ood rows with five faults each.
    spoilt = {"n_unparsed": 99, "self_consistency": 9.0, "sample_accuracy": 9.0, "greedy_tokens": []}
    spoilt |= {"greedy_cumulative_logprob": 9.0}
    small_release.write(tmp_path / "release", change=lambda row: row | spoilt)
    faults = [fault for fault in verify_release(tmp_path / "release") if fault.startswith(SHARD)]
    assert len(faults) == 21
    assert faults[-1] == f"{SHARD}: and 10 more faults"


def test_all_kinds_of_faults_are_listed_at_once(release: Path) -> None:
    (release / SHARD).unlink()
    (release / "README.md").unlink()
    (release / "data" / "questions" / "mmlu-00000-of-00001.parquet").write_bytes(b"PAR1")
    (release / "stray.parquet").write_bytes(b"")
    starts = {fault.split(":")[0] for fault in verify_release(release)}
    assert starts == {SHARD, "README.md", "data/questions/mmlu-00000-of-00001.parquet", "stray.parquet"}


def test_verifying_changes_nothing(release: Path) -> None:
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in release.rglob("*")}
    verify_release(release)
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in release.rglob("*")} == before

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestybench import shards
from honestybench.errors import DataError, ReleaseError, UnknownNameError
from honestybench.release import read_manifest
from honestybench.schema import ANNOTATED_SCHEMA, QUESTIONS_SCHEMA, annotated_row, question_row
from honestybench.shards import ReleaseWriter, iter_batches, read_table

LLM = "made-up-llm"
SPLITS = ["train", "in_domain", "ood", "mmlu"]
Row = dict[str, object]


@pytest.fixture(scope="module")
def release(small_release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("built") / "honestybench"
    small_release.write(folder)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def question(number: int, source: str = "nq", **changes: object) -> Row:
    row: Row = dict.fromkeys(QUESTIONS_SCHEMA.names)
    row |= {"id": f"{source}-ood-{number:012x}", "source": source, "split": "ood", "question": f"question {number}"}
    return row | {"answers": ["gold"], "flags": [], "cluster": "c"} | changes


def write_questions(small_release: ModuleType, out: Path, rows: list[Row]) -> None:
    with ReleaseWriter(out) as writer:
        writer.write_split("questions", "ood", iter(rows), QUESTIONS_SCHEMA)
        writer.finish(small_release.content([]), {})


def test_two_builds_give_equal_bytes(small_release: ModuleType, release: Path, tmp_path: Path) -> None:
    small_release.write(tmp_path / "again")
    assert tree(tmp_path / "again") == tree(release)


def test_a_release_has_the_published_files(release: Path) -> None:
    names = {f"data/{config}/{split}-00000-of-00001.parquet" for config in ("questions", LLM) for split in SPLITS}
    assert set(tree(release)) == {"README.md", "croissant.json", "manifest.json", *names}


def test_rows_come_back_as_they_went_in(small_release: ModuleType, release: Path) -> None:
    records = sorted(small_release.records(), key=lambda record: SPLITS.index(record.example.split))
    expected = pa.Table.from_pylist([annotated_row(record) for record in records], schema=ANNOTATED_SCHEMA)
    assert read_table(release, LLM).equals(expected)
    questions = pa.Table.from_pylist([question_row(record.example) for record in records], schema=QUESTIONS_SCHEMA)
    assert read_table(release, "questions").equals(questions)


def test_test_is_in_domain_then_ood(release: Path) -> None:
    splits = read_table(release, LLM, "test", columns=["split"])["split"].to_pylist()
    # The fixture's questions: four in_domain, six ood.
    assert splits == ["in_domain"] * 4 + ["ood"] * 6


def test_columns_come_in_the_order_asked_for(release: Path) -> None:
    table = read_table(release, LLM, "mmlu", columns=["n_unparsed", "answers", "id"])
    assert table.column_names == ["n_unparsed", "answers", "id"]
    assert table["answers"].to_pylist() == [["B"]]


def test_batches_have_at_most_the_size_asked_for(release: Path) -> None:
    batches = list(iter_batches(release, LLM, "ood", columns=["id"], batch_size=4))
    assert [batch.num_rows for batch in batches] == [4, 2]
    assert pa.Table.from_batches(batches).equals(read_table(release, LLM, "ood", columns=["id"]))


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (("qwen",), "made-up-llm, questions"),
        ((LLM, "dev"), "in_domain, mmlu, ood, test, train"),
        ((LLM, "ood", ["idd"]), "did you mean 'id'?"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(release: Path, arguments: tuple[str], known: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown") as caught:
        read_table(release, *arguments)
    assert known in str(caught.value)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda path: path.unlink(), "the shard is missing"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "cannot be read"),
        (lambda path: path.write_bytes(b""), "cannot be read"),
        (lambda path: pq.write_table(pa.table({"id": ["a"]}), path), "other columns"),
    ],
)
def test_a_damaged_shard_is_one_clear_error(
    release: Path, tmp_path: Path, damage: Callable[[Path], object], fault: str
) -> None:
    shutil.copytree(release, tmp_path / "copy")
    damage(tmp_path / "copy" / "data" / LLM / "ood-00000-of-00001.parquet")
    with pytest.raises(
        ReleaseError, match=rf"ood-00000-of-00001.parquet: .*{fault}.*Remedy: run `honestybench verify`"
    ):
        read_table(tmp_path / "copy", LLM, "ood")


def test_shards_are_written_as_the_hub_wants_them(release: Path) -> None:
    file = pq.ParquetFile(release / "data" / LLM / "ood-00000-of-00001.parquet")
    group = file.metadata.row_group(0)
    for index in range(group.num_columns):
        column = group.column(index)
        split = column.path_in_schema.startswith(("greedy_logprobs", "greedy_cumulative_logprob"))
        assert column.compression == "ZSTD"
        assert column.has_offset_index and column.has_column_index
        assert ("BYTE_STREAM_SPLIT" in column.encodings) == split
        assert ("RLE_DICTIONARY" in column.encodings) == (not split)


def test_an_inserted_row_leaves_the_rest_of_the_bytes_alone(small_release: ModuleType, tmp_path: Path) -> None:
    # 6 MB of text that does not compress, so that several pages follow the inserted row's.
    rng = random.Random(0)
    rows = [question(number, cluster=rng.randbytes(3000).hex()) for number in range(1000)]
    write_questions(small_release, tmp_path / "one", rows[1:])
    write_questions(small_release, tmp_path / "two", rows)
    name = "data/questions/ood-00000-of-00001.parquet"
    one, two = ((tmp_path / each / name).read_bytes() for each in ("one", "two"))
    middle = len(two) // 2
    assert two[middle : middle + 1000] in one


def test_row_groups_end_where_a_source_ends(release: Path) -> None:
    file = pq.ParquetFile(release / "data" / LLM / "ood-00000-of-00001.parquet")
    groups = [
        file.read_row_group(index, columns=["source"])["source"].to_pylist() for index in range(file.num_row_groups)
    ]
    assert groups == [["popqa"] * 3, ["squad"] * 2, ["webquestions"]]


def test_a_large_split_is_cut_into_row_groups_and_numbered_shards(
    small_release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rows of about 10 kB in memory: a batch of 1024 fills a row group of 5 MB, two row groups a shard of 25 MB.
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 5_000_000)
    monkeypatch.setattr(shards, "SHARD_BYTES", 25_000_000)
    text = "x" * 10_000
    rows = [question(number, cluster=text) for number in range(3000)] + [question(1, "squad", cluster=text)]
    write_questions(small_release, tmp_path / "release", rows)
    written = read_manifest(tmp_path / "release").select("questions", "ood")
    names = [f"data/questions/ood-0000{index}-of-00002.parquet" for index in range(2)]
    assert [shard["path"] for shard in written] == names
    assert [shard["rows"] for shard in written] == [2048, 953]
    assert set(tree(tmp_path / "release")) == {"README.md", "croissant.json", "manifest.json", *names}
    groups = [pq.ParquetFile(tmp_path / "release" / name).metadata for name in names]
    assert [[meta.row_group(k).num_rows for k in range(meta.num_row_groups)] for meta in groups] == [
        [1024, 1024],
        [952, 1],
    ]
    assert read_table(tmp_path / "release", "questions")["id"].to_pylist() == [row["id"] for row in rows]


def test_a_split_is_streamed(small_release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 1)
    seen: list[int] = []

    def rows() -> Iterator[Row]:
        for number in range(3 * 1024):
            if number == 2 * 1024:
                seen.append((tmp_path / "release.partial/new/data/questions/ood-00000.parquet").stat().st_size)
            yield question(number)

    with ReleaseWriter(tmp_path / "release") as writer:
        writer.write_split("questions", "ood", rows(), QUESTIONS_SCHEMA)
    # The first row groups were on disk before the last rows were asked for.
    assert seen[0] > 4


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(texts, st.lists(texts, max_size=3), st.none() | texts, st.none() | st.integers(-128, 127)), min_size=1
    )
)
def test_any_text_survives(
    small_release: ModuleType,
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[tuple[str, list[str], str | None, int]],
) -> None:
    rows = [
        question(number, question=text, answers=answers, relation=relation, hops=hops)
        for number, (text, answers, relation, hops) in enumerate(cells)
    ]
    out = tmp_path_factory.mktemp("any") / "release"
    write_questions(small_release, out, rows)
    assert read_table(out, "questions", "ood").to_pylist() == rows


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([question(2), question(1)], "nq-ood-000000000001: rows must be sorted by source, then id"),
        ([question(1, "squad"), question(2, "nq")], "nq-ood-000000000002: rows must be sorted"),
        ([question(1), question(1, question="another")], "nq-ood-000000000001: two rows share an id"),
        ([question(1), question(2, split="train")], "nq-ood-000000000002: the row is not of split 'ood'"),
        ([question(1), question(2, hops=300)], "nq-ood-000000000002: the row does not fit the schema: .*300"),
        ([question(1), question(2, question=None)], "nq-ood-000000000002: .*null in question"),
        ([question(1), question(2, answers=["a", None])], "nq-ood-000000000002: .*null in answers"),
        ([question(1), question(2, question="\ud800")], "nq-ood-000000000002: .*surrogates"),
        ([question(1), question(2, popularity="many")], "nq-ood-000000000002: the row does not fit"),
        ([question(1), question(2, extra=1)], r"nq-ood-000000000002: the row has other columns.*\['extra'\]"),
        ([{k: v for k, v in question(1).items() if k != "hops"}], r"other columns than the schema \(got \['hops'\]\)"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_left(
    small_release: ModuleType, tmp_path: Path, rows: list[Row], fault: str
) -> None:
    with pytest.raises(DataError, match=fault):
        write_questions(small_release, tmp_path / "release", rows)
    assert list(tmp_path.iterdir()) == []


def test_nineteen_verdicts_do_not_fit(small_release: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nq-in_domain-.*20.*19"):
        small_release.write(
            tmp_path / "release",
            change=lambda row: row | ({"sampling_correctness": [1] * 19} if row["source"] == "nq" else {}),
        )


@pytest.mark.parametrize(
    ("config", "schema", "fault"),
    [
        ("Qwen/Qwen2.5", ANNOTATED_SCHEMA, "lower case"),
        ("../x", ANNOTATED_SCHEMA, "lower case"),
        ("questions", ANNOTATED_SCHEMA, "not that of the config"),
    ],
)
def test_a_bad_config_is_refused(
    small_release: ModuleType, tmp_path: Path, config: str, schema: pa.Schema, fault: str
) -> None:
    rows = [annotated_row(small_release.records()[3])]
    with pytest.raises(DataError, match=fault), ReleaseWriter(tmp_path / "release") as writer:
        writer.write_split(config, str(rows[0]["split"]), rows, schema)
        writer.finish(small_release.content([], default_config=config), {})


def test_an_unknown_split_is_refused(tmp_path: Path) -> None:
    known = "known: in_domain, mmlu, ood, train"
    with pytest.raises(UnknownNameError, match=known), ReleaseWriter(tmp_path / "release") as writer:
        writer.write_split("questions", "test", [], QUESTIONS_SCHEMA)


def test_a_release_without_rows_is_refused(small_release: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="default config 'questions' has no shard"):
        write_questions(small_release, tmp_path / "release", [])


def test_a_split_is_written_once(small_release: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="written already"), ReleaseWriter(tmp_path / "release") as writer:
        writer.write_split("questions", "ood", [question(1)], QUESTIONS_SCHEMA)
        writer.write_split("questions", "ood", [question(2)], QUESTIONS_SCHEMA)


def test_a_failed_build_keeps_the_previous_release(small_release: ModuleType, release: Path, tmp_path: Path) -> None:
    shutil.copytree(release, tmp_path / "release")
    with pytest.raises(DataError):
        write_questions(small_release, tmp_path / "release", [question(2), question(1)])
    assert tree(tmp_path) == {f"release/{name}": data for name, data in tree(release).items()}

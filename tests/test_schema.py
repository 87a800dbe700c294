from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq

from honestybench.schema import ANNOTATED_SCHEMA, CONFIDENCE_SCHEMA, QUESTIONS_SCHEMA, annotated_row, question_row

GOLDEN = Path(__file__).parent / "golden" / "schema.txt"


def test_the_schemas_are_the_published_contract() -> None:
    text = "\n\n".join(str(schema) for schema in (QUESTIONS_SCHEMA, ANNOTATED_SCHEMA, CONFIDENCE_SCHEMA))
    assert text + "\n" == GOLDEN.read_text()


def test_annotated_columns_begin_with_the_question_columns() -> None:
    assert ANNOTATED_SCHEMA.names[: len(QUESTIONS_SCHEMA)] == QUESTIONS_SCHEMA.names


def test_rows_have_exactly_the_columns_of_their_schema(small_release: ModuleType) -> None:
    record = small_release.records()[0]
    assert list(question_row(record.example)) == QUESTIONS_SCHEMA.names
    assert list(annotated_row(record)) == ANNOTATED_SCHEMA.names


def test_a_record_survives_parquet(small_release: ModuleType, tmp_path: Path) -> None:
    record = small_release.records()[12]
    pq.write_table(pa.Table.from_pylist([annotated_row(record)], schema=ANNOTATED_SCHEMA), tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.schema.equals(ANNOTATED_SCHEMA)
    row = table.to_pylist()[0]
    assert row["answers"] == ["Jamaican Creole English Language", "Jamaican English"]
    # Made up in the fixture: the 13th record's consistency verdicts are all unparsed, its last sampled verdict too.
    assert (row["self_consistency"], row["consistency_judgement"]) == (None, [None] * 20)
    assert (row["sample_accuracy"], row["n_unparsed"]) == (1.0, 21)
    assert row["greedy_logprobs"] == [-0.25, -2.0]
    assert row["greedy_cumulative_logprob"] == -2.25

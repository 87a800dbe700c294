"""Rows of the Hub's layouts: ParaRel's draw from its whole table, and what is refused."""

import random
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders import BUILDERS, pararel
from builders.base import SourceRow
from builders.raw import Record, read_parquet
from honestybench.errors import CountError, SourceError

# Published sizes: of the table, of the draw, of what is left, and so of what equals a drawn row.
N_TABLE, N_DRAWN, N_TRAIN, N_COPIES = 157_656, 3_000, 134_199, 20_457


def record(**fields: object) -> Record:
    return Record(file=Path("table.parquet"), number=1, fields=fields)


@pytest.fixture(scope="module")
def drawn() -> list[int]:
    """The published draw, as its authors wrote it down: seed 0, 3,000 of the table's row numbers."""
    return random.Random(0).sample(range(157_656), 3_000)


@pytest.fixture(scope="module")
def table(drawn: list[int]) -> list[SourceRow]:
    """Made-up triples in the published order of relations: 20,457 undrawn rows repeat a drawn one, no others do."""
    relations, starts = list(pararel._BLOCKS), list(pararel._BLOCKS.values())
    is_drawn, copies, last = set(drawn), 0, (-1, "")
    rows = []
    for index in range(N_TABLE):
        relation = relations[max(bisect_right(starts, index) - 1, 0)]
        number = index
        if index in is_drawn:
            last = (index, relation)
        elif copies < N_COPIES and last[1] == relation:
            number, copies = last[0], copies + 1
        fields = {"relation": f"{relation}.jsonl", "subject": f"s{number}", "object": f"o{number}"}
        rows.append(pararel.from_hub(record(**fields)))
    assert (len(rows), copies) == (N_TABLE, N_COPIES)
    return rows


def test_pararel_is_drawn_again_from_the_whole_table(table: list[SourceRow], drawn: list[int]) -> None:
    evaluation = pararel.select_hub_split(table, "in_domain")
    train = pararel.select_hub_split(table, "train")
    assert (len(evaluation), len(train)) == (N_DRAWN, N_TRAIN)
    assert tuple(BUILDERS["pararel"].counts[split] for split in ("in_domain", "train")) == (N_DRAWN, N_TRAIN)
    assert [row.subject for row in evaluation] == [f"s{index}" for index in drawn]
    assert [row.source_row for row in evaluation] == list(range(N_DRAWN))
    # The first published evaluation question asks who produces something ("Who produces Honda Stream?").
    assert (evaluation[0].question, evaluation[0].answers) == (f"Who produces s{drawn[0]}?", (f"o{drawn[0]}",))
    numbers = [int(str(row.subject)[1:]) for row in train]
    assert numbers == sorted(numbers)
    assert set(numbers).isdisjoint(drawn)


def test_another_table_is_refused(table: list[SourceRow]) -> None:
    with pytest.raises(CountError, match=r"must have 157,656 rows \(got 157655\).*--qa-dir"):
        pararel.select_hub_split(table[1:], "train")
    with pytest.raises(SourceError, match=r"row [0-9]+ of the ParaRel table must be of P[0-9]+"):
        pararel.select_hub_split(table[::-1], "train")


# Source, the fields of a row -> words of the message.
MALFORMED: list[tuple[str, dict[str, Any], str]] = [
    ("pararel", {"relation": "P37.jsonl", "subject": "s", "object": "o"}, "must be one of the published relations"),
    ("mmlu", {"question": "q", "subject": "s", "choices": ["a", "b", "c"], "answer": 0}, "must hold 4 texts"),
    ("mmlu", {"question": "q", "subject": "s", "choices": ["a", "b", "c", "d"], "answer": 4}, "between 0 and 3"),
    ("mmlu", {"question": "q", "subject": "s", "choices": ["a", "b", "c", "d"], "answer": -1}, "between 0 and 3"),
    ("cwq", {"question": "q", "answers": {"answer": ["a"], "aliases": []}}, "of one length"),
    ("cwq", {"question": "q", "answers": {"answer": [], "aliases": []}}, "at least one answer"),
    ("squad", {"question": "q", "answers": {"text": []}}, "at least one gold answer"),
    ("webquestions", {"question": "q", "answers": []}, "at least one gold answer"),
    ("triviaqa", {"question": "q", "answer": {"value": None, "aliases": []}}, "'answer.value' must be text"),
    ("nq", {"question": "q"}, "'answer' is missing"),
]


@pytest.mark.parametrize(("key", "fields", "told"), MALFORMED)
def test_a_malformed_row_is_refused(key: str, fields: dict[str, Any], told: str) -> None:
    with pytest.raises(SourceError, match=told) as caught:
        BUILDERS[key].from_hub(record(**fields))
    assert "table.parquet, record 1" in str(caught.value)


def test_cwq_on_the_hub_keeps_further_answers_for_the_clean_text() -> None:
    answers = {"answer": ["Brazil", "Chile"], "aliases": [["Brasil"], []], "answer_id": ["m.015fr", "m.01p1v"]}
    row = BUILDERS["cwq"].from_hub(record(question="Which countries border Argentina?", answers=answers))
    assert row.answers == ("Brazil", "Brasil")
    assert row.answers_repaired == ("Brazil", "Brasil", "Chile")


def test_parquet_is_read_by_column_and_told_when_it_is_none(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"question": ["a", "b"], "context": ["long", "longer"]}), path)
    records = list(read_parquet(path, ("question",)))
    assert [(one.number, one.fields) for one in records] == [(1, {"question": "a"}), (2, {"question": "b"})]
    damage: list[Callable[[bytes], bytes]] = [lambda whole: b"<html>", lambda whole: whole[:-9]]
    for damaged in damage:
        (tmp_path / "g.parquet").write_bytes(damaged(path.read_bytes()))
        with pytest.raises(SourceError, match=r"g\.parquet: must be a Parquet file"):
            list(read_parquet(tmp_path / "g.parquet", ("question",)))
    with pytest.raises(SourceError, match="must be a Parquet file"):
        list(read_parquet(tmp_path / "absent.parquet", ("question",)))

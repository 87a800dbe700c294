"""Each parser on real records of its original layout: every field of the first, last and ugliest."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders import BUILDERS, pararel
from builders.base import SourceRow
from builders.raw import Record
from builders.webquestions import parse_release as parse_webquestions

ReadRows = Callable[[str], list[SourceRow]]


@pytest.mark.parametrize("key", BUILDERS)
def test_parser_reads_every_field_of_real_records(key: str, release_rows: ReadRows, raw_dir: Path) -> None:
    # First, last and ugliest record of each sample, read by eye from the files; a field left out is None.
    sample = json.loads((raw_dir / "expected_rows.json").read_text(encoding="utf-8"))[key]
    expected = {int(index): _row(fields) for index, fields in sample["expected"].items()}
    rows = release_rows(key)
    assert len(rows) == sample["rows"]
    assert {0, len(rows) - 1} < expected.keys()
    assert {index: rows[index] for index in expected} == expected


def _row(fields: dict[str, Any]) -> SourceRow:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return SourceRow(**values)


def test_table_is_keyed_by_the_builders_and_in_the_contract_order() -> None:
    assert {key: builder.key for key, builder in BUILDERS.items()} == {key: key for key in BUILDERS}
    assert " ".join(BUILDERS) == "nq triviaqa hotpotqa 2wiki pararel squad webquestions cwq musique popqa mmlu"


def test_published_counts_sum_to_the_published_totals() -> None:
    totals: dict[str, int] = {}
    for builder in BUILDERS.values():
        for split, count in builder.counts.items():
            totals[split] = totals.get(split, 0) + count
    # Table 1 of the paper, and the size of MMLU's test split.
    assert totals == {"train": 567_647, "in_domain": 37_904, "ood": 32_805, "mmlu": 14_042}


def test_cwq_publishes_the_first_answer_and_keeps_all_for_the_clean_text(tmp_path: Path) -> None:
    # No real record with several answers is at hand; the layout is that of the real ones.
    answers = [
        {"answer": "Brazil", "answer_id": "m.015fr", "aliases": ["Brasil"]},
        {"answer": "Chile", "answer_id": "m.01p1v", "aliases": ["Republic of Chile"]},
    ]
    path = tmp_path / "ComplexWebQuestions_dev.json"
    path.write_text(json.dumps([{"ID": "x", "question": "Which countries border Argentina?", "answers": answers}]))
    (row,) = BUILDERS["cwq"].parse_release(path)
    assert row.answers == ("Brazil", "Brasil")
    assert row.answers_repaired == ("Brazil", "Brasil", "Chile", "Republic of Chile")


def test_2wiki_takes_the_aliases_of_the_answer_where_the_release_has_them(tmp_path: Path, raw_dir: Path) -> None:
    # Written here in the documented layout of the alias file: its real content is not at hand.
    (tmp_path / "dev.json").write_bytes((raw_dir / "2wiki" / "dev.json").read_bytes())
    alias_line = {"Q_id": "Q274277", "aliases": ["Malgorzata Braunek"], "demonyms": []}
    (tmp_path / "id_aliases.json").write_text(json.dumps(alias_line) + "\n")
    with_alias, without_id, without_alias = BUILDERS["2wiki"].parse_release(tmp_path / "dev.json")
    assert with_alias.answers == ("Małgorzata Braunek",)
    assert with_alias.answers_repaired == ("Małgorzata Braunek", "Malgorzata Braunek")
    assert without_id.answers_repaired is None and without_alias.answers_repaired is None


# The five published test golds that the pattern damages, with the text it was given.
DAMAGED = [
    (
        '(list (description "Yellow Submarine") (description "Pinocchio Medley ("Do You See the Noses Growing?")"))',
        ("Yellow Submarine", '"Pinocchio Medley ("Do You See the Noses Growing?"'),
    ),
    (
        '(list (description "William Fitzgerald") (description "Temperance "Tempie" Fitzgerald"))',
        ("William Fitzgerald", '"Temperance "Tempie" Fitzgerald"'),
    ),
    ('(list (description Apology) (description ""The sayings of Poor Richard""))', None),
]


@pytest.mark.parametrize(("target", "golds"), DAMAGED)
def test_webquestions_keeps_the_published_damage(target: str, golds: tuple[str, ...] | None, tmp_path: Path) -> None:
    path = tmp_path / "webquestions.examples.test.json"
    path.write_text(json.dumps([{"url": "", "targetValue": target, "utterance": "what does ringo sing?"}]))
    (row,) = parse_webquestions(path)
    assert row.answers == tuple(sorted(golds or ("Apology", '""The sayings of Poor Richard""')))


def test_pararel_asks_the_thirty_five_published_relations() -> None:
    assert len(pararel.TEMPLATES) == 35
    assert pararel.TEMPLATES["P136"] == pararel.TEMPLATES["P1303"] == "What does [X] play?"
    shared = {relation for relation, text in pararel.TEMPLATES.items() if text == "Where is [X] located?"}
    assert shared == {"P17", "P30", "P131", "P276"}
    assert pararel._BLOCKS.keys() == pararel.TEMPLATES.keys()


# Rows of the published evaluation file; the draw tells the relation of a shared template.
@pytest.mark.parametrize(
    ("source_row", "question", "answer", "relation", "subject"),
    [
        (0, "Who produces Honda Stream?", "Honda", "P176", "Honda Stream"),
        (300, "Where is Davis Station located?", "Antarctica", "P30", "Davis Station"),
        (456, "Where is Kings Domain located?", "Australia", "P17", "Kings Domain"),
        (948, "Where is Porcupine Hills located?", "Manitoba", "P131", "Porcupine Hills"),
        (372, "Where is Wolvendaal Church located?", "Colombo", "P276", "Wolvendaal Church"),
        (467, "What does Paul McCandless play?", "jazz", "P136", "Paul McCandless"),
        (964, "What does Paul McCandless play?", "saxophone", "P1303", "Paul McCandless"),
        (2988, "Where was Frankfurt School founded?", "Frankfurt", "P740", "Frankfurt School"),
    ],
)
def test_pararel_recovers_the_relation_of_a_published_row(
    source_row: int, question: str, answer: str, relation: str, subject: str
) -> None:
    record = _pararel_record(question=question, answer=[answer], source_row=source_row)
    row = pararel.from_qa(record, "in_domain")
    assert (row.relation, row.subject) == (relation, subject)
    assert (row.question_repaired is not None) == (relation == "P136")


def test_pararel_leaves_a_shared_template_open_where_the_row_tells_nothing() -> None:
    record = _pararel_record(question="Where is Kings Domain located?", answer=["Australia"], source_row=5)
    row = pararel.from_qa(record, "train")
    assert (row.relation, row.subject) == (None, "Kings Domain")
    headquarters = _pararel_record(question="Where is the headquarters of SpaceX located?", answer=["Hawthorne"])
    assert pararel.from_qa(headquarters, "train").relation == "P159"


def _pararel_record(**fields: object) -> Record:
    return Record(file=Path("test.jsonl"), number=1, fields=fields)

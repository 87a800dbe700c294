"""ComplexWebQuestions 1.1: one JSON list; each answer has a text and aliases.

The published golds are the first answer and its aliases; the clean text has every answer.

The Hub's repository holds a loading script and no data. The Hub's own conversion to Parquet lies on
a branch that the Hub rewrites at will, so no commit is pinned. Neither the branch nor its file names
could be looked at; the layout is from the field list of the script, with `answers` as a record of
lists.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow, canonical_first
from builders.raw import Record, read_json_array


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `ComplexWebQuestions_dev.json`. Raises SourceError."""
    return map(_row, read_json_array(path))


def from_hub(record: Record) -> SourceRow:
    """Read one row of the Hub's Parquet: `answers` as lists of names and of alias lists. Raises SourceError."""
    columns = record.child("answers").fields
    names, aliases = columns.get("answer"), columns.get("aliases")
    if not isinstance(names, list) or not isinstance(aliases, list) or len(names) != len(aliases):
        raise record.fault("answers", columns, "must hold the lists 'answer' and 'aliases' of one length")
    answers = [{"answer": name, "aliases": others} for name, others in zip(names, aliases, strict=True)]
    return _row(replace(record, fields={**record.fields, "answers": answers}))


def _row(record: Record) -> SourceRow:
    answers = record.children("answers")
    if not answers:
        raise record.fault("answers", [], "must hold at least one answer")
    first, *others = answers
    gold, aliases = first.text("answer"), first.texts("aliases")
    further = [name for other in others for name in (other.text("answer"), *other.texts("aliases"))]
    return SourceRow(
        question=record.text("question"),
        answers=canonical_first(gold, aliases),
        answers_repaired=canonical_first(gold, aliases + further) if further else None,
    )


BUILDER = SourceBuilder(
    key="cwq",
    title="ComplexWebQuestions 1.1",
    counts={"ood": 3_519},
    release_files={"ood": "ComplexWebQuestions_dev.json"},
    qa_files={"ood": "complex_web_questions/dev.jsonl"},
    hub_files={
        "ood": HubFiles(
            repo="drt/complex_web_questions",
            # Conversions were named `…/complex_web_questions-validation.parquet` and later `…/validation/0000.parquet`.
            pattern="complex_web_questions/*validation*.parquet",
            revision="refs/convert/parquet",
            columns=("question", "answers"),
        )
    },
    licence=Licence(
        spdx="unclear: no terms found on the project's pages; the Hub tag says Apache-2.0, its card 'not specified'",
        attribution="ComplexWebQuestions (Talmor and Berant, 2018), built on WebQuestionsSP (Yih et al., 2016)",
        url="https://huggingface.co/datasets/drt/complex_web_questions",
        note="see docs/decisions/001-unclear-licences.md",
    ),
    parse_release=parse_release,
    from_hub=from_hub,
    embedded_files={"ood": EmbeddedFile(name="dev.jsonl")},
)

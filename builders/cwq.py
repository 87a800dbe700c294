"""ComplexWebQuestions 1.1: one JSON list; each answer has a text and aliases.

The published golds are the first answer and its aliases; the clean text has every answer.
"""

from collections.abc import Iterator
from pathlib import Path

from builders.base import EmbeddedFile, Licence, SourceBuilder, SourceRow, canonical_first
from builders.raw import read_json_array


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `ComplexWebQuestions_dev.json`. Raises SourceError."""
    for record in read_json_array(path):
        answers = record.children("answers")
        if not answers:
            raise record.fault("answers", [], "must hold at least one answer")
        first, *others = answers
        gold, aliases = first.text("answer"), first.texts("aliases")
        further = [name for other in others for name in (other.text("answer"), *other.texts("aliases"))]
        yield SourceRow(
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
    licence=Licence(
        spdx="unclear: no terms found on the project's pages; the Hub tag says Apache-2.0, its card 'not specified'",
        attribution="ComplexWebQuestions (Talmor and Berant, 2018), built on WebQuestionsSP (Yih et al., 2016)",
        url="https://huggingface.co/datasets/drt/complex_web_questions",
        note="see docs/decisions/001-unclear-licences.md",
    ),
    parse_release=parse_release,
    embedded_files={"ood": EmbeddedFile(name="dev.jsonl")},
)

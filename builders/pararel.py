"""ParaRel: triples of Wikidata relations, one question a triple through the relation's template.

The original release holds patterns (`graphs_json/`) and triples (`trex_lms_vocab/`); it does not
tell the paper's split, which is a draw of 3,000 from a table of 157,656 (triple, pattern) rows in
relation order. The draw can be repeated, so the row of a published evaluation question tells its
relation even where relations share a template ("Where is … located?").

That table lies on the Hub, so from there both splits are drawn again. Its rows were not seen here:
the layout is from the field list of its card, the ".jsonl" at the end of `relation` from the code of
two of its users.
"""

import random
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow
from builders.qa_layout import shared_row
from builders.raw import Record, read_json_lines
from honestybench.errors import CountError, SourceError

TEMPLATES: Mapping[str, str] = {
    "P17": "Where is [X] located?",
    "P19": "Where was [X] born?",
    "P20": "Where did [X] die?",
    "P27": "What is [X]'s citizenship?",
    "P30": "Where is [X] located?",
    "P36": "What is the capital of [X]?",
    "P39": "What position does [X] hold?",
    "P47": "What does [X] share a border with?",
    "P101": "What field does [X] work in?",
    "P103": "What is the native language of [X]?",
    "P106": "What is [X]'s profession?",
    "P108": "Who does [X] work for?",
    "P127": "Who owns [X]?",
    "P131": "Where is [X] located?",
    "P136": "What does [X] play?",
    "P138": "Who/what is [X] named after?",
    "P159": "Where is the headquarters of [X] located?",
    "P176": "Who produces [X]?",
    "P178": "Who developed [X]?",
    "P264": "What music label represents [X]?",
    "P276": "Where is [X] located?",
    "P279": "What is [X] a subclass of?",
    "P361": "What is [X] part of?",
    "P364": "What was the original language of [X]?",
    "P407": "In what language was [X] written?",
    "P413": "What position does [X] play in?",
    "P449": "Where was [X] originally aired?",
    "P463": "What is [X] a member of?",
    "P495": "Where was [X] created?",
    "P530": "With whom does [X] maintain diplomatic relations?",
    "P740": "Where was [X] founded?",
    "P937": "Where did [X] used to work?",
    "P1303": "What does [X] play?",
    "P1376": "Of what is [X] the capital?",
    "P1412": "What language did [X] used to communicate in?",
}
"""Relation -> published question; P136 (genre) was published with the template of P1303 (instrument)."""

REPAIRED_TEMPLATES: Mapping[str, str] = {"P136": "What genre is [X] associated with?"}
"""Relation -> question for the clean text; genres there are of musicians, labels and books alike."""

N_TABLE, N_DRAWN, DRAW_SEED = 157_656, 3_000, 0
"""Size of the table the evaluation questions were drawn from, of the draw, and its seed."""

# First drawn table row of each relation, in table order: measured on the published questions,
# which fall into exactly these blocks once sorted by drawn row.
_BLOCKS: Mapping[str, int] = {
    "P30": 18, "P279": 3886, "P39": 7791, "P1303": 12329, "P19": 14130, "P101": 20728, "P1412": 27010,
    "P449": 29003, "P103": 34208, "P178": 36126, "P20": 43115, "P463": 50683, "P138": 51299, "P364": 60422,
    "P47": 63710, "P1376": 65986, "P106": 67292, "P413": 73968, "P17": 75898, "P136": 78691, "P407": 80614,
    "P159": 83900, "P937": 90635, "P276": 95318, "P530": 97029, "P361": 97339, "P176": 99085, "P27": 105680,
    "P108": 112562, "P36": 113937, "P264": 119398, "P495": 125151, "P131": 140550, "P740": 143221, "P127": 156300,
}  # fmt: skip


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield one question a triple, relations in numeric order; `path` is the release's folder.

    Relations without a published question are left out, as in the paper. Raises SourceError.
    """
    patterns, triples = path / "graphs_json", path / "trex_lms_vocab"
    relations = [name for name in TEMPLATES if (patterns / f"{name}.jsonl").exists()]
    if not relations:
        raise SourceError("no relation files", where=str(patterns), remedy="put the original folder there")
    for relation in relations:
        for record in read_json_lines(triples / f"{relation}.jsonl"):
            subject = record.text("sub_label")
            yield _triple(relation, subject, record.text("obj_label"))


def from_qa(record: Record, split: str) -> SourceRow:
    """Read a published line and recover relation and subject where they are certain. Raises SourceError.

    A template that one relation owns tells the relation; a shared one tells it only for an
    evaluation question whose row is known.
    """
    row = shared_row(record)
    fitting = _fitting_relations(row.question)
    if not fitting:
        raise record.fault("question", row.question, "must be made from one of the published templates")
    if split == "in_domain" and row.source_row is not None:
        relation = _drawn_relation(record, row.source_row)
        if relation not in fitting:
            raise record.fault("source_row", row.source_row, f"was drawn from {relation}, whose template differs")
        return _with_relation(row, relation, fitting[relation])
    if len(fitting) == 1:
        return _with_relation(row, *next(iter(fitting.items())))
    return replace(row, subject=next(iter(fitting.values())))


def from_hub(record: Record) -> SourceRow:
    """Read one row of the Hub's table. Raises SourceError, also for a relation without a published question."""
    relation = record.text("relation").removesuffix(".jsonl")
    if relation not in TEMPLATES:
        raise record.fault("relation", relation, "must be one of the published relations")
    return _triple(relation, record.text("subject"), record.text("object"))


def select_hub_split(table: Sequence[SourceRow], split: str) -> list[SourceRow]:
    """Draw the evaluation rows from the whole table; training rows are those that equal none of them.

    Equal means the same question and gold, so every copy of a drawn row goes. The rows come in the
    paper's order. Raises CountError when the table has another size, SourceError when a drawn row's
    relation is not the published one.
    """
    if len(table) != N_TABLE:
        raise CountError(
            f"the ParaRel table must have {N_TABLE:,} rows", value=len(table), remedy="use the authors' files: --qa-dir"
        )
    drawn = [table[index] for index in _draw()]
    for index, row in zip(_draw(), drawn, strict=True):
        if row.relation != _relation_at(index):
            raise SourceError(
                f"row {index} of the ParaRel table must be of {_relation_at(index)}: this is not the paper's order",
                value=row.relation,
                remedy="use the authors' files: --qa-dir",
            )
    texts = {(row.question, row.answers) for row in drawn}
    rows = drawn if split == "in_domain" else [row for row in table if (row.question, row.answers) not in texts]
    return [replace(row, source_row=place) for place, row in enumerate(rows)]


def _triple(relation: str, subject: str, gold: str) -> SourceRow:
    return _with_relation(SourceRow(question=_ask(TEMPLATES[relation], subject), answers=(gold,)), relation, subject)


def _with_relation(row: SourceRow, relation: str, subject: str) -> SourceRow:
    repaired = REPAIRED_TEMPLATES.get(relation)
    question = None if repaired is None else _ask(repaired, subject)
    return replace(row, relation=relation, subject=subject, question_repaired=question)


def _ask(template: str, subject: str) -> str:
    return template.replace("[X]", subject)


def _fitting_relations(question: str) -> dict[str, str]:
    """Map each relation whose template fits best, leaving the shortest subject, to that subject."""
    subjects = {}
    for relation, template in TEMPLATES.items():
        before, after = template.split("[X]")
        if match := re.fullmatch(f"{re.escape(before)}(.+){re.escape(after)}", question):
            subjects[relation] = match[1]
    shortest = min(map(len, subjects.values()), default=0)
    return {relation: subject for relation, subject in subjects.items() if len(subject) == shortest}


def _drawn_relation(record: Record, source_row: int) -> str:
    drawn = _draw()
    if source_row >= len(drawn):
        raise record.fault("source_row", source_row, f"must be below {len(drawn)}")
    return _relation_at(drawn[source_row])


def _relation_at(table_row: int) -> str:
    """Return the relation of a drawn row of the table."""
    return list(_BLOCKS)[bisect_right(list(_BLOCKS.values()), table_row) - 1]


@cache
def _draw() -> Sequence[int]:
    """Repeat the published draw: table row of each evaluation question, in file order."""
    return random.Random(DRAW_SEED).sample(range(N_TABLE), N_DRAWN)


_HUB_TABLE = HubFiles(
    repo="coastalcph/pararel_patterns",
    pattern="*.parquet",
    revision="aadfae52549bb0eb5b6729b27f0d8240d4f55f4f",
    columns=("relation", "subject", "object"),
)

BUILDER = SourceBuilder(
    key="pararel",
    title="ParaRel",
    counts={"train": 134_199, "in_domain": 3_000},
    release_files={},
    qa_files={"train": "pararel_patterns/train.jsonl", "in_domain": "pararel_patterns/test.jsonl"},
    hub_files={"train": _HUB_TABLE, "in_domain": _HUB_TABLE},
    licence=Licence(
        spdx="unclear: patterns MIT; triples from T-REx through LAMA, whose terms were not settled",
        attribution="ParaRel (Elazar et al., 2021); triples from T-REx (Elsahar et al., 2018)",
        url="https://github.com/yanaiela/pararel",
        note="see docs/decisions/001-unclear-licences.md",
    ),
    parse_release=parse_release,
    from_hub=from_hub,
    from_qa=from_qa,
    select_hub_split=select_hub_split,
    embedded_files={"in_domain": EmbeddedFile(name="test.jsonl")},
)

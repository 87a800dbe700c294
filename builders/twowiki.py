"""2WikiMultihopQA: one JSON list; one gold a question, further names of it in `id_aliases.json`.

The alias file came with the second release of the data. Where it lies beside the question file,
its aliases and demonyms of `answer_id` are golds of the clean text, as in the official scorer.
The layout tells the kind of question (`type`), not its number of hops.

The Hub's repository still holds a loading script, so its Parquet files are read by path. They have
no file of further names.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow, canonical_first
from builders.raw import Record, read_json_array, read_json_lines

ALIAS_FILE = "id_aliases.json"


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `train.json` or `dev.json`. Raises SourceError."""
    names = _read_aliases(path.with_name(ALIAS_FILE))
    for record in read_json_array(path):
        gold = record.text("answer")
        aliases = names.get(record.optional_text("answer_id") or "", [])
        yield SourceRow(
            question=record.text("question"),
            answers=(gold,),
            answers_repaired=canonical_first(gold, aliases) if aliases else None,
        )


def from_hub(record: Record) -> SourceRow:
    """Read one row of the Hub's Parquet. Raises SourceError."""
    return SourceRow(question=record.text("question"), answers=(record.text("answer"),))


def _hub_files(split: str) -> HubFiles:
    return HubFiles(
        repo="xanhho/2WikiMultihopQA",
        pattern=f"{split}.parquet",
        revision="612bc5039a457880d9e7d84c3b0a4cf154b70e4f",
        columns=("question", "answer"),
    )


def _read_aliases(path: Path) -> Mapping[str, list[str]]:
    """Map a Wikidata id to its further names; empty where the release has no alias file."""
    if not path.exists():
        return {}
    return {record.text("Q_id"): record.texts("aliases") + record.texts("demonyms") for record in read_json_lines(path)}


BUILDER = SourceBuilder(
    key="2wiki",
    title="2WikiMultihopQA",
    counts={"train": 167_454, "in_domain": 12_576},
    release_files={"train": "train.json", "in_domain": "dev.json"},
    qa_files={"train": "2wikimultihopqa/train.jsonl", "in_domain": "2wikimultihopqa/dev.jsonl"},
    hub_files={"train": _hub_files("train"), "in_domain": _hub_files("dev")},
    licence=Licence(
        spdx="Apache-2.0",
        attribution="2WikiMultihopQA (Ho, Duong Nguyen, Sugawara and Aizawa, 2020)",
        url="https://github.com/Alab-NII/2wikimultihop",
    ),
    parse_release=parse_release,
    from_hub=from_hub,
    embedded_files={"in_domain": EmbeddedFile(name="dev.jsonl")},
)

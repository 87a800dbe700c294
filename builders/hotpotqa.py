"""HotpotQA: one JSON list; one gold a question.

`type` (bridge, comparison) is the kind of question and `level` its difficulty; the layout tells
neither a number of hops nor the kind of answer. The Hub's Parquet has both fields under the same names.
"""

from collections.abc import Iterator
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow
from builders.raw import Record, read_json_array


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `hotpot_train_v1.1.json` or a dev file. Raises SourceError."""
    return map(_row, read_json_array(path))


def _row(record: Record) -> SourceRow:
    return SourceRow(question=record.text("question"), answers=(record.text("answer"),))


def _hub_files(split: str) -> HubFiles:
    return HubFiles(
        repo="hotpotqa/hotpot_qa",
        pattern=f"distractor/{split}-*.parquet",
        revision="1908d6afbbead072334abe2965f91bd2709910ab",
        columns=("question", "answer"),
    )


BUILDER = SourceBuilder(
    key="hotpotqa",
    title="HotpotQA",
    counts={"train": 90_447, "in_domain": 7_405},
    release_files={"train": "hotpot_train_v1.1.json", "in_domain": "hotpot_dev_distractor_v1.json"},
    qa_files={"train": "hq/train.jsonl", "in_domain": "hq/dev.jsonl"},
    hub_files={"train": _hub_files("train"), "in_domain": _hub_files("validation")},
    licence=Licence(
        spdx="CC-BY-SA-4.0",
        attribution="HotpotQA (Yang, Qi, Zhang, Bengio, Cohen, Salakhutdinov and Manning, 2018)",
        url="https://hotpotqa.github.io",
    ),
    parse_release=parse_release,
    from_hub=_row,
    embedded_files={
        "train": EmbeddedFile(name="hotpot_train_v1.1.json", layout="release"),
        "in_domain": EmbeddedFile(name="dev.jsonl"),
    },
)

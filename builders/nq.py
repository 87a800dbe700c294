"""NQ-Open: JSON lines of {"question", "answer": [texts]}, lower case, no question mark.

The paper's "NQ test" is the original dev file in another order. The Hub's Parquet has the same two fields.
"""

from collections.abc import Iterator
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow
from builders.qa_layout import shared_row
from builders.raw import read_json_lines


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `NQ-open.train.jsonl` or `NQ-open.dev.jsonl`. Raises SourceError."""
    return map(shared_row, read_json_lines(path))


def _hub_files(split: str) -> HubFiles:
    return HubFiles(
        repo="google-research-datasets/nq_open",
        pattern=f"nq_open/{split}-*.parquet",
        revision="5dd9790a83002ad084ddeb7c420dc716852c6f28",
        columns=("question", "answer"),
    )


BUILDER = SourceBuilder(
    key="nq",
    title="NQ-Open",
    counts={"train": 87_925, "in_domain": 3_610},
    release_files={"train": "NQ-open.train.jsonl", "in_domain": "NQ-open.dev.jsonl"},
    qa_files={"train": "nq/train.jsonl", "in_domain": "nq/test.jsonl"},
    hub_files={"train": _hub_files("train"), "in_domain": _hub_files("validation")},
    licence=Licence(
        spdx="CC-BY-SA-3.0",
        attribution="Natural Questions (Kwiatkowski et al., 2019); open version by Lee, Chang and Toutanova (2019)",
        url="https://github.com/google-research-datasets/natural-questions",
    ),
    parse_release=parse_release,
    from_hub=shared_row,
    embedded_files={"in_domain": EmbeddedFile(name="test.jsonl")},
)

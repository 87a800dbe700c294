"""Real records of every source, in the original layout and in the authors'."""

from collections.abc import Callable
from pathlib import Path

import pytest

from builders import BUILDERS
from builders.base import SourceRow
from builders.qa_layout import read_qa

RAW_DIR = Path(__file__).resolve().parents[1] / "fixtures" / "raw"

RELEASE_SAMPLES = {
    "nq": "NQ-open.dev.jsonl",
    "triviaqa": "unfiltered-web-dev.json",
    "hotpotqa": "hotpot_train_v1.1.json",
    "2wiki": "2wiki/dev.json",
    "pararel": "pararel",
    "squad": "dev-v1.1.json",
    "webquestions": "webquestions.examples.test.json",
    "cwq": "ComplexWebQuestions_test.json",
    "musique": "musique_ans_v1.0_train.jsonl",
    "popqa": "popQA.tsv",
    "mmlu": "mmlu/test",
}


@pytest.fixture(scope="session")
def raw_dir() -> Path:
    return RAW_DIR


@pytest.fixture(scope="session")
def release_rows() -> Callable[[str], list[SourceRow]]:
    return lambda key: list(BUILDERS[key].parse_release(RAW_DIR / RELEASE_SAMPLES[key]))


@pytest.fixture(scope="session")
def qa_rows() -> Callable[[str], list[SourceRow]]:
    def read(key: str) -> list[SourceRow]:
        builder = BUILDERS[key]
        split = "train" if key == "hotpotqa" else list(builder.counts)[-1]
        return list(read_qa(builder, split, RAW_DIR / "qa" / f"{key}.jsonl"))

    return read

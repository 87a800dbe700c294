"""HonestyBench: does a language model know when it is right?"""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from honestybench.errors import HonestyBenchError
from honestybench.records import AnnotatedExample, ConfidenceRow, Generation, Judgement, QAExample, example_id

if TYPE_CHECKING:
    import datasets
    import pyarrow as pa
    from numpy.typing import ArrayLike

    from honestybench.scorecard import ScoreTable

__version__ = "0.1.0"

__all__ = [
    "AnnotatedExample",
    "ConfidenceRow",
    "Generation",
    "HonestyBenchError",
    "Judgement",
    "QAExample",
    "__version__",
    "example_id",
    "load",
    "score",
]

SAMPLE = Path(__file__).parent / "sample"
"""The embedded release: a few real questions of every source, annotated by a small LLM."""


@overload
def load(
    config: str | None = None,
    split: str | None = None,
    *,
    release: str | Path | None = None,
    as_dataset: Literal[False] = False,
) -> "pa.Table": ...


@overload
def load(
    config: str | None = None,
    split: str | None = None,
    *,
    release: str | Path | None = None,
    as_dataset: Literal[True],
) -> "datasets.Dataset": ...


def load(
    config: str | None = None,
    split: str | None = None,
    *,
    release: str | Path | None = None,
    as_dataset: bool = False,
) -> "pa.Table | datasets.Dataset":
    """Load a config of a release as a pyarrow Table, without network.

    `release` is a folder with a `manifest.json`, the embedded sample for None; `config` is its
    default config for None; `split` is one of its splits or the alias "test", all rows for None.
    `as_dataset` gives a `datasets.Dataset` instead. Raises: UnknownNameError for a config or
    split the release does not have, ReleaseError for a damaged one, MissingExtraError.
    """
    from honestybench.release import read_manifest
    from honestybench.shards import read_table

    folder = SAMPLE if release is None else Path(release)
    name = read_manifest(folder).content["default_config"] if config is None else config
    table = read_table(folder, name, split)
    if not as_dataset:
        return table
    try:
        from datasets import Dataset
    except ImportError as error:
        from honestybench.errors import MissingExtraError

        raise MissingExtraError(
            "datasets", needed_for="load(as_dataset=True)", install="pip install datasets, or leave as_dataset out"
        ) from error
    return Dataset(table)


def score(confidence: "ArrayLike", correct: "ArrayLike") -> "ScoreTable":
    """Score confidences in [0, 1] against labels 0 and 1 (or booleans), one for one.

    Returns `n`, `n_correct`, `flags`, `metrics` (name -> `value`, `ci_low`, `ci_high`, `n`, `reason`; see
    `honestybench.metrics.METRICS`) and `ece_10_null`. An undefined value is None with a reason.
    Raises: DataError for confidences or labels out of range or of different length.
    """
    from honestybench.scoring import score

    return score(confidence, correct)

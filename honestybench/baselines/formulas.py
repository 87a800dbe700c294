"""The formulas of the baselines: each gives a confidence in [0, 1], higher = more likely correct, for one row."""

import hashlib
import math
from typing import Any

from honestybench.baselines.answers import semantic_set_sizes, words
from honestybench.baselines.background import Background, StoredMean
from honestybench.baselines.rouge import rouge_l
from honestybench.errors import DataError

Row = dict[str, Any]
"""One row of a release by column: the example's `id` and the columns that the baseline names."""

LOGPROB_TOLERANCE = 1e-6
"""How far float32 rounding may carry a log-probability above 0."""

RANDOM_SEED = 0


def sequence_probability(row: Row, _: Background) -> float:
    """Compute exp(sum of log p) of the greedy answer, the probability of its tokens. Raises: DataError."""
    return _probability(row["greedy_cumulative_logprob"], row["id"])


def token_probability(row: Row, _: Background) -> float:
    """Compute exp(mean log p) of the greedy answer, the geometric mean of its tokens' probabilities. Raises: DataError.

    An answer without tokens has probability 1, by this formula and by the ones beside it.
    """
    return _probability(row["greedy_cumulative_logprob"] / max(1, len(row["greedy_logprobs"])), row["id"])


def minimum_probability(row: Row, _: Background) -> float:
    """Compute exp(lowest log p) of the greedy answer, the probability of its least likely token. Raises: DataError."""
    return _probability(min(row["greedy_logprobs"], default=0.0), row["id"])


def lexical_consistency(row: Row, _: Background) -> float:
    """Compute the mean ROUGE-L F of the greedy answer against each sampled one."""
    greedy = words(row["greedy_response"])
    found: dict[str, float] = {}
    for text in row["sampling_response"]:
        if text not in found:
            found[text] = rouge_l(greedy, words(text))
    # The sum may round to a hair above 1 for twenty equal answers.
    return min(1.0, math.fsum(found[text] for text in row["sampling_response"]) / len(row["sampling_response"]))


def semantic_consistency(row: Row, background: Background) -> float:
    """Give the stored self-consistency; where no verdict parsed, the mean that stands in for it. Raises: DataError."""
    return _stored(row["self_consistency"], background.self_consistency, row["id"])


def few_semantic_sets(row: Row, _: Background) -> float:
    """Map the number of semantic sets of N sampled answers to 1 - (sets - 1) / (N - 1): one set is 1, N sets are 0."""
    sizes = _set_sizes(row)
    return 1 - (len(sizes) - 1) / (sum(sizes) - 1)


def low_semantic_entropy(row: Row, _: Background) -> float:
    """Map the entropy H of the semantic sets of N sampled answers to 1 - H / log N: one set is 1, N sets are 0.

    It is the discrete semantic entropy of Farquhar et al. (2024), in nats: a set's probability is its share of the
    answers.
    """
    sizes = _set_sizes(row)
    n = sum(sizes)
    # 1 - H / log N = sum of c log c / (N log N) over the sizes c: exact at both ends, where 1 - H / log N rounds.
    return math.fsum(size * math.log(size) for size in sizes) / (n * math.log(n))


def constant(row: Row, background: Background) -> float:
    """Give the accuracy on train; without train labels the mean self-consistency. Raises: DataError."""
    if background.base_rate is not None:
        return background.base_rate
    if background.self_consistency.value is None:
        raise DataError("neither train labels nor a consistency verdict to take a constant from", where=row["id"])
    return background.self_consistency.value


def random(row: Row, _: Background) -> float:
    """Draw uniformly from [0, 1) by a hash of the seed and the id: the same in any order and any set of rows."""
    digest = hashlib.sha256(f"{RANDOM_SEED}\0{row['id']}".encode()).digest()
    return float((int.from_bytes(digest[:8]) >> 11) / (1 << 53))


def oracle(row: Row, background: Background) -> float:
    """Give the share of the sampled answers that were judged correct. It reads evaluation labels. Raises: DataError."""
    return _stored(row["sample_accuracy"], background.sample_accuracy, row["id"])


def _set_sizes(row: Row) -> tuple[int, ...]:
    return semantic_set_sizes(row["greedy_response"], row["sampling_response"], row["consistency_judgement"])


def _stored(value: float | None, mean: StoredMean, example_id: str) -> float:
    found = mean.value if value is None else value
    if found is None:
        raise DataError("no verdict of the release that this baseline reads could be parsed", where=example_id)
    return float(found)


def _probability(logprob: float, example_id: str) -> float:
    if not logprob <= LOGPROB_TOLERANCE:
        raise DataError("a log-probability is above 0", where=example_id, value=logprob)
    return math.exp(min(0.0, logprob))

"""The records that flow through HonestyBench, and the identity of an example.

QAExample -> Generation -> Judgement -> AnnotatedExample; ConfidenceRow is what a method submits.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from honestybench.errors import DataError

TRACKS: tuple[str, ...] = ("in_domain", "ood", "mmlu")
SPLITS: tuple[str, ...] = ("train", *TRACKS)
N_SAMPLED = 20
SUM_TOLERANCE = 1e-3
"""Nats by which a sum of log-probabilities may be off: they come in float32."""

Criterion = Literal["correctness", "consistency"]
Verdict = Literal["yes", "no", "unparsed"]
VERDICTS: tuple[str, ...] = get_args(Verdict)

FLAGS: dict[str, str] = {
    "duplicate": "repeats an earlier example of its source and split: same question, same golds",
    "homonym": "shares its normalised question with an example of its source whose golds are disjoint",
    "mojibake": "the question or a gold is UTF-8 read as Latin-1",
    "empty_gold": "a gold is empty or blank",
    "degenerate_gold": "a gold that is not empty normalises to nothing",
    "short_gold": "a normalised gold has at most 2 characters",
    "yes_no": "every gold is yes or no",
    "binary_choice": "the question offers two options and the gold is one of them",
    "gold_in_question": "a gold stands in the question on word borders",
    "needs_context": "the question points at a text or event that it does not name",
    "wrong_template": "the question was made from the template of another relation",
    "overlap_eval": "a training question that is also an evaluation question, once normalised",
    "overlap_train": "an evaluation question that is also a training question, once normalised",
}
"""The closed vocabulary of `QAExample.flags`: name -> definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QAExample:
    """One question with its gold answers, in the published ("paper") text.

    `question_clean` and `answers_clean` are None where cleaning changes nothing. `cluster` is
    shared by examples with equal normalised questions. `source_row` is the 0-based row in the
    published file's order, None where unknown. Raises DataError when a field is out of contract.
    """

    id: str
    source: str
    split: str
    question: str
    answers: tuple[str, ...]
    cluster: str
    question_clean: str | None = None
    answers_clean: tuple[str, ...] | None = None
    flags: tuple[str, ...] = ()
    source_row: int | None = None
    hops: int | None = None
    relation: str | None = None
    popularity: int | None = None
    subject: str | None = None
    answer_type: str | None = None
    choices: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise DataError("unknown split", where=self.id, value=self.split, remedy=f"use one of {', '.join(SPLITS)}")
        if not self.answers:
            raise DataError("an example needs at least one gold answer", where=self.id)
        unknown = sorted(set(self.flags) - FLAGS.keys())
        if unknown:
            raise DataError("unknown flag", where=self.id, value=unknown[0], remedy=f"use one of {', '.join(FLAGS)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One decoded answer.

    `tokens` and `logprobs` (nats, one per token, the token that ended the answer included) are empty
    unless they were asked for; `cumulative_logprob` (nats) is their sum, None without them.
    """

    text: str
    finish_reason: str
    tokens: tuple[str, ...] = ()
    logprobs: tuple[float, ...] = ()
    cumulative_logprob: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One verdict on one answer; `raw` is the judge's own words where it has any."""

    criterion: Criterion
    verdict: Verdict
    raw: str | None = None

    @property
    def label(self) -> int | None:
        """1 for yes, 0 for no, None for unparsed."""
        return {"yes": 1, "no": 0, "unparsed": None}[self.verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedExample:
    """One example with one LLM's greedy answer, its sampled answers and all verdicts.

    `greedy_correctness` is the evaluation label; the two tuples hold one verdict per sampled
    answer. Labels are 1, 0 or None (unparsed).
    """

    example: QAExample
    greedy: Generation
    sampled: tuple[Generation, ...]
    greedy_correctness: int | None
    sampling_correctness: tuple[int | None, ...]
    consistency_judgement: tuple[int | None, ...]

    def __post_init__(self) -> None:
        sizes = {len(self.sampled), len(self.sampling_correctness), len(self.consistency_judgement)}
        if sizes != {N_SAMPLED}:
            raise DataError(
                f"an annotated example needs {N_SAMPLED} sampled answers and as many verdicts of each kind",
                where=self.example.id,
                value=sorted(sizes),
            )

    @property
    def self_consistency(self) -> float | None:
        """Share of the parsed consistency verdicts that are 1, in [0, 1]; None when none parsed."""
        return _mean_label(self.consistency_judgement)

    @property
    def sample_accuracy(self) -> float | None:
        """Share of the parsed correctness verdicts on sampled answers that are 1; None when none parsed."""
        return _mean_label(self.sampling_correctness)

    @property
    def n_unparsed(self) -> int:
        """Verdicts of this example, of all kinds, that could not be parsed."""
        labels = (self.greedy_correctness, *self.sampling_correctness, *self.consistency_judgement)
        return sum(label is None for label in labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceRow:
    """One confidence in [0, 1] for one example; higher means more likely correct."""

    id: str
    confidence: float


def _mean_label(labels: Sequence[int | None]) -> float | None:
    parsed = [label for label in labels if label is not None]
    return sum(parsed) / len(parsed) if parsed else None


def canonical_json(value: object) -> str:
    """Write a value as JSON with sorted keys and no blanks: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256_hex(text: str) -> str:
    """Hash a text's UTF-8 bytes; 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def example_id(source: str, split: str, question: str, answers: Iterable[str], *, copy: int = 1) -> str:
    """Derive an example's id from its content: `<source>-<split>-<12 hex>[-k]`.

    The digest covers the source, the NFC question and the sorted set of golds, so the id is the
    same from every layout, on every machine and for every LLM. `copy` numbers exact duplicates
    inside a split from 1, by file order; the first has no suffix.
    """
    content = canonical_json([source, unicodedata.normalize("NFC", question), sorted(set(answers))])
    suffix = "" if copy == 1 else f"-{copy}"
    return f"{source}-{split}-{sha256_hex(content)[:12]}{suffix}"

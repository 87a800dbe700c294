"""Questions of a release as the trainer sees them: rendered prompts as token ids, and targets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestybench.annotate.prompt import PromptTemplate
from honestybench.errors import DataError, UsageError
from honestybench.records import N_SAMPLED
from honestybench.release import read_manifest
from honestybench.shards import iter_batches

JUDGED = {"self_consistency": "consistency_judgement", "sample_accuracy": "sampling_correctness"}
"""Target -> the column of verdicts that it is the mean of."""

MIN_PREFIX = 8
"""A shared beginning shorter than this is not worth a pass of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: `is_choice` says that it lists choices and takes the prompt for them."""

    id: str
    source: str
    text: str
    is_choice: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Tokens:
    """Prompts as token ids: `prefix` begins them all, `suffixes` hold the rest of each (int32, at least one token)."""

    prefix: NDArray[np.int32]
    suffixes: Sequence[NDArray[np.int32]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each suffix."""
        return np.array([len(suffix) for suffix in self.suffixes], dtype=np.int64)

    @property
    def n_prompt_tokens(self) -> NDArray[np.int64]:
        """Tokens of each whole prompt."""
        return self.lengths + len(self.prefix)


def read_questions(release: Path, llm: str, split: str) -> list[Question]:
    """Read the questions of one split. Raises: UnknownNameError, UsageError, ReleaseError."""
    return [_question(row) for row in _rows(release, llm, split, ())]


def read_targets(
    release: Path, llm: str, split: str, target: str, targets_from: int = N_SAMPLED
) -> tuple[list[Question], NDArray[np.float64]]:
    """Read the questions of a split whose target is known, with their targets in [0, 1].

    The target is the mean over the parsed verdicts among the first `targets_from`, or the greedy answer's label.
    Raises: UsageError when the release has no such split or no known target.
    """
    if split not in read_manifest(release).splits(llm):
        raise UsageError(
            f"the release has no {split} questions",
            where=str(release),
            remedy=f"build one whose splits include {split}, or train on another release",
        )
    questions, targets = [], []
    for row in _rows(release, llm, split, (JUDGED.get(target, target),)):
        verdicts = row[JUDGED[target]][:targets_from] if target in JUDGED else [row[target]]
        parsed = [verdict for verdict in verdicts if verdict is not None]
        if parsed:
            questions.append(_question(row))
            targets.append(sum(parsed) / len(parsed))
    if not questions:
        raise UsageError(f"no question of {split} has a known {target}", where=str(release))
    return questions, np.array(targets, dtype=np.float64)


def encode(tokenizer: Any, template: PromptTemplate, text: str) -> list[int]:
    """Render a question as the LLM was asked it, as token ids: the chat template, with nothing before or after.

    Raises: UsageError for a tokenizer without a chat template.
    """
    if not tokenizer.chat_template:
        what = "the LLM's tokenizer has no chat template"
        raise UsageError(what, where=str(tokenizer.name_or_path), remedy="use an instruct model")
    rendered = tokenizer.apply_chat_template(
        [asdict(message) for message in template.render(question=text)],
        tokenize=False,
        add_generation_prompt=not template.has_stub,
        continue_final_message=template.has_stub,
    )
    # The template writes its own special tokens; a tokenizer that adds them again would double the first.
    ids: list[int] = tokenizer(rendered, add_special_tokens=False)["input_ids"]
    return ids


def tokenise(
    tokenizer: Any, prompts: Mapping[str, PromptTemplate], questions: Sequence[Question], share_prefix: bool = True
) -> Tokens:
    """Encode all questions; `prompts` maps "qa" and "mmlu" to templates. Raises: DataError for an empty prompt."""
    encoded = []
    for question in questions:
        role = "mmlu" if question.is_choice else "qa"
        if role not in prompts:
            raise UsageError(f"no prompt is known for such questions: {role}", where=question.id)
        ids = encode(tokenizer, prompts[role], question.text)
        if not ids:
            raise DataError("the prompt has no token", where=question.id)
        encoded.append(np.array(ids, dtype=np.int32))
    n_shared = _shared(encoded) if share_prefix else 0
    n_shared = n_shared if n_shared >= MIN_PREFIX else 0
    return Tokens(prefix=encoded[0][:n_shared], suffixes=[ids[n_shared:] for ids in encoded])


def refuse_long(questions: Sequence[Question], tokens: Tokens, limit: int | None) -> None:
    """Refuse a prompt that is longer than the LLM can take; `limit` None knows no bound. Raises: DataError."""
    lengths = tokens.n_prompt_tokens[: len(questions)]
    longest = int(lengths.argmax())
    if limit and lengths[longest] > limit:
        raise DataError(
            f"the prompt has more tokens than the {limit} that the LLM can take",
            where=questions[longest].id,
            value=int(lengths[longest]),
            remedy="leave the question out",
        )


def _shared(encoded: Sequence[NDArray[np.int32]]) -> int:
    """Count the tokens that all begin with, leaving each at least one; one prompt alone shares nothing."""
    first, shared = encoded[0], 0 if len(encoded) < 2 else min(len(ids) for ids in encoded) - 1
    for ids in encoded:
        differs = np.flatnonzero(ids[:shared] != first[:shared])
        shared = int(differs[0]) if len(differs) else shared
    return shared


def _question(row: Mapping[str, Any]) -> Question:
    return Question(id=row["id"], source=row["source"], text=row["question"], is_choice=row["choices"] is not None)


def _rows(release: Path, llm: str, split: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for batch in iter_batches(release, llm, split, ("id", "source", "question", "choices", *columns)):
        yield from batch.to_pylist()

"""The questions of a release as a pass asks them: evaluation, labelled train, demonstrations."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from honestybench.annotate.prompt import PromptTemplate, load_prompt
from honestybench.engine.base import ChatRequest, Message
from honestybench.errors import UsageError
from honestybench.passes.table import Pass
from honestybench.records import TRACKS
from honestybench.release import read_manifest
from honestybench.shards import read_table
from honestybench.subsets import label_order, label_subset

_COLUMNS = ("id", "source", "split", "question", "greedy_response", "sample_accuracy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with the LLM's greedy answer; `accuracy`, the label, is kept for train only."""

    id: str
    source: str
    split: str
    text: str
    answer: str
    accuracy: float | None = None


def evaluation_questions(release: Path, llm: str) -> list[Question]:
    """Read the questions of all tracks, by id. Raises: UnknownNameError, ReleaseError."""
    held = [split for split in read_manifest(release).splits(llm) if split in TRACKS]
    return sorted((each for split in held for each in _read(release, llm, split)), key=lambda question: question.id)


def labelled_questions(release: Path, llm: str, n_labels: int, seed: int) -> list[Question]:
    """Read the first `n_labels` train questions of a label order. Raises: UsageError where there are not so many."""
    held = _read(release, llm, "train") if "train" in read_manifest(release).splits(llm) else []
    labelled = {question.id: question for question in held if question.accuracy is not None}
    if n_labels > len(labelled):
        raise UsageError(
            f"the release has {len(labelled)} labelled train questions, {n_labels} are needed",
            where=str(release),
            remedy="choose passes without demonstrations, fewer labels, or a release with more train questions",
        )
    order = label_order({question.id: question.source for question in labelled.values()}, seed)
    return [labelled[example_id] for example_id in label_subset(order, n_labels)]


class Asker:
    """Turns questions into requests of one pass."""

    def __init__(self, chosen: Pass, demonstrations: Sequence[Question]) -> None:
        self._template = load_prompt(chosen.template)
        self._before = tuple(
            message for question in demonstrations for message in _demonstration(self._template, question)
        )

    def request(self, question: Question) -> ChatRequest:
        """Render one question behind the demonstrations. Nothing is sampled, so the seed is 0."""
        return ChatRequest(messages=(*self._before, *_render(self._template, question)), seed=0)


def _render(template: PromptTemplate, question: Question) -> tuple[Message, ...]:
    return template.render(question=question.text, answer=question.answer)


def _demonstration(template: PromptTemplate, question: Question) -> tuple[Message, ...]:
    """Render a labelled question as if the LLM had replied with its label."""
    *turns, stub = _render(template, question)
    return (*turns, Message(role="assistant", content=f"{stub.content} {question.accuracy:.2f}"))


def _read(release: Path, llm: str, split: str) -> list[Question]:
    columns = _COLUMNS if split == "train" else _COLUMNS[:-1]
    return [
        Question(
            id=row["id"],
            source=row["source"],
            split=row["split"],
            text=row["question"],
            answer=row["greedy_response"],
            accuracy=row.get("sample_accuracy"),
        )
        for row in read_table(release, llm, split, columns).to_pylist()
    ]

"""What a pass came to: confidences, how many replies could be read, and what system.yaml says of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from honestybench.annotate.prompt import load_prompt
from honestybench.errors import JudgeError
from honestybench.passes.number import parse_number
from honestybench.passes.questions import Question
from honestybench.passes.table import Pass
from honestybench.records import TRACKS, ConfidenceRow, Generation


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The confidences of one pass for all evaluation questions.

    `parsed` holds, by track and by source, how many replies could be read, of how many. `stand_in` is the mean of the
    confidences that could be read: unparsed rows have it. `mass` is the mean P(yes) + P(no), None for a pass without
    options: near 0 the LLM would have said something else.
    """

    rows: list[ConfidenceRow]
    parsed: dict[str, tuple[int, int]]
    n_unparsed: int
    stand_in: float
    mass: float | None

    @property
    def rates(self) -> str:
        """The parse rates as text: `in_domain 95%, …`."""
        return ", ".join(f"{group} {read / total:.1%}" for group, (read, total) in self.parsed.items())


def confidence(reply: Generation) -> float | None:
    """Read one reply (see `Runner.replies`): P(yes) / (P(yes) + P(no)), or the number that was said, None for none."""
    if not reply.tokens:
        return parse_number(reply.text, is_cut=reply.finish_reason == "length")
    yes, no = reply.logprobs
    if yes == no == -math.inf:
        return None
    # The logistic function of yes - no, written so that neither side overflows.
    return math.exp(min(0.0, yes - no)) / (1 + math.exp(-abs(yes - no)))


def read_outcome(
    name: str, questions: Sequence[Question], replies: Sequence[Generation], allow_unparsed: float
) -> Outcome:
    """Turn replies into confidences; `allow_unparsed` is the highest share of unparsed ones.

    Raises: JudgeError, naming the rate, where more are unparsed, or all.
    """
    read = [confidence(reply) for reply in replies]
    known = [value for value in read if value is not None]
    n_unparsed = len(read) - len(known)
    if not known or n_unparsed > allow_unparsed * len(read):
        share = n_unparsed / len(read) if read else 1.0
        raise JudgeError(
            f"{share:.1%} of the replies hold no confidence that can be read, {allow_unparsed:.1%} are allowed",
            where=name,
            value=next((reply.text for reply, value in zip(replies, read, strict=True) if value is None), None),
            remedy="leave this pass out with --only, or raise --allow-unparsed" if known else "leave this pass out",
        )
    stand_in = math.fsum(known) / len(known)
    masses = [math.fsum(math.exp(logprob) for logprob in reply.logprobs) for reply in replies if reply.tokens]
    return Outcome(
        rows=confidence_rows(questions, replies, stand_in),
        parsed=_parsed(questions, read),
        n_unparsed=n_unparsed,
        stand_in=stand_in,
        mass=float(np.mean(masses)) if masses else None,
    )


def confidence_rows(
    questions: Sequence[Question], replies: Sequence[Generation], stand_in: float
) -> list[ConfidenceRow]:
    """Pair ids with confidences; unparsed replies get the stand-in."""
    read = [confidence(reply) for reply in replies]
    return [
        ConfidenceRow(id=question.id, confidence=stand_in if value is None else value)
        for question, value in zip(questions, read, strict=True)
    ]


def describe(chosen: Pass, outcome: Outcome) -> dict[str, object]:
    """Write what system.yaml says of a pass, its parse rates or mass included."""
    total = len(outcome.rows)
    template = load_prompt(chosen.template)
    notes = [chosen.description, f"Prompt {template.name}, sha256 {template.sha256[:12]}."]
    if outcome.mass is not None:
        notes.append(f"Mean P(yes) + P(no): {outcome.mass:.3f}.")
    else:
        notes.append(f"Replies that could be read: {total - outcome.n_unparsed} of {total} ({outcome.rates}).")
    if outcome.n_unparsed:
        notes.append(f"Unread replies: {outcome.n_unparsed}; they got the mean of the others, {outcome.stand_in:.3f}.")
    return {
        "name": chosen.name,
        "family": chosen.family,
        "method_class": "training_free",
        "sees": chosen.sees,
        "labels_used": chosen.labels,
        "samples_per_question": 0,
        "extra_passes": chosen.extra_passes,
        "selected_on": "none",
        "description": " ".join(notes),
        "paper": chosen.paper,
    }


def _parsed(questions: Sequence[Question], read: Sequence[float | None]) -> dict[str, tuple[int, int]]:
    """Count by track, in the order of TRACKS, then by source where that is no track's name."""
    counts: dict[str, tuple[int, int]] = {}
    sources = sorted({question.source for question in questions} - set(TRACKS))
    for group in (*TRACKS, *sources):
        of_group = [
            value for question, value in zip(questions, read, strict=True) if group in (question.split, question.source)
        ]
        if of_group:
            counts[group] = (sum(value is not None for value in of_group), len(of_group))
    return counts

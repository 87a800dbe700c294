"""The table of the passes: what each asks of the LLM, sees and costs."""

from collections.abc import Iterable
from dataclasses import dataclass

from honestybench.engine.base import SamplingConfig
from honestybench.errors import UnknownNameError, UsageError

OPTIONS = ("yes", "no")
"""What the passes that read a probability compare."""

REPLY = SamplingConfig(max_tokens=16, stop=("\n",))
"""How a number is asked for: the greedy reply's first line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One pass. `template` names its prompt; without `options` it reads a number in the LLM's reply.

    `labels` train questions stand before each question as demonstrations. `name` to `paper` stand in system.yaml.
    """

    name: str
    family: str
    sees: str
    template: str
    description: str
    paper: str
    labels: int = 0
    extra_passes: int = 1
    options: tuple[str, ...] = ()


_VERBALIZED = "The LLM is asked for the probability that it answers correctly, before it answers; its number is read"
_YES_NO = "confidence is P(yes) / (P(yes) + P(no)) of the next token, each summed over its single-token spellings."

PASSES: dict[str, Pass] = {
    "verbalized_0": Pass(
        name="Verbalised confidence",
        family="verbalized",
        sees="question",
        template="verbalized-0",
        description=f"{_VERBALIZED}.",
        paper="https://arxiv.org/abs/2305.14975",
    ),
    "verbalized_10": Pass(
        name="Verbalised confidence, 10 demonstrations",
        family="verbalized",
        sees="question",
        template="verbalized-0",
        description=f"{_VERBALIZED}. Before it stand ten train questions with the share of their sampled answers that "
        "was judged correct.",
        paper="https://arxiv.org/abs/2305.14975",
        labels=10,
    ),
    "p_yes": Pass(
        name="P(yes): can you answer this?",
        family="self_evaluation",
        sees="question",
        template="p-yes",
        description=f"The LLM is asked whether it can answer, before it answers; {_YES_NO}",
        paper="https://arxiv.org/abs/2207.05221",
        options=OPTIONS,
    ),
    "p_true": Pass(
        name="P(true): is this answer right?",
        family="self_evaluation",
        sees="answer",
        template="p-true",
        description=f"The LLM is asked whether its greedy answer is correct; {_YES_NO}",
        paper="https://arxiv.org/abs/2207.05221",
        options=OPTIONS,
    ),
}
"""Folder name -> pass."""


def select_passes(names: Iterable[str]) -> dict[str, Pass]:
    """Pick passes by name, in the order of the table. Raises: UnknownNameError; UsageError for no name at all."""
    wanted = set(names)
    if not wanted:
        raise UsageError("no pass is named", remedy=f"name some of {', '.join(PASSES)}")
    for name in sorted(wanted - PASSES.keys()):
        raise UnknownNameError("pass", name, PASSES)
    return {name: each for name, each in PASSES.items() if name in wanted}

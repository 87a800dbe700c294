"""An engine without a model, for tests: each answer is a hash of its prompt and seed."""

import hashlib
import math
from collections.abc import Sequence

from honestybench.engine.base import ChatRequest, Provenance, SamplingConfig
from honestybench.records import Generation, canonical_json

_WORDS = ("Paris", "1989", "yes", "no", "Mozart", "the red planet", "B", "42", "Answer", "")


class ScriptedEngine:
    """Answers with one of ten fixed words, the same for equal prompt, seed, sample and temperature."""

    def __init__(self, llm: str) -> None:
        self._llm = llm

    @property
    def provenance(self) -> Provenance:
        """Name and version only: there is nothing else to say."""
        return {"engine": "scripted", "version": "1", "llm": self._llm}

    def generate(self, requests: Sequence[ChatRequest], sampling: SamplingConfig) -> list[tuple[Generation, ...]]:
        """Answer every request, in order (see `Engine.generate`)."""
        return [
            tuple(_answer(request, sampling, sample_index) for sample_index in range(sampling.n))
            for request in requests
        ]

    def option_logprobs(self, requests: Sequence[ChatRequest], options: Sequence[str]) -> list[tuple[float, ...]]:
        """Share out a probability below 1 by a hash of prompt and option (see `Engine.option_logprobs`)."""
        return [tuple(_option_logprob(request, option, len(options)) for option in options) for request in requests]

    def close(self) -> None:
        """Do nothing: no model is held."""


def _option_logprob(request: ChatRequest, option: str, n_options: int) -> float:
    prompt = [[message.role, message.content] for message in request.messages]
    digest = hashlib.sha256(canonical_json([prompt, option]).encode()).digest()
    return math.log((digest[0] + 1) / 257 / n_options)


def _answer(request: ChatRequest, sampling: SamplingConfig, sample_index: int) -> Generation:
    seed = 0 if sampling.temperature == 0.0 else request.seed
    prompt = [[message.role, message.content] for message in request.messages]
    digest = hashlib.sha256(canonical_json([prompt, seed, sample_index]).encode()).digest()
    # Sampled answers agree with the greedy one about half of the time.
    chosen = hashlib.sha256(canonical_json(prompt).encode()).digest() if digest[1] < 128 else digest
    text = _WORDS[chosen[0] % len(_WORDS)]
    if not sampling.logprobs:
        return Generation(text=text, finish_reason="stop")
    tokens = (*text.split(), "<end>")
    logprobs = tuple(-math.log(2 + digest[2 + position] / 64) for position in range(len(tokens)))
    return Generation(
        text=text, finish_reason="stop", tokens=tokens, logprobs=logprobs, cumulative_logprob=sum(logprobs)
    )

"""What every engine offers: chat requests in, generations out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from honestybench.records import Generation

Provenance = Mapping[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One prompt. A last message of role `assistant` is a stub that the LLM continues.

    `seed` (32 bits) fixes all sampled answers of this request, whatever else is in the batch.
    """

    messages: tuple[Message, ...]
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingConfig:
    """How to decode. `max_tokens` counts new tokens; `top_k` 0 means no limit; `stop` strings are cut off."""

    n: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    repetition_penalty: float = 1.0
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    logprobs: bool = False


class Engine(Protocol):
    """A loaded LLM. `provenance` says all that can change its answers."""

    @property
    def provenance(self) -> Provenance:
        """Engine, version, model file, dtype, threads … as recorded in the manifest."""

    def generate(self, requests: Sequence[ChatRequest], sampling: SamplingConfig) -> list[tuple[Generation, ...]]:
        """Answer every request, in order; each answer holds `sampling.n` generations.

        Equal calls give equal bytes on one machine, whatever was asked before.
        Raises: EngineError.
        """

    def option_logprobs(self, requests: Sequence[ChatRequest], options: Sequence[str]) -> list[tuple[float, ...]]:
        """Give, for every request and option, the log-probability (nats) that the next token spells the option.

        An option is a lower-case word; its spellings are the single tokens that are this word once blanks around it
        and case are ignored, and their probabilities add up. Temperature and penalties play no part.
        Raises: EngineError, also for an option that no token spells.
        """

    def close(self) -> None:
        """Free the model. A second call does nothing."""

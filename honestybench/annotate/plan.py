"""What a build will do, decided before anything is loaded: profile, models, prompts, hashes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from honestybench import models
from honestybench.annotate.prompt import FIELDS, PromptTemplate, load_prompt
from honestybench.engine.base import Provenance, SamplingConfig
from honestybench.errors import UnknownNameError
from honestybench.records import N_SAMPLED, canonical_json, sha256_hex


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One way to build: prompts, decoding, default LLM and judge, and which questions."""

    prompt: str
    greedy: SamplingConfig
    sampled: SamplingConfig
    llm: str | None
    dtype: str
    max_model_len: int | None
    judge: str
    questions: str


# As in the paper's released scripts: one set of sampling parameters for both passes.
_SAMPLED = SamplingConfig(n=N_SAMPLED, temperature=1.0, top_p=0.95, top_k=50, repetition_penalty=1.05)
_GREEDY = SamplingConfig(repetition_penalty=1.05, logprobs=True)


def _limited(base: SamplingConfig, max_tokens: int, stop: tuple[str, ...] = ()) -> SamplingConfig:
    return SamplingConfig(**{**asdict(base), "max_tokens": max_tokens, "stop": stop})


PROFILES: dict[str, Profile] = {
    "sample": Profile(
        prompt="sample",
        greedy=_limited(_GREEDY, 24, ("\n",)),
        sampled=_limited(_SAMPLED, 24, ("\n",)),
        llm="smollm2-135m-instruct-q4_1",
        dtype="float32",
        max_model_len=1024,
        judge="lexical",
        questions="the embedded real records of all ten sources and MMLU",
    ),
    "paper": Profile(
        prompt="paper",
        greedy=_limited(_GREEDY, 256),
        sampled=_limited(_SAMPLED, 256),
        llm=None,
        dtype="auto",
        max_model_len=None,
        judge="llm:Qwen/Qwen2.5-32B-Instruct",
        questions="all that were published, from the Hub (or --qa-dir, --raw-dir)",
    ),
}
"""The two profiles; the keys are the command line's choices."""

JUDGE_SAMPLING = SamplingConfig(max_tokens=64)
BLOCK_SIZE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationConfig:
    """All that can change a generated answer. Its hash is part of every cache key."""

    engine: Provenance
    greedy: SamplingConfig
    sampled: SamplingConfig
    prompts: Mapping[str, str]
    block_size: int = BLOCK_SIZE
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConfig:
    """All that can change a verdict.

    `parser` is the version of `parse_verdict`. The lexical judge needs name and provenance only.
    """

    judge: str
    provenance: Provenance = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    parser: str | None = None
    sampling: SamplingConfig | None = None


def config_hash(config: GenerationConfig | JudgeConfig) -> str:
    """Hash an effective configuration; 64 hexadecimal digits, equal for equal configurations."""
    return sha256_hex(canonical_json(asdict(config)))


def find_profile(name: str) -> Profile:
    """Look a profile up. Raises: UnknownNameError."""
    if name not in PROFILES:
        raise UnknownNameError("profile", name, PROFILES)
    return PROFILES[name]


def find_judge(name: str) -> models.ModelRef | None:
    """Return the judging LLM of `llm:NAME`, None for `lexical`. Raises: UnknownNameError."""
    kind, _, llm = name.partition(":")
    if name == "lexical":
        return None
    if kind == "llm" and llm:
        return models.resolve(llm)
    raise UnknownNameError("judge", name, ("lexical", "llm:NAME"), hint="NAME is an LLM, as for --llm")


def load_prompts(names: tuple[str, ...], replacements: Mapping[str, Path]) -> dict[str, PromptTemplate]:
    """Read the named templates, some from files of the user's. Raises: UnknownNameError, UsageError."""
    for name in replacements:
        if name not in FIELDS:
            raise UnknownNameError("prompt", name, FIELDS)
    return {name: load_prompt(name, replacements.get(name)) for name in names}

"""What a training run is asked to do: one frozen configuration, hashed, and the table of stages."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from honestybench.errors import UnknownNameError, UsageError
from honestybench.records import N_SAMPLED, canonical_json, sha256_hex

VERSION = 1
"""Stands in every saved model; it rises when equal configurations no longer give equal training."""

TARGETS = ("self_consistency", "sample_accuracy", "greedy_correctness")
HEAD_INITS = ("random", "ridge")
SELECTIONS = ("carved", "in_domain", "none")
DTYPES = ("float32", "bfloat16")
MAX_SETTING = 1e30
"""Larger rates and norms overflow a float32 before the first step is done."""
HEAD_LEARNING_RATE = 1e-3
"""Where the head alone learns, on standardised features, the paper's 5e-5 would leave it where it started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One way to train: its target, whether it starts from a saved model, and how system.yaml classes it."""

    summary: str
    target: str
    needs_start: bool
    method_class: str
    has_lora: bool = True


STAGES: dict[str, Stage] = {
    "elicit": Stage(
        summary="stage 1: learn self-consistency; no gold answer is read",
        target="self_consistency",
        needs_start=False,
        method_class="elicitation",
    ),
    "calibrate": Stage(
        summary="stage 2: go on from an elicited model, with labels",
        target="sample_accuracy",
        needs_start=True,
        method_class="calibration",
    ),
    "cal-only": Stage(
        summary="the control without stage 1: labels from scratch",
        target="sample_accuracy",
        needs_start=False,
        method_class="calibration",
    ),
    "head-only": Stage(
        summary="cal-only with the LLM frozen: the head alone learns, on cached features",
        target="sample_accuracy",
        needs_start=False,
        method_class="calibration",
        has_lora=False,
    ),
}
"""Stage -> its rules; the keys are the command line's choices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridSystem:
    """One line of the grid: its stage, None for a probe, and whether the head alone is trained."""

    stage: str | None
    head_only: bool = False


SYSTEMS: dict[str, GridSystem] = {
    "eli-only": GridSystem(stage="elicit"),
    "elical": GridSystem(stage="calibrate"),
    "cal-only": GridSystem(stage="cal-only"),
    "eli-only-head": GridSystem(stage="elicit", head_only=True),
    "elical-head": GridSystem(stage="calibrate", head_only=True),
    "cal-only-head": GridSystem(stage="head-only", head_only=True),
    "ridge-probe": GridSystem(stage=None),
    "logistic-probe": GridSystem(stage=None),
}
"""System of a grid -> how it is trained; the keys are the command line's choices and the folders' names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """All that can change a trained model beside the LLM and the release; the defaults are the paper's settings.

    `n_labels` counts the train questions whose target is read, those for selection included; None takes all.
    `targets_from` K uses the first K sampled answers of each question for the target. `seed` fixes the label
    subset, the order of the questions and the initial weights. `lora_layers` k adapts the top k layers only and
    caches what the layers below compute; 0 trains the head alone; None adapts all. `batch_size` counts questions of
    an optimiser step; `token_budget` positions of one forward pass, which changes memory and not the result.
    `learning_rate` 0 means the paper's 5e-5, or 1e-3 where the head alone learns.
    `epochs` None follows the paper: at most 50 up to 10,000 questions, 10 beyond 200,000, 15 between.
    `select_on`: a fifth carved from the questions, the evaluation split `in_domain` (as the paper's authors do,
    which marks a submission), or none. `share_prefix` computes the beginning that all prompts share once for a pass.
    `shard` spreads the frozen weights over the processes (FSDP) for LLMs that do not fit on one device; it and
    gradient checkpointing exclude the shared prefix.
    Raises: UsageError, UnknownNameError.
    """

    stage: str
    n_labels: int | None = None
    target: str = ""
    targets_from: int = N_SAMPLED
    seed: int = 0
    epochs: int | None = None
    batch_size: int = 512
    learning_rate: float = 0.0
    warmup: float = 0.1
    weight_decay: float = 0.1
    clip_norm: float = 1.0
    patience: int = 4
    lora_rank: int = 8
    lora_alpha: int = 16
    lora_layers: int | None = None
    head_init: str = "random"
    select_on: str = "carved"
    dtype: str = "float32"
    token_budget: int = 2048
    share_prefix: bool = True
    gradient_checkpointing: bool = False
    shard: bool = False

    def __post_init__(self) -> None:
        known = {"stage": STAGES, "head_init": HEAD_INITS, "select_on": SELECTIONS, "dtype": DTYPES}
        for name, names in known.items():
            if getattr(self, name) not in names:
                raise UnknownNameError(name.replace("_", " "), getattr(self, name), names)
        if not self.target:
            object.__setattr__(self, "target", STAGES[self.stage].target)
        if self.target not in TARGETS:
            raise UnknownNameError("target", self.target, TARGETS)
        if not STAGES[self.stage].has_lora:
            object.__setattr__(self, "lora_layers", 0)
        if not self.learning_rate:
            object.__setattr__(self, "learning_rate", HEAD_LEARNING_RATE if self.lora_layers == 0 else 5e-5)
        self._check_numbers()

    def _check_numbers(self) -> None:
        at_least = {"n_labels": 1, "epochs": 1, "batch_size": 1, "patience": 1, "lora_rank": 1, "lora_alpha": 1}
        at_least |= {"targets_from": 1, "token_budget": 1, "seed": 0, "lora_layers": 0}
        for name, least in at_least.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"{name} must be at least {least}", value=value)
        if self.seed >= 1 << 63:
            raise UsageError("a seed has at most 63 bits", where="seed", value=self.seed)
        if self.targets_from > N_SAMPLED:
            what = f"a question has {N_SAMPLED} sampled answers"
            raise UsageError(what, where="targets_from", value=self.targets_from)
        if not 0 <= self.warmup <= 1:
            raise UsageError("a share lies between 0 and 1", where="warmup", value=self.warmup)
        for name in ("learning_rate", "clip_norm"):
            if not 0 < getattr(self, name) <= MAX_SETTING:
                raise UsageError(f"must be above 0 and at most {MAX_SETTING:g}", where=name, value=getattr(self, name))
        if not 0 <= self.weight_decay < float("inf"):
            raise UsageError("must be a number from 0", where="weight_decay", value=self.weight_decay)
        if self.shard and self.lora_layers is not None:
            what = "sharding is for LoRA on all layers: with some frozen, the LLM is computed once and not again"
            raise UsageError(what, where="shard", remedy="leave --shard or --lora-layers out")
        if self.target == "greedy_correctness" and self.targets_from != N_SAMPLED:
            raise UsageError("the greedy answer's label needs no sampled answers", where="targets_from")

    @property
    def shares_prefix(self) -> bool:
        """Whether a pass computes the prompts' beginning once: gradient checkpointing and sharding cannot."""
        return self.share_prefix and not self.gradient_checkpointing and not self.shard

    @property
    def uses_labels(self) -> bool:
        """Whether the target needs gold answers."""
        return self.target != "self_consistency"

    def max_epochs(self, n_questions: int) -> int:
        """Say how many epochs are run at most for that many questions."""
        if self.epochs is not None:
            return self.epochs
        return 50 if n_questions <= 10_000 else 10 if n_questions > 200_000 else 15


def config_hash(*parts: object) -> str:
    """Hash configurations and plain values; 64 hexadecimal digits, equal for equal parts."""
    plain: Sequence[object] = [asdict(part) if isinstance(part, TrainConfig) else part for part in parts]
    return sha256_hex(canonical_json(plain))

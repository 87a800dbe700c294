"""The variants of `honestybench.elical` in the EliCal benchmark, put together from its parts as `elical train` does."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from elical_plain import LLM, read_rows
from numpy.typing import NDArray
from torch import Tensor, nn

from honestybench import models
from honestybench.annotate.prompt import load_prompt
from honestybench.elical.backbone import add_lora, split_at
from honestybench.elical.batches import Rows, micro_batches
from honestybench.elical.config import TrainConfig
from honestybench.elical.estimator import ConfidenceHead, Estimator
from honestybench.elical.features import features, lower_states
from honestybench.elical.feeds import FeatureFeed, Feed, HiddenFeed, TokenFeed
from honestybench.elical.frozen import FrozenLlm
from honestybench.elical.head_start import standardise
from honestybench.elical.loading import TOKEN_BUDGET
from honestybench.elical.loop import Loop, Problem
from honestybench.elical.questions import Question


class NoStore:
    """Keep no checkpoint, as the plain Trainer keeps none here."""

    def save(self, state: dict[str, Any]) -> None:
        """Forget it."""

    def load(self) -> None:
        """Begin at the beginning."""


@dataclass(eq=False)
class Counted:
    """A feed that counts what is asked of it: tokens and positions, the prefix once a pass."""

    feed: Feed
    n_prefix: int
    computed: int = 0
    positions: int = 0

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Positions of each row."""
        return self.feed.lengths

    @property
    def n_prompt_tokens(self) -> NDArray[np.int64]:
        """Tokens of each row's whole prompt."""
        return self.feed.n_prompt_tokens

    @property
    def n_shared(self) -> int:
        """Positions that every pass computes again."""
        return self.feed.n_shared

    def batch(self, rows: Rows) -> tuple[Tensor, ...]:
        """Give the inputs of some rows and count them."""
        lengths = self.feed.lengths[rows]
        self.computed += int(lengths.sum()) + self.n_prefix
        self.positions += len(rows) * int(lengths.max()) + self.n_prefix
        return self.feed.batch(rows)


@dataclass
class Clock:
    """Note after each optimiser step the time, the prompt tokens it trained, and what has been computed so far."""

    feed: Counted
    ended: list[float] = field(default_factory=list)
    prompt_tokens: list[int] = field(default_factory=list)
    computed: list[tuple[int, int]] = field(default_factory=list)

    def __call__(self, tokens: int) -> None:
        self.ended.append(time.perf_counter())
        self.prompt_tokens.append(tokens)
        self.computed.append((self.feed.computed, self.feed.positions))


def train(request: Mapping[str, Any], layers: int | None) -> dict[str, Any]:
    """Train LoRA on all layers (None), on the top `layers` above cached states, or the head alone (0)."""
    llm, rows, tokens = load(request)
    targets = np.array([row["self_consistency"] for row in rows])
    config = TrainConfig(
        stage="elicit",
        select_on="none",
        warmup=0.0,
        lora_layers=layers,
        **{name: request[name] for name in ("seed", "epochs", "batch_size", "weight_decay", "clip_norm")},
        # The head alone keeps the package's own rate: it learns on standardised features.
        learning_rate=0.0 if layers == 0 else request["learning_rate"],
    )
    began = time.perf_counter()
    model, inputs = learning(llm, tokens, config)
    cache_seconds = time.perf_counter() - began
    feed = Counted(inputs, len(model.prefix) if isinstance(model, Estimator) else 0)
    clock = Clock(feed)
    everything = np.arange(len(rows))
    problem = Problem(feed=feed, targets=targets, fit_rows=everything, selection_rows=everything[:0])
    progress = Loop(model, problem, config, Accelerator(cpu=True), NoStore(), clock).run()
    (first, first_positions), (last, last_positions) = clock.computed[0], clock.computed[-1]
    result = {
        "seconds": clock.ended[-1] - clock.ended[0],
        "n_steps": len(clock.ended),
        "n_examples": request["epochs"] * len(rows),
        "prompt_tokens": sum(clock.prompt_tokens[1:]),
        "computed_tokens": last - first,
        "positions": last_positions - first_positions,
        "losses": [line["loss"] for line in progress.losses],
        **({} if layers is None else {"cache_seconds": cache_seconds}),
    }
    return result if request["round"] else {**result, "final_loss": mean_loss(model, inputs, targets)}


def learning(llm: FrozenLlm, tokens: TokenFeed, config: TrainConfig) -> tuple[nn.Module, Feed]:
    """Make what learns and what it learns on; what stays frozen below it is computed here."""
    prefix = torch.as_tensor(tokens.tokens.prefix, dtype=torch.long)
    size = int(llm.backbone.config.hidden_size)
    if config.lora_layers == 0:
        known = features(llm.estimator(llm.backbone, tokens), tokens, None, config.token_budget)
        torch.manual_seed(config.seed)
        head = ConfidenceHead(size)
        standardise(head, known)
        return head, FeatureFeed(known, tokens.n_prompt_tokens)
    torch.manual_seed(config.seed)
    add_lora(llm.backbone, config, LLM)
    torch.manual_seed(config.seed)
    head = ConfidenceHead(size)
    if config.lora_layers is None:
        return Estimator(llm.backbone, head, prefix), tokens
    bottom, upper = split_at(llm.backbone, config.lora_layers)
    lower = llm.estimator(bottom, tokens)
    with torch.no_grad():
        entering = lower.prefix_states() if len(prefix) else torch.zeros(0, size)
    states = lower_states(lower, tokens, None, config.token_budget)
    return Estimator(upper, head, entering), HiddenFeed(states, tokens.lengths, tokens.n_prompt_tokens)


def predict(request: Mapping[str, Any]) -> dict[str, Any]:
    """Give every question its confidence as `elical predict` does, LoRA on all layers; one pass is run before."""
    llm, rows, tokens = load(request)
    model, _ = learning(llm, tokens, TrainConfig(stage="elicit", seed=request["seed"]))
    feed, everything = Counted(tokens, 0), np.arange(len(rows))
    passes = micro_batches(everything, tokens.lengths, TOKEN_BUDGET)
    with torch.inference_mode():
        model.eval()(*tokens.batch(passes[0]))
        model.eval()  # Drops the prefix that the pass before has kept: it is computed once inside the time.
        start = time.perf_counter()
        for part in passes:
            model(*feed.batch(part))
    return {
        "seconds": time.perf_counter() - start,
        "n_examples": len(rows),
        "prompt_tokens": int(tokens.n_prompt_tokens.sum()),
        "computed_tokens": feed.computed + len(tokens.tokens.prefix),
        "positions": feed.positions + len(tokens.tokens.prefix),
    }


def load(request: Mapping[str, Any]) -> tuple[FrozenLlm, list[dict[str, Any]], TokenFeed]:
    """Load the LLM and the encoded questions of a request."""
    llm = FrozenLlm(ref=models.resolve(LLM), prompts={"qa": load_prompt(request["prompt"])})
    rows = read_rows(request["n_questions"], request["seed"])
    questions = [Question(id=row["id"], source=row["source"], text=row["question"]) for row in rows]
    tokens = TokenFeed(llm.tokens(questions))
    assert llm.backbone is not None  # Loaded now, so that no timed part loads it.
    return llm, rows, tokens


def mean_loss(model: nn.Module, feed: Feed, targets: Sequence[float] | NDArray[np.float64]) -> float:
    """Compute the mean squared error over all questions."""
    model.eval()
    total = 0.0
    with torch.inference_mode():
        for part in micro_batches(np.arange(len(targets)), feed.lengths, TOKEN_BUDGET):
            confidence = torch.sigmoid(model(*feed.batch(part))).double().numpy()
            total += float(np.square(confidence - np.asarray(targets)[part]).sum())
    return total / len(targets)

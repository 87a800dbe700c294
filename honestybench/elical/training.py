"""Train one model on a release: read, render, freeze, fit, save."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from honestybench.elical.backbone import add_lora, load_backbone, resume_lora, split_at, top_layers
from honestybench.elical.card import model_card
from honestybench.elical.config import STAGES, TrainConfig, config_hash
from honestybench.elical.curve import loss_curve
from honestybench.elical.estimator import ConfidenceHead, Estimator
from honestybench.elical.features import features, lower_states
from honestybench.elical.feeds import FeatureFeed, Feed, HiddenFeed, TokenFeed
from honestybench.elical.loop import CHECKPOINT_EVERY_S, Loop, Problem, Progress
from honestybench.elical.questions import tokenise
from honestybench.elical.saved import ADAPTER_NAME, Checkpoint, ModelInfo, is_trained, read_head, read_info, save_model
from honestybench.elical.setting import Examples, Setting, read_examples, run_hash
from honestybench.errors import ModelLoadError, UsageError
from honestybench.progress import Meter
from honestybench.records import canonical_json

NewMeter = Callable[[str, int, str], Meter]


def train(
    setting: Setting,
    config: TrainConfig,
    out: Path,
    *,
    meter: Callable[[str, int, str], Meter] = Meter,
    checkpoint_every_s: float = CHECKPOINT_EVERY_S,
) -> ModelInfo:
    """Train a model into the folder `out` and describe it; a finished run is not done twice.

    Equal settings, machine and threads give equal bytes, however often the run was interrupted.
    Raises: UsageError for a setting that cannot be; ModelLoadError; StorageError.
    """
    if STAGES[config.stage].needs_start != (setting.start is not None):
        need = "needs a model to start from: --start DIR" if setting.start is None else "starts from nothing"
        raise UsageError(f"the stage {config.stage} {need}", where="--start")
    digest = run_hash(setting, config)
    if is_trained(out, digest):
        return read_info(out)
    store = Checkpoint(out, digest)
    run = _Builder(setting, config, meter).run()
    tokens = int(run.problem.feed.n_prompt_tokens[run.problem.fit_rows].sum())
    with meter("training", tokens * config.max_epochs(len(run.problem.fit_rows)), "prompt tokens") as bar:
        loop = Loop(run.model, run.problem, config, run.accelerator, store, bar.advance, checkpoint_every_s)
        bar.advance(sum(int(line.get("prompt_tokens", 0)) for line in loop.progress.losses), reused=True)
        progress = loop.run()
    info = _describe(setting, config, run, progress, digest)
    if run.accelerator.is_main_process:
        lines = "".join(canonical_json(line) + "\n" for line in progress.losses)
        extra = {"losses.jsonl": lines, "losses.svg": loss_curve(progress.losses), "README.md": model_card(info)}
        save_model(out, info, run.head, run.adapter, setting.prompts, extra)
    run.accelerator.wait_for_everyone()
    return info


@dataclass(frozen=True, kw_only=True, eq=False)
class _Run:
    """A run ready to learn."""

    accelerator: Any
    model: nn.Module
    problem: Problem
    head: ConfidenceHead
    adapter: Any | None
    examples: Examples


class _Builder:
    """Builds the model and the inputs of a run, by which layers learn."""

    def __init__(self, setting: Setting, config: TrainConfig, meter: NewMeter) -> None:
        from accelerate import Accelerator

        torch.manual_seed(config.seed)
        self._setting, self._config, self._meter = setting, config, meter
        self.accelerator = Accelerator(mixed_precision="bf16" if config.dtype == "bfloat16" else "no")
        self.examples = read_examples(setting, config)
        self._backbone, tokenizer = load_backbone(setting.ref, config.dtype)
        shares = config.share_prefix and not config.gradient_checkpointing
        self._tokens = TokenFeed(tokenise(tokenizer, setting.prompts, self.examples.questions, shares))
        self._prefix = torch.as_tensor(self._tokens.tokens.prefix, dtype=torch.long)
        self._known: NDArray[np.float32] | None = None
        self.adapter = self._adapt()
        self.head = self._new_head()

    def run(self) -> _Run:
        """Choose what learns: the head on features, the top layers on cached states, or all layers."""
        top = top_layers(self._backbone, self._config)
        model, feed = (
            (self.head, self._feature_feed()) if top == 0 else self._whole() if top is None else self._upper(top)
        )
        examples = self.examples
        return _Run(
            accelerator=self.accelerator,
            model=model,
            problem=Problem(
                feed=feed,
                targets=examples.targets,
                fit_rows=examples.fit_rows,
                selection_rows=examples.selection_rows,
            ),
            head=self.head,
            adapter=self.adapter,
            examples=examples,
        )

    def _adapt(self) -> Any | None:
        """Put LoRA on the decoder: that of the model started from, or a new one."""
        config, start = self._config, self._setting.start
        if start is not None and (start / ADAPTER_NAME).exists():
            return resume_lora(self._backbone, start, config)
        return None if config.lora_layers == 0 else add_lora(self._backbone, config, self._setting.ref.name)

    def _new_head(self) -> ConfidenceHead:
        if self._setting.start is not None:
            head: ConfidenceHead = read_head(self._setting.start)
            return head
        head = ConfidenceHead(int(self._backbone.config.hidden_size))
        if self._config.head_init == "ridge" or self._config.lora_layers == 0:
            fit = self.examples.fit_rows
            known = self._features(head)[fit]
            standardise(head, known)
            if self._config.head_init == "ridge":
                ridge_start(head, known, self.examples.targets[fit])
        return head

    def _whole(self) -> tuple[nn.Module, Feed]:
        if self._config.gradient_checkpointing:
            self._backbone.gradient_checkpointing_enable({"use_reentrant": False})
        return Estimator(self._backbone, self.head, self._prefix), self._tokens

    def _upper(self, top: int) -> tuple[nn.Module, Feed]:
        whole = self._frozen(self._backbone, self.head)
        few = self._tokens.batch(np.argsort(-self._tokens.lengths)[:2])
        with torch.no_grad():
            expected = whole(*self._placed(few))
            bottom, upper = split_at(self._backbone, top)
            lower = self._frozen(bottom, self.head)
            prefix = lower.prefix_states() if len(self._prefix) else self._empty_prefix()
            states, mask = self._placed(few)
            estimator = Estimator(upper, self.head, prefix)
            found = estimator.eval()(lower.states(states, mask), mask)
        tolerance = 1e-4 if self._config.dtype == "float32" else 5e-2
        if not torch.allclose(found, expected, atol=tolerance, rtol=tolerance):
            raise ModelLoadError(
                "the decoder cannot be parted at a layer: its parts give another result than the whole",
                where=self._setting.ref.name,
                value=float((found - expected).abs().max()),
                remedy="train all layers: leave --lora-layers out",
            )
        store = self._store("lower", str(top))
        with self._meter("lower layers", len(self._tokens.lengths), "questions") as bar:
            cached = self._first(lambda: lower_states(lower, self._tokens, store, self._config.token_budget, bar))
        return estimator, HiddenFeed(cached, self._tokens.lengths, self._tokens.n_prompt_tokens)

    def _feature_feed(self) -> Feed:
        return FeatureFeed(self._features(self.head), self._tokens.n_prompt_tokens)

    def _features(self, head: ConfidenceHead) -> NDArray[np.float32]:
        if self._known is None:
            estimator = self._frozen(self._backbone, head)
            with self._meter("features", len(self._tokens.lengths), "questions") as bar:
                store, budget = self._store("features"), self._config.token_budget
                self._known = self._first(lambda: features(estimator, self._tokens, store, budget, bar))
        return self._known

    def _frozen(self, backbone: Any, head: ConfidenceHead) -> Estimator:
        estimator = Estimator(backbone, head, self._prefix)
        estimator.to(self.accelerator.device).eval()
        return estimator

    def _first(self, compute: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
        """Compute on the main process; the others find the file."""
        if self._setting.work is None:
            return compute()
        with self.accelerator.main_process_first():
            return compute()

    def _store(self, kind: str, *more: str) -> Path | None:
        setting, config = self._setting, self._config
        if setting.work is None:
            return None
        ids = [question.id for question in self.examples.questions]
        prompts = {role: template.sha256 for role, template in setting.prompts.items()}
        start = None if setting.start is None else read_info(setting.start).run_hash
        shares = [config.dtype, config.share_prefix and not config.gradient_checkpointing]
        key = config_hash(kind, *more, setting.release_id, setting.ref.identity, prompts, start, ids, shares)
        return setting.work / kind / f"{key[:32]}.npy"

    def _empty_prefix(self) -> Tensor:
        return torch.zeros(0, int(self._backbone.config.hidden_size), device=self.accelerator.device)

    def _placed(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        return [tensor.to(self.accelerator.device) for tensor in tensors]


def standardise(head: ConfidenceHead, known: NDArray[np.float32]) -> None:
    """Set the head's mean and scale to those of known features (n, H); a constant feature keeps scale 1."""
    spread = known.std(axis=0, dtype=np.float64)
    head.mean.copy_(torch.as_tensor(known.mean(axis=0, dtype=np.float64), dtype=torch.float32))
    head.scale.copy_(torch.as_tensor(np.where(spread > 0, spread, 1.0), dtype=torch.float32))


def ridge_start(head: ConfidenceHead, known: NDArray[np.float32], targets: NDArray[np.float64]) -> None:
    """Set the head's weights to the ridge solution, its strength chosen by leave-one-out, through the sigmoid.

    With m the mean target, sigmoid(logit(m) + (y - m) / (m (1 - m))) meets the ridge's y to first order around m,
    and orders as it does.
    """
    from sklearn.linear_model import RidgeCV

    standard = (known - head.mean.numpy()) / head.scale.numpy()
    ridge = RidgeCV(alphas=np.logspace(0, 6, 13)).fit(standard.astype(np.float64), targets)
    mean = float(np.clip(targets.mean(), 0.01, 0.99))
    slope = 1 / (mean * (1 - mean))
    with torch.no_grad():
        head.weight.copy_(torch.as_tensor(ridge.coef_ * slope, dtype=torch.float32))
        head.bias.copy_(torch.tensor(np.log(mean / (1 - mean)) + (ridge.intercept_ - mean) * slope))


def _describe(setting: Setting, config: TrainConfig, run: _Run, progress: Progress, digest: str) -> ModelInfo:
    stage, start = STAGES[config.stage], setting.start
    before = 0 if start is None else read_info(start).labels_used
    has_selection = len(run.problem.selection_rows) > 0
    selected_on = {"carved": "train", "in_domain": "in_domain", "none": "none"}[config.select_on]
    return ModelInfo(
        llm=setting.llm,
        llm_name=setting.ref.name,
        weights=setting.ref.identity,
        release_id=setting.release_id,
        config=asdict(config),
        method_class="calibration" if config.uses_labels else stage.method_class,
        labels_used=before + run.examples.labels_used,
        selected_on=selected_on if has_selection else "none",
        n_questions=len(run.examples.questions),
        epochs_run=progress.epoch,
        best_epoch=progress.best_epoch if has_selection else progress.epoch,
        selection_loss=progress.best_loss,
        prompts={role: template.name for role, template in setting.prompts.items()},
        started_from=None if start is None else read_info(start).run_hash,
        run_hash=digest,
    )

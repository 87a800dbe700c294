"""Train one model on a release: read, render, freeze, fit, save."""

from dataclasses import asdict
from pathlib import Path

from honestybench.elical.card import model_card
from honestybench.elical.config import STAGES, TrainConfig
from honestybench.elical.curve import loss_curve
from honestybench.elical.frozen import NewMeter
from honestybench.elical.loop import CHECKPOINT_EVERY_S, Loop, Progress
from honestybench.elical.prepare import Run, meter_of, prepare
from honestybench.elical.saved import CHECKPOINT_NAME, Checkpoint, ModelInfo, is_trained, read_info, save_model
from honestybench.elical.setting import Setting, run_hash
from honestybench.errors import UsageError
from honestybench.progress import Meter
from honestybench.records import canonical_json
from honestybench.storage import refused_writes


def train(
    setting: Setting,
    config: TrainConfig,
    out: Path,
    *,
    meter: NewMeter = Meter,
    checkpoint_every_s: float = CHECKPOINT_EVERY_S,
) -> ModelInfo:
    """Train a model into the folder `out` and describe it; a finished run is not done twice.

    Equal settings, machine and threads give equal bytes, however often the run was interrupted.
    Raises: UsageError for a setting that cannot be; ModelLoadError; StorageError.
    """
    if STAGES[config.stage].needs_start != (setting.start is not None):
        need = "needs a model to start from: --start DIR" if setting.start is None else "starts from nothing"
        raise UsageError(f"the stage {config.stage} {need}", where="--start")
    if setting.start is not None and read_info(setting.start).weights != setting.ref.identity:
        raise UsageError(
            "the model to start from was trained on other weights than those of the LLM",
            where=str(setting.start),
            value=read_info(setting.start).weights,
            remedy=f"start from a model trained on {setting.ref.identity}",
        )
    if setting.start is not None and config.head_init != "random":
        what = "the head comes from the model to start from"
        raise UsageError(what, where="--head-init", value=config.head_init, remedy="leave it out with --start")
    digest = run_hash(setting, config)
    if is_trained(out, digest):
        with refused_writes(out):
            (out / CHECKPOINT_NAME).unlink(missing_ok=True)  # Left where a process was killed at the very end.
        return read_info(out)
    store = Checkpoint(out, digest)
    run = prepare(setting, config, meter)
    tokens = int(run.problem.feed.n_prompt_tokens[run.problem.fit_rows].sum())
    with meter_of(run.accelerator, meter)(
        "training", tokens * config.max_epochs(len(run.problem.fit_rows)), "prompt tokens"
    ) as bar:
        loop = Loop(run.model, run.problem, config, run.accelerator, store, bar.advance, checkpoint_every_s)
        bar.advance(sum(int(line.get("prompt_tokens", 0)) for line in loop.progress.losses), reused=True)
        progress = loop.run()
    info = _describe(setting, config, run, progress, digest)
    if run.accelerator.is_main_process:
        lines = "".join(canonical_json(line) + "\n" for line in progress.losses)
        card = model_card(info, setting.prompts, has_adapter=run.adapter is not None)
        extra = {"losses.jsonl": lines, "losses.svg": loss_curve(progress.losses), "README.md": card}
        save_model(out, info, run.head, run.adapter, setting.prompts, extra)
    run.accelerator.wait_for_everyone()
    return info


def _describe(setting: Setting, config: TrainConfig, run: Run, progress: Progress, digest: str) -> ModelInfo:
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

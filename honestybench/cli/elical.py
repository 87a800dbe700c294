"""`honestybench elical train|predict|run|import-authors`: confidences before the answer, elicited and calibrated."""

import os
from datetime import date
from pathlib import Path
from typing import Any

import click

from honestybench.cli.elical_options import with_llm, with_settings
from honestybench.elical import require_extra
from honestybench.elical.config import STAGES, SYSTEMS, TARGETS, TrainConfig
from honestybench.errors import UsageError
from honestybench.labels import refuse_foreign
from honestybench.release import only_llm
from honestybench.storage import refused_writes
from honestybench.subsets import LABEL_GRID


@click.group(
    epilog="Example: `honestybench elical train honestybench/sample --stage elicit --lora-layers 0 --out build/eli`"
)
def elical() -> None:
    """Train and use EliCal, a confidence in an LLM's answer before it answers.

    Stage 1 (elicit) learns how consistent the LLM is with itself, without labels; stage 2 (calibrate) corrects that
    with few labels. On several GPUs or processes: `accelerate launch "$(command -v honestybench)" elical train …`.
    """
    require_extra()


@elical.command(
    epilog="Example: `honestybench elical train RELEASE --stage calibrate --start DIR --labels 1000 --out DIR`"
)
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--stage",
    type=click.Choice(tuple(STAGES)),
    required=True,
    help="; ".join(f"{name}: {stage.summary}" for name, stage in STAGES.items()) + ".",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the model; an unfinished run there goes on.",
)
@click.option("--start", type=click.Path(file_okay=False, path_type=Path), help="The model that stage 2 goes on from.")
@click.option(
    "--labels",
    type=int,
    metavar="N",
    help="Train questions to use, those for selection included; without labels, questions. Default: all.",
)
@click.option("--target", type=click.Choice(TARGETS), help="Default: the stage's.")
@click.option("--seed", default=0, show_default=True, help="Of the subset, the order and the initial weights.")
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("build/work"),
    show_default=True,
    help="Keeps what the frozen LLM computes.",
)
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="NAME=FILE",
    help="A prompt that the release was built with instead of the package's.",
)
@with_llm
@with_settings
def train(
    release: Path,
    out: Path,
    llm: str | None,
    llm_weights: str | None,
    start: Path | None,
    work: Path,
    prompts: tuple[str, ...],
    labels: int | None,
    target: str | None,
    **settings: Any,
) -> None:
    """Train one model on the train questions of the release in the folder RELEASE.

    The paper's settings are the defaults. The run can be killed at any time; started again it goes on where it was,
    and the model comes out the same, byte for byte.
    """
    from honestybench.elical.setting import find_setting
    from honestybench.elical.training import train as train_model

    config = TrainConfig(n_labels=labels, target=target or "", **_settings(settings))
    setting = find_setting(
        release, llm or only_llm(release), llm_name=llm_weights, prompt_files=_prompts(prompts), start=start, work=work
    )
    info = train_model(setting, config, out)
    selected = "" if info.selection_loss is None else f", squared error {info.selection_loss:.4f} where selected"
    if os.environ.get("RANK", "0") != "0":
        return
    epoch = f"epoch {info.best_epoch} of {info.epochs_run}"
    click.echo(f"{out}: {info.n_questions} questions, {info.labels_used} labels, {epoch}{selected}")


@elical.command(epilog="Example: `honestybench elical predict DIR RELEASE --out submissions/LLM/elical-1000`")
@click.argument("models", nargs=-1, required=True, type=click.Path(file_okay=False, path_type=Path))
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The submission's folder.")
@click.option("--llm-weights", metavar="NAME", help="The LLM's weights, if not where training had them.")
@click.option("--authors-padding", is_flag=True, help="Ask as the paper's authors do, for the heads they released.")
@click.option(
    "--batch-questions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Questions of a batch of --authors-padding; other numbers give other confidences. Default: 16.",
)
def predict(
    models: tuple[Path, ...],
    release: Path,
    out: Path,
    llm_weights: str | None,
    authors_padding: bool,
    batch_questions: int | None,
) -> None:
    """Write the confidences of trained MODELS for all evaluation questions of RELEASE as one submission.

    Several models are one system with several seeds.
    """
    from honestybench.elical.authors import BATCH_QUESTIONS
    from honestybench.elical.systems import predict as predict_system

    if batch_questions is not None and not authors_padding:
        raise UsageError("batches change confidences with --authors-padding only", where="--batch-questions")
    batch = (batch_questions or BATCH_QUESTIONS) if authors_padding else None
    if batch is not None:
        what = "at the last position of padded batches: each depends on the questions beside it"
        click.echo(f"confidences are read {what} ({batch} to a batch)", err=True)
    rows = predict_system(models, release, out, today=date.today(), llm_name=llm_weights, authors_batch=batch)
    click.echo(f"{out}: {rows} confidences" + (f" for each of {len(models)} seeds" if len(models) > 1 else ""))


@elical.command(
    epilog="Example: `honestybench elical run build/release --out build/elical --submissions submissions/LLM "
    "--labels 100,1000,all --seeds 0,1,2`"
)
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the models; what is finished there is not done twice.",
)
@click.option(
    "--submissions",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The LLM's folder for the rows.",
)
@click.option(
    "--systems",
    metavar="NAME,...",
    help=f"Comma-separated, of {', '.join(SYSTEMS)}. Default: all.",
)
@click.option(
    "--labels",
    default=",".join(map(str, LABEL_GRID)) + ",all",
    show_default=True,
    help="Comma-separated numbers of labels; more than there are, are left out.",
)
@click.option(
    "--seeds", default="0,1,2", show_default=True, help="Comma-separated; three or more for anything published."
)
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="NAME=FILE",
    help="A prompt that the release was built with instead of the package's.",
)
@with_llm
@with_settings
def run(
    release: Path,
    out: Path,
    submissions: Path,
    systems: str | None,
    labels: str,
    seeds: str,
    llm: str | None,
    llm_weights: str | None,
    prompts: tuple[str, ...],
    **settings: Any,
) -> None:
    """Train and predict a whole grid: both stages, the controls, label sizes and seeds.

    Each row is written as a submission as soon as its models are trained.
    """
    from honestybench.elical.grid import Grid
    from honestybench.elical.grid import run as run_grid
    from honestybench.elical.setting import find_setting

    llm = llm or only_llm(release)
    refuse_foreign(submissions, llm)
    first, second = out.resolve(), submissions.resolve()
    if first.is_relative_to(second) or second.is_relative_to(first):
        what = "models and submissions need folders of their own"
        raise UsageError(what, where="--out and --submissions", value=[str(out), str(submissions)])
    setting = find_setting(release, llm, llm_name=llm_weights, prompt_files=_prompts(prompts), work=out / "work")
    grid = Grid(
        systems=tuple(SYSTEMS) if systems is None else tuple(systems.split(",")),
        labels=_labels(labels),
        seeds=tuple(_number(seed, "--seeds") for seed in seeds.split(",")),
        base=TrainConfig(stage="elicit", **_settings(settings)),
    )
    for folder in (out, submissions):
        with refused_writes(folder):
            folder.mkdir(parents=True, exist_ok=True)
    written = run_grid(
        setting, grid, out, submissions, today=date.today(), report=lambda line: click.echo(line, err=True)
    )
    click.echo(f"{submissions}: {len(written)} rows; score them with `honestybench score-all {submissions.parent}`")


@elical.command(
    epilog="Example: `honestybench elical import-authors best-checkpoint --llm Qwen/Qwen2.5-7B-Instruct "
    "--stage calibrate --labels 38904 --out build/elical/authors-1000`"
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--llm", required=True, metavar="NAME", help="The LLM of the head: a folder, a Hub id, a carried LLM.")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new folder.")
@click.option("--stage", type=click.Choice(tuple(STAGES)), required=True, help="How it was trained, as for `train`.")
@click.option(
    "--labels",
    type=click.IntRange(min=0),
    required=True,
    metavar="N",
    help="Gold-labelled questions that it was trained and selected on; 0 for elicit.",
)
@click.option(
    "--selected-on",
    type=click.Choice(("train", "in_domain", "none")),
    default="in_domain",
    show_default=True,
    help="What the epoch was chosen on.",
)
def import_authors(folder: Path, llm: str, out: Path, stage: str, labels: int, selected_on: str) -> None:
    """Write a head that the paper's authors released in FOLDER as a model of this package.

    FOLDER holds vector_head_epoch_best.pt and, unless the head alone was trained, lora_epoch_best. Their numbers come
    from `predict --authors-padding`.
    """
    from honestybench.elical.authors import import_authors as import_folder

    info = import_folder(folder, out, llm_name=llm, labels_used=labels, stage=stage, selected_on=selected_on)
    click.echo(f"{out}: {info.llm}, {info.labels_used} labels, selected on {info.selected_on}")


def _settings(settings: dict[str, Any]) -> dict[str, Any]:
    return {**settings, "lora_alpha": 2 * settings["lora_rank"]}


def _labels(text: str) -> tuple[int | None, ...]:
    return tuple(None if part == "all" else _number(part, "--labels") for part in text.split(","))


def _number(text: str, option: str) -> int:
    if not text.strip().isdecimal():
        raise UsageError("this is no whole number", where=option, value=text, remedy="separate numbers by commas")
    return int(text)


def _prompts(pairs: tuple[str, ...]) -> dict[str, Path]:
    found = {}
    for pair in pairs:
        name, separator, path = pair.partition("=")
        if not separator or not path:
            raise UsageError("a prompt is given as NAME=FILE", where="--prompt", value=pair)
        found[name] = Path(path)
    return found

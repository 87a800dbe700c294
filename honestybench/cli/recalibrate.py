"""`honestybench recalibrate RELEASE --of prob --method platt --labels 1000 --out submissions/<llm>`."""

from datetime import date
from pathlib import Path

import click

from honestybench.baselines import BASELINES
from honestybench.errors import UsageError
from honestybench.labels import refuse_foreign
from honestybench.recalibrate import METHODS, drawn_ids, stored_base, submitted_base, write_recalibrated
from honestybench.release import CONFIG_NAME, only_llm

FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


@click.command(
    epilog="Example: `honestybench recalibrate build/release --of prob --method platt --out submissions/my-llm`"
)
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--of", type=click.Choice(list(BASELINES)), help="A baseline, computed from the stored columns.")
@click.option("--confidences", type=FILE, help="Or a confidence file beside its system.yaml …")
@click.option("--train-confidences", type=FILE, help="… and such a file for the train questions used, or all.")
@click.option("--method", type=click.Choice(list(METHODS)), required=True)
@click.option("--labels", "n_labels", type=int, help="Labelled train questions to use; all of them by default.")
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Subsets of so many labels to draw, from seed 0.",
)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The LLM's folder.")
@click.option("--name", help="The system's folder; by default OF-METHOD-LABELS.")
@click.option("--llm", help="The answering LLM; may be left out where the release has one.")
def recalibrate(
    release: Path,
    of: str | None,
    confidences: Path | None,
    train_confidences: Path | None,
    method: str,
    n_labels: int | None,
    seeds: int,
    out: Path,
    name: str | None,
    llm: str | None,
) -> None:
    """Fit a map from a confidence to a better calibrated one on train labels, and write it as a submission.

    The confidence is a baseline (--of) or comes from files; the system.yaml beside FILE says what it saw and used.
    Label subsets are stratified by source and nested; each seed gets a file. No evaluation label is read.
    """
    llm = llm or only_llm(release)
    refuse_foreign(out, llm)
    if of and not (confidences or train_confidences):
        base = stored_base(release, llm, of)
    elif confidences and train_confidences and not of:
        needed = drawn_ids(release, llm, n_labels, seeds)
        base = submitted_base(release, llm, confidences, train_confidences, needed)
    else:
        raise UsageError("name one confidence", remedy="give --of, or --confidences and --train-confidences")
    if name is not None and not CONFIG_NAME.fullmatch(name):
        what = "a folder's name has lower case letters, digits, '.', '_' and '-'"
        raise UsageError(what, where="--name", value=name, remedy="leave it out, or name another")
    folder = out / (name or f"{base.of}-{method}-{'all' if n_labels is None else n_labels}")
    done = write_recalibrated(release, llm, base, method, folder, n_labels=n_labels, n_seeds=seeds, today=date.today())
    click.echo(f"{folder}: {done.n_rows} confidences, {done.n_files} x {done.n_labels} labels")
    if done.n_unlabelled:
        click.echo(f"{done.n_unlabelled} train questions have no label and were left out", err=True)
    if done.n_constant:
        click.echo(f"{done.n_constant} of {done.n_files} maps are constant: see the description", err=True)

"""`honestybench passes RELEASE --out submissions/<llm>`."""

from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

import click

from honestybench import models
from honestybench.annotate.cache import BlockStore
from honestybench.engine import vllm_engine
from honestybench.engine.scripted import ScriptedEngine
from honestybench.errors import JudgeError, UsageError
from honestybench.labels import refuse_foreign
from honestybench.passes.outcome import Outcome
from honestybench.passes.questions import evaluation_questions
from honestybench.passes.runner import Runner
from honestybench.passes.table import PASSES, select_passes
from honestybench.passes.write import ALLOW_UNPARSED, PassRun, recorded_provenance
from honestybench.progress import Meter
from honestybench.release import only_llm
from honestybench.storage import exclusive


@click.command(epilog="Example: `honestybench passes build/release --out submissions/smollm2-135m-instruct-q4_1`")
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The LLM's folder.")
@click.option("--llm", help="The answering LLM; may be left out where the release has one.")
@click.option("--model", help="Where its weights are, if not where the release had them: a folder or a Hub id.")
@click.option("--max-model-len", type=click.IntRange(min=1), help="Longest context; left out, that of the release.")
@click.option("--engine", type=click.Choice(["vllm", "scripted"]), default="vllm", show_default=True)
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("build/passes"),
    show_default=True,
    help="Finished blocks, for the next run.",
)
@click.option(
    "--only",
    metavar="NAME,...",
    default=",".join(PASSES),
    show_default="all",
    help=f"Comma-separated passes, of {', '.join(PASSES)}; others in OUT stay as they are.",
)
@click.option(
    "--allow-unparsed", type=float, default=ALLOW_UNPARSED, show_default=True, help="Highest share of unread replies."
)
@click.option("--train-labels", type=click.IntRange(min=1), help="Ask about that many labelled train questions too.")
@click.option("--train-out", type=click.Path(dir_okay=False, path_type=Path), help="Where their confidences go.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order of train labels.")
def passes(release: Path, out: Path, only: str, train_labels: int | None, train_out: Path | None, **how: Any) -> None:
    """Write the baselines that need one more pass of the LLM that answered the release in the folder RELEASE.

    Each gets a folder under OUT with system.yaml and confidences.jsonl. A stopped run goes on where it was.
    """
    names = tuple(select_passes(name.strip() for name in only.split(",") if name.strip()))
    if (train_labels is None) != (train_out is None) or (train_out is not None and len(names) > 1):
        raise UsageError("--train-labels and --train-out go together, for one pass", remedy="name it with --only")
    llm = how["llm"] or only_llm(release)
    refuse_foreign(out, llm)
    runner = _runner(release, llm, **{name: how[name] for name in ("model", "max_model_len", "engine", "work")})
    run = PassRun(release=release, llm=llm, runner=runner, allow_unparsed=how["allow_unparsed"], seed=how["seed"])
    run.check(names, out)
    if train_labels is not None and train_out is not None:
        run.check_train(names[0], train_labels, train_out, out)
    with exclusive(how["work"]):
        try:
            outcomes = _write_all(run, names, out)
            if train_labels is not None and train_out is not None:
                rows = run.write_train(names[0], train_labels, train_out, outcomes[names[0]].stand_in)
                click.echo(f"{train_out}: {rows} confidences of train questions")
        finally:
            runner.close()


def _write_all(run: PassRun, names: tuple[str, ...], out: Path) -> dict[str, Outcome]:
    """Write every pass that can be written. Raises: JudgeError at the end, naming those that cannot."""
    outcomes, refusals = {}, []
    total = len(evaluation_questions(run.release, run.llm)) * len(names)
    with Meter("passes", total, "questions") as meter:
        for name in names:
            try:
                outcomes[name] = run.write(name, out, date.today(), meter.advance)
            except JudgeError as error:
                refusals.append(error)
                continue
            click.echo(f"{out / name}: {len(outcomes[name].rows)} confidences, {_told(outcomes[name])}")
    if refusals:
        raise refusals[0] if len(refusals) == 1 else JudgeError("; ".join(str(refusal) for refusal in refusals))
    return outcomes


def _told(outcome: Outcome) -> str:
    return f"parsed: {outcome.rates}" if outcome.mass is None else f"mean P(yes) + P(no) {outcome.mass:.3f}"


def _runner(
    release: Path, llm: str, *, model: str | None, max_model_len: int | None, engine: str, work: Path
) -> Runner:
    """Prepare the engine, loaded as the build loaded it; nothing is loaded before a block is missing."""
    recorded = recorded_provenance(release, llm)
    name = model or str(recorded.get("llm", llm))
    if engine == "scripted":
        if recorded.get("engine") == "vllm":
            what = "a real LLM answered this release; made-up replies would pose as its own"
            raise UsageError(what, where="--engine", value=engine, remedy="leave --engine out")
        scripted = ScriptedEngine(name)
        return Runner(scripted.provenance, BlockStore(work), lambda: scripted)
    ref = models.resolve(name)
    options: dict[str, Any] = {
        each.name: recorded[each.name] for each in fields(vllm_engine.VllmConfig) if each.name in recorded
    }
    config = vllm_engine.VllmConfig(**options | ({"max_model_len": max_model_len} if max_model_len else {}))
    provenance = vllm_engine.provenance(ref, config)
    return Runner(provenance, BlockStore(work), lambda: vllm_engine.VllmEngine(ref, config))

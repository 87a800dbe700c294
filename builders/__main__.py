"""`python -m builders`: build a release, list the sources, refresh the embedded sample."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from builders import BUILDERS
from builders.examples import EMBEDDED, HUB, QuestionOrigin
from builders.pipeline import run, up_to_date
from builders.report import next_lines, plan_lines, show, source_table, summary_table
from builders.settings import ENGINES, Build
from honestybench.annotate.plan import BLOCK_SIZE, PROFILES
from honestybench.annotate.prompt import FIELDS
from honestybench.errors import UsageError
from honestybench.records import SPLITS
from honestybench.release import only_llm, read_manifest
from honestybench.shards import write_sample
from honestybench.terminal import run_command

CHECKOUT = Path(__file__).resolve().parent.parent
Command = TypeVar("Command", bound=Callable[..., Any])


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Build HonestyBench releases: questions, answers, verdicts, shards.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
    """


def _profile_help() -> str:
    rows = []
    for name, profile in PROFILES.items():
        greedy, sampled = profile.greedy, profile.sampled
        rows.append(
            f"{name}: prompts {profile.prompt}-qa and {profile.prompt}-mmlu; "
            f"1 greedy answer with repetition penalty {greedy.repetition_penalty}; {sampled.n} sampled ones at "
            f"temperature {sampled.temperature}, top_p {sampled.top_p}, top_k {sampled.top_k}, repetition penalty "
            f"{sampled.repetition_penalty}; at most {greedy.max_tokens} new "
            f"tokens; LLM {profile.llm or 'yours (--llm)'}, {profile.dtype}; judge {profile.judge}; "
            f"questions: {profile.questions}."
        )
    return "\n\n".join(rows)


@cli.command(epilog=f"Profiles.\n\n{_profile_help()}")
@click.option("--profile", default="sample", show_default=True, help="One of: " + ", ".join(PROFILES) + " (below).")
@click.option("--llm", help="Answering LLM: a carried model, a folder, or a Hub id [default: the profile's].")
@click.option("--judge", help="`lexical` or `llm:NAME` [default: the profile's].")
@click.option("--out", type=click.Path(path_type=Path), default="build/release", show_default=True, help="The release.")
@click.option("--work", type=click.Path(path_type=Path), default="build/work", show_default=True,
              help="Finished blocks and verdicts, kept between builds.")  # fmt: skip
@click.option("--sources", default=",".join(BUILDERS), show_default="all", help="Comma-separated source keys.")
@click.option("--splits", default=",".join(SPLITS), show_default="all", help="Comma-separated splits.")
@click.option("--limit", type=click.IntRange(min=1), help="Examples of each source and split [default: all].")
@click.option("--qa-dir", type=click.Path(path_type=Path, exists=True, file_okay=False),
              help="Read questions from the authors' question files, not from where the profile says.")  # fmt: skip
@click.option("--raw-dir", type=click.Path(path_type=Path, exists=True, file_okay=False),
              help="Read questions from the original release files, one folder a source.")  # fmt: skip
@click.option("--prompt", "prompts", multiple=True, metavar="NAME=FILE",
              help="Replace a prompt: " + ", ".join(FIELDS) + ".")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of the sampled answers."
)
@click.option("--block-size", type=click.IntRange(min=1), default=BLOCK_SIZE, show_default=True,
              help="Questions answered as one batch; part of the configuration.")  # fmt: skip
@click.option("--allow-unparsed", type=click.FloatRange(0, 1), default=0.01, show_default=True, metavar="R",
              help="Share of a source's verdicts that may stay unparsed.")  # fmt: skip
@click.option("--engine", default="vllm", show_default=True, help=f"{' or '.join(ENGINES)} (no model; for tests).")
@click.option("--dry-run", is_flag=True, help="Show the plan and stop.")
@click.option("--no-summary", is_flag=True, help="Do not end with the summary of the release.")
def build(dry_run: bool, no_summary: bool, **options: Any) -> None:
    """Answer and judge questions with an LLM and write a release.

    Killed builds go on where they stopped; a finished build is not done again.
    """
    wanted = _build(options, pin_revisions=not dry_run)
    if dry_run:
        show(plan_lines(wanted))
        return
    _finish(wanted)
    if not no_summary:
        _summary(wanted.out)


@cli.command()
@click.argument("release", type=click.Path(path_type=Path))
def summary(release: Path) -> None:
    """Tabulate a release per source, and say what to type next."""
    _summary(release)


@cli.command("list")
def list_sources() -> None:
    """List the sources with their published and embedded examples."""
    show([source_table()])


@cli.command()
@click.option("--package", type=click.Path(path_type=Path), default=CHECKOUT / "honestybench",
              show_default="honestybench/", help="The package that carries the sample.")  # fmt: skip
def sample(package: Path) -> None:
    """Build all embedded questions and install the release as the package's sample."""
    out = CHECKOUT / "build" / "sample"
    wanted = Build(profile_name="sample", out=out, work=CHECKOUT / "build" / "work", annotated_default=True)
    _finish(wanted)
    write_sample(out, package)
    show([f"installed in {package / 'sample'}"])


def _build(options: dict[str, Any], *, pin_revisions: bool) -> Build:
    return Build(
        profile_name=options["profile"],
        llm_name=options["llm"],
        judge_name=options["judge"],
        out=options["out"],
        work=options["work"],
        engine=options["engine"],
        origin=_origin(options["profile"], options["qa_dir"], options["raw_dir"]),
        sources=_names(options["sources"]),
        splits=_names(options["splits"]),
        limit=options["limit"],
        seed=options["seed"],
        block_size=options["block_size"],
        prompt_files=_assignments(options["prompts"]),
        allow_unparsed=options["allow_unparsed"],
        pin_revisions=pin_revisions,
    )


def _finish(wanted: Build) -> None:
    manifest = up_to_date(wanted)
    verb = "nothing to do: up to date"
    if manifest is None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        manifest = run(wanted)
        verb = "built"
    scope = ", partial (not all published questions)" if manifest.content["partial"] else ""
    show([f"{verb}: {wanted.out}, release {manifest.release_id[:12]}{scope}"])


def _summary(release: Path) -> None:
    manifest = read_manifest(release)
    slug = only_llm(release)
    lines = next_lines(release, manifest, slug)
    show([summary_table(release, manifest, slug), "Next:", *(f"  {line}" for line in lines)])


def _origin(profile: str, qa_dir: Path | None, raw_dir: Path | None) -> QuestionOrigin:
    if qa_dir is not None and raw_dir is not None:
        raise UsageError("--qa-dir and --raw-dir exclude each other", remedy="give one of them")
    if qa_dir is not None:
        return QuestionOrigin(kind="qa", root=qa_dir)
    if raw_dir is not None:
        return QuestionOrigin(kind="release", root=raw_dir)
    return HUB if profile == "paper" else EMBEDDED


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _assignments(texts: Sequence[str]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or not path or name in files:
            remedy = "give it as NAME=FILE, each name once"
            raise UsageError("cannot tell what replaces the prompt", where="--prompt", value=text, remedy=remedy)
        files[name] = Path(path)
    return files


if __name__ == "__main__":
    run_command(cli, None, program="python -m builders")

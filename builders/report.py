"""What a build tells its user: the plan before, the table after, the sources there are."""

import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.table import Table

from builders import BUILDERS
from builders.settings import Build
from honestybench.records import N_SAMPLED
from honestybench.release import Manifest
from honestybench.shards import read_table

_COLUMNS = ("source", "flags", "greedy_correctness", "self_consistency", "n_unparsed")


def plan_lines(build: Build) -> Iterator[str]:
    """Say what a build would do, without loading a model or reading whole question files."""
    counts = planned_counts(build)
    total = sum(count for splits in counts.values() for count in splits.values())
    yield f"profile      {build.profile_name}"
    yield f"LLM          {build.llm.name} ({build.llm.description}), config {build.llm.slug}"
    engine = (f"{key} {setting}" for key, setting in build.generation.engine.items() if setting is not None)
    yield f"engine       {', '.join(engine)}"
    yield f"judge        {build.judge.judge}"
    yield f"prompts      {', '.join(f'{t.name} {t.sha256[:12]}' for t in build.prompts.values())}"
    mmlu = sum(counts.get("mmlu", {}).values())
    yield f"questions    {total:,} ({build.origin.kind}): {total - mmlu:,} and {mmlu:,} of MMLU"
    for source, splits in counts.items():
        yield f"  {source:13}" + ", ".join(f"{split} {count:,}" for split, count in splits.items())
    missing = [key for key in build.sources if key not in build.chosen]
    if missing:
        yield f"left out     {', '.join(missing)}: no {build.origin.kind} file tells these splits"
    yield f"answers      {total * (1 + N_SAMPLED):,} (1 greedy and {N_SAMPLED} sampled a question)"
    yield f"verdicts     at most {total * (1 + 2 * N_SAMPLED):,}"
    yield f"out          {build.out}"
    yield f"work         {build.work} (finished blocks and verdicts; a killed build goes on from here)"


def planned_counts(build: Build) -> dict[str, dict[str, int]]:
    """Count the questions per source and split: published sizes, or those of the embedded excerpts."""
    if build.origin.kind == "embedded":
        return build.counts
    return {
        key: {
            split: BUILDERS[key].counts[split] if build.limit is None else min(build.limit, BUILDERS[key].counts[split])
            for split in splits
        }
        for key, splits in build.chosen.items()
    }


def summary_table(release: Path, manifest: Manifest, slug: str) -> Table:
    """Tabulate a release per source: examples, greedy accuracy, self-consistency, unparsed verdicts."""
    rows = read_table(release, slug, columns=_COLUMNS)
    table = Table(title=f"{slug}, judge {manifest.content['judge'].get('judge')}", title_justify="left")
    table.add_column("source")
    for heading in ("examples", "greedy accuracy", "without gold in question", "self-consistency", "unparsed"):
        table.add_column(heading, justify="right")
    for source in (key for key in BUILDERS if key in manifest.content["counts"]):
        table.add_row(source, *_cells(rows.filter(pc.equal(rows["source"], source))))
    table.add_section()
    table.add_row("all", *_cells(rows))
    return table


def source_table() -> Table:
    """Tabulate the sources: published sizes, embedded examples, licence."""
    table = Table(title="sources", title_justify="left")
    for heading in ("key", "source", "published examples", "embedded", "licence"):
        table.add_column(heading)
    for builder in BUILDERS.values():
        published = ", ".join(f"{split} {count:,}" for split, count in builder.counts.items())
        embedded = ", ".join(builder.embedded_files)
        table.add_row(builder.key, builder.title, published, embedded, builder.licence.spdx)
    return table


def next_lines(out: Path, manifest: Manifest, slug: str) -> tuple[str, str]:
    """Give the two lines a user types next; they run as they stand, from the folder the build ran in."""
    programs = Path(sys.executable).parent
    is_active = shutil.which("honestybench") == str(programs / "honestybench")
    at = "" if is_active else f"{_from_here(programs)}/"
    split = "test" if "test" in manifest.aliases(slug) else manifest.splits(slug)[0]
    code = f'from datasets import load_dataset; print(load_dataset("{out}", "{slug}", split="{split}")[0])'
    return f"{at}honestybench verify {shlex.quote(str(out))}", f"{at}python -c {shlex.quote(code)}"


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def show(lines: Iterable[str | Table]) -> None:
    """Write lines and tables to stdout; a table keeps its width in a log."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=110)
    for line in lines:
        console.print(line, highlight=False, soft_wrap=isinstance(line, str), markup=False)


def _cells(rows: pa.Table) -> list[str]:
    without_echo = rows.filter(pc.invert(_has_flag(rows, "gold_in_question")))
    return [
        f"{rows.num_rows:,}",
        _mean(rows["greedy_correctness"]),
        f"{_mean(without_echo['greedy_correctness'])} ({without_echo.num_rows:,})",
        _mean(rows["self_consistency"]),
        f"{pc.sum(rows['n_unparsed']).as_py() or 0:,}",
    ]


def _has_flag(rows: pa.Table, flag: str) -> pa.Array:
    return pa.array([flag in flags for flags in rows["flags"].to_pylist()], pa.bool_())


def _mean(column: pa.ChunkedArray) -> str:
    mean = pc.mean(column).as_py()
    return "–" if mean is None else f"{mean:.3f}"

"""The build: questions, answers, verdicts, release. Every step can be killed and started again."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict

import click

from builders import BUILDERS
from builders.base import SourceBuilder
from builders.settings import Build, environment
from honestybench.annotate.cache import BlockStore, VerdictCache
from honestybench.annotate.generate import Block, Generator, blocks_of
from honestybench.annotate.judge import Judge, LlmJudge, RuleJudge
from honestybench.annotate.lexical import LexicalJudge
from honestybench.engine.base import Engine
from honestybench.engine.scripted import ScriptedEngine
from honestybench.engine.vllm_engine import VllmConfig, VllmEngine
from honestybench.errors import JudgeError
from honestybench.models import ModelRef
from honestybench.progress import Meter
from honestybench.records import N_SAMPLED, SPLITS, AnnotatedExample
from honestybench.release import QUESTIONS, Manifest, UnparsedCount, read_manifest
from honestybench.schema import (
    ANNOTATED_SCHEMA,
    QUESTIONS_SCHEMA,
    SCHEMA_VERSION,
    annotated_row,
    question_row,
)
from honestybench.shards import ReleaseWriter
from honestybench.storage import MANIFEST_NAME, ReplacedFolder, exclusive
from honestybench.verify import verify_release

LoadEngine = Callable[[Build, ModelRef, VllmConfig], Engine]
VERDICTS_NAME = "verdicts.sqlite"
VERDICTS_PER_EXAMPLE = 1 + 2 * N_SAMPLED


def up_to_date(build: Build) -> Manifest | None:
    """Return the manifest when `build.out` holds just what this build would write, None otherwise.

    A damaged release, or one with more unparsed verdicts than this build allows, is not up to date.
    """
    build.check()
    folder = ReplacedFolder(build.out)
    if folder.is_unsettled:
        with folder:
            pass
    if not (build.out / MANIFEST_NAME).is_file() or verify_release(build.out):
        return None
    manifest = read_manifest(build.out)
    if manifest.content["config_hash"] != build.hash:
        return None
    unparsed = manifest.content["llms"][build.llm.slug]["unparsed"]
    return None if _too_many_unparsed(unparsed, build.allow_unparsed) else manifest


def load_engine(build: Build, ref: ModelRef, config: VllmConfig) -> Engine:
    """Load an LLM with the engine that the build names."""
    return ScriptedEngine(ref.name) if build.engine == "scripted" else VllmEngine(ref, config)


def run(build: Build, load: LoadEngine = load_engine) -> Manifest:
    """Do the whole build and return the new release's manifest.

    Finished blocks and verdicts in `build.work` are reused. On any error the previous release at
    `build.out` stays as it was. Raises: EngineError, JudgeError, StorageError and the rest of the tree.
    """
    build.check()
    blocks = blocks_of(build.examples, build.generation.block_size)
    store = BlockStore(build.work / "generations" / build.generation_hash()[:16])
    prompts = {role: build.prompts[role] for role in ("qa", "mmlu")}
    generator = Generator(build.generation, prompts, store, lambda: load(build, build.llm, build.vllm_config))
    with exclusive(build.work), ReleaseWriter(build.out) as writer:
        _generate(build, generator, blocks)
        with closing(_judge(build, load)) as judge:
            verdicts = _Verdicts(build, generator, judge, blocks)
            _write(build, writer, verdicts)
        return writer.finish(_content(build, verdicts.counts()), environment())


def _generate(build: Build, generator: Generator, blocks: list[Block]) -> None:
    missing = [block for block in blocks if not generator.is_stored(block)]
    n_stored = len(build.examples) - sum(map(len, missing))
    with ExitStack() as stack:
        stack.callback(generator.close)
        meter = stack.enter_context(Meter("answers", len(build.examples), "questions", quiet_s=0))
        if n_stored:
            meter.advance(n_stored, reused=True)
        if missing:
            click.echo(f"loading {build.llm.name}", err=True)
            generator.load()
            meter.restart_clock()
        for block, _ in generator.answers(missing):
            meter.advance(len(block))


class _Verdicts:
    """Judges stored answers split by split, and counts verdicts that could not be parsed."""

    def __init__(self, build: Build, generator: Generator, judge: Judge, blocks: list[Block]) -> None:
        self._build, self._generator, self._judge, self._blocks = build, generator, judge, blocks
        self._unparsed: Counter[str] = Counter()
        self._judged: Counter[str] = Counter()

    def of_split(self, split: str) -> Iterator[AnnotatedExample]:
        """Yield a split's annotated examples, sorted by source and id."""
        wanted = [block for block in self._blocks if any(example.split == split for example in block)]
        for block, answers in self._generator.answers(wanted):
            members = [example for example in block if example.split == split]
            for annotated in self._judge.annotate(members, answers):
                self._unparsed[annotated.example.source] += annotated.n_unparsed
                self._judged[annotated.example.source] += VERDICTS_PER_EXAMPLE
                yield annotated

    def counts(self) -> dict[str, UnparsedCount]:
        """Count each source's verdicts. Raises: JudgeError where more are unparsed than the build allows."""
        counts: dict[str, UnparsedCount] = {
            source: {"unparsed": self._unparsed[source], "verdicts": verdicts}
            for source, verdicts in sorted(self._judged.items())
        }
        excess = _too_many_unparsed(counts, self._build.allow_unparsed)
        if excess is not None:
            source, share = excess
            raise JudgeError(
                f"{share:.1%} of the verdicts could not be parsed; {self._build.allow_unparsed:.1%} are allowed",
                where=f"source {source}",
                remedy=f"read the judge's words in {self._build.work / VERDICTS_NAME}, change the judge or its prompt, "
                "or allow it: --allow-unparsed",
            )
        return counts


def _too_many_unparsed(counts: Mapping[str, UnparsedCount], allowed: float) -> tuple[str, float] | None:
    """Name the first source whose share of unparsed verdicts is above the allowance, with the share."""
    for source, count in sorted(counts.items()):
        share = count["unparsed"] / count["verdicts"]
        if share > allowed:
            return source, share
    return None


def _write(build: Build, writer: ReleaseWriter, verdicts: _Verdicts) -> None:
    ordered = build.examples
    for split in SPLITS:
        rows = (question_row(example) for example in ordered if example.split == split)
        writer.write_split(QUESTIONS, split, rows, QUESTIONS_SCHEMA)
    with Meter("verdicts", len(ordered) * VERDICTS_PER_EXAMPLE, "verdicts", quiet_s=0) as meter:

        def judged(split: str) -> Iterator[dict[str, object]]:
            for annotated in verdicts.of_split(split):
                meter.advance(VERDICTS_PER_EXAMPLE)
                yield annotated_row(annotated)

        for split in SPLITS:
            writer.write_split(build.llm.slug, split, judged(split), ANNOTATED_SCHEMA)


def _judge(build: Build, load: LoadEngine) -> Judge:
    if build.judge_llm is None:
        return RuleJudge(LexicalJudge())
    llm = build.judge_llm
    prompts = {criterion: build.prompts[criterion] for criterion in ("correctness", "consistency")}
    cache = VerdictCache(build.work / VERDICTS_NAME)
    return LlmJudge(build.judge, prompts, cache, lambda: load(build, llm, VllmConfig(seed=build.seed)))


def _content(build: Build, unparsed: dict[str, UnparsedCount]) -> dict[str, object]:
    flags = Counter(flag for example in build.examples for flag in example.flags)
    counts = build.counts
    return {
        "schema_version": SCHEMA_VERSION,
        "profile": build.profile_name,
        "partial": build.is_partial,
        "config": build.effective_config,
        "config_hash": build.hash,
        "counts": counts,
        "flag_counts": dict(flags),
        "sources": {key: _terms(build, BUILDERS[key]) for key in build.chosen if key in counts},
        "llms": {
            build.llm.slug: {
                "name": build.llm.name,
                "description": build.llm.description,
                "provenance": build.generation.engine,
                "unparsed": unparsed,
            }
        },
        "judge": {**asdict(build.judge)},
        "prompts": {template.name: {"sha256": template.sha256} for template in build.prompts.values()},
        "default_config": build.llm.slug if build.annotated_default else QUESTIONS,
    }


def _terms(build: Build, builder: SourceBuilder) -> dict[str, object]:
    terms = {"title": builder.title, **asdict(builder.licence)}
    if build.origin.kind == "embedded":
        notes = [builder.licence.note, *(file.note for file in builder.embedded_files.values())]
        terms["note"] = "; ".join(note for note in notes if note) or None
    return terms

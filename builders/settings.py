"""What a build is asked to do, and the effective configuration that follows from it."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa

from builders import BUILDERS
from builders.examples import (
    EMBEDDED,
    QuestionOrigin,
    annotate_flags,
    read_examples,
    refuse_split,
    select_builders,
    splits_of,
)
from builders.hub_layout import hub_provenance
from honestybench import __version__, hub, models
from honestybench.annotate.lexical import LexicalJudge
from honestybench.annotate.plan import (
    BLOCK_SIZE,
    JUDGE_SAMPLING,
    GenerationConfig,
    JudgeConfig,
    Profile,
    config_hash,
    find_judge,
    find_profile,
    load_prompts,
)
from honestybench.annotate.prompt import PromptTemplate
from honestybench.annotate.verdict import VERSION as VERDICT_PARSER
from honestybench.engine import scripted, vllm_engine
from honestybench.engine.base import Provenance
from honestybench.errors import UnknownNameError, UsageError
from honestybench.records import SPLITS, QAExample, canonical_json, sha256_hex
from honestybench.schema import SCHEMA_VERSION, question_row

ENGINES = ("vllm", "scripted")
"""Engines by name; `scripted` answers without a model and serves tests."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """One build as asked for. The derived properties are computed once and load no model.

    `limit` keeps the first examples of each source and split in id order, which is random order;
    None keeps all. `work` holds finished blocks and verdicts between builds. `pin_revisions` asks
    the Hub for the commit of an LLM there; without it a plan needs no network.
    Raises: UsageError and its kinds, for whatever is asked wrongly.
    """

    profile_name: str
    out: Path
    work: Path
    llm_name: str | None = None
    judge_name: str | None = None
    engine: str = "vllm"
    origin: QuestionOrigin = EMBEDDED
    sources: Sequence[str] = tuple(BUILDERS)
    splits: Sequence[str] = SPLITS
    limit: int | None = None
    seed: int = 0
    block_size: int = BLOCK_SIZE
    prompt_files: Mapping[str, Path] = field(default_factory=dict)
    allow_unparsed: float = 0.01
    annotated_default: bool = False
    pin_revisions: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.allow_unparsed <= 1:
            raise UsageError("a share lies between 0 and 1", where="--allow-unparsed", value=self.allow_unparsed)
        for option, path in (("--out", self.out), ("--work", self.work)):
            if not str(path).isprintable():
                raise UsageError("the path holds characters that cannot be written here", where=option, value=str(path))
        work, beside = self.work.absolute(), "name a folder beside the release"
        for taken in (str(self.out.absolute()), f"{self.out.absolute()}.partial"):
            if work.is_relative_to(taken):
                raise UsageError(
                    "the work folder lies in the release's", where="--work", value=str(work), remedy=beside
                )

    def check(self) -> None:
        """Find out all that is asked wrongly before a question is read."""
        _ = (self.profile, self.chosen, self.prompts, self.generation, self.judge)

    @cached_property
    def profile(self) -> Profile:
        """The profile's settings."""
        return find_profile(self.profile_name)

    @cached_property
    def llm(self) -> models.ModelRef:
        """The answering LLM."""
        name = self.profile.llm if self.llm_name is None else self.llm_name
        if name is None:
            raise UsageError(
                f"the profile {self.profile_name!r} needs an LLM", remedy="name one: --llm Qwen/Qwen2.5-7B-Instruct"
            )
        return self._pinned(models.resolve(name))

    @cached_property
    def judge_llm(self) -> models.ModelRef | None:
        """The judging LLM; None for the lexical judge."""
        found = find_judge(self.profile.judge if self.judge_name is None else self.judge_name)
        return None if found is None else self._pinned(found)

    @cached_property
    def chosen(self) -> dict[str, list[str]]:
        """Source key -> its splits of this build, as far as the origin's files can tell them."""
        for split in self.splits:
            if split not in SPLITS:
                raise UnknownNameError("split", split, SPLITS)
        builders = select_builders(self.sources)
        wanted = {
            builder.key: [split for split in splits_of(builder, self.origin.kind) if split in self.splits]
            for builder in builders
        }
        for builder in builders:
            if not splits_of(builder, self.origin.kind) and len(builders) < len(BUILDERS):
                refuse_split(builder, next(iter(builder.counts)), self.origin.kind)
        return {key: splits for key, splits in wanted.items() if splits}

    @cached_property
    def examples(self) -> list[QAExample]:
        """All questions of this build, flagged, sorted by source and id."""
        examples = [
            example
            for key, splits in self.chosen.items()
            for split in splits
            for example in read_examples(BUILDERS[key], split, self.origin)[: self.limit]
        ]
        if not examples:
            raise UsageError("no question is left", remedy="choose other sources or splits, or a limit of at least 1")
        return annotate_flags(examples)

    @cached_property
    def prompts(self) -> dict[str, PromptTemplate]:
        """The templates this build uses, by role: qa, mmlu, and the criteria of an LLM judge."""
        roles = {role: f"{self.profile.prompt}-{role}" for role in ("qa", "mmlu")}
        if self.judge_llm is not None:
            roles |= {criterion: f"judge-{criterion}" for criterion in ("correctness", "consistency")}
        loaded = load_prompts(tuple(roles.values()), self.prompt_files)
        unused = sorted(self.prompt_files.keys() - roles.values())
        if unused:
            raise UsageError(
                "this build does not use the replaced prompt",
                where="--prompt",
                value=unused[0],
                remedy=f"it uses {', '.join(roles.values())}",
            )
        prompts = {role: loaded[name] for role, name in roles.items()}
        if prompts["qa"].has_stub != prompts["mmlu"].has_stub:
            raise UsageError(
                "of these two prompts one ends with a started answer, the other does not",
                where=f"prompts {roles['qa']} and {roles['mmlu']}",
                remedy="end both with an [assistant] turn, or none",
            )
        return prompts

    @cached_property
    def vllm_config(self) -> vllm_engine.VllmConfig:
        """How the answering LLM is loaded."""
        return vllm_engine.VllmConfig(
            dtype=self.profile.dtype, max_model_len=self.profile.max_model_len, seed=self.seed
        )

    @cached_property
    def generation(self) -> GenerationConfig:
        """All that can change an answer."""
        return GenerationConfig(
            engine=self._provenance(self.llm, self.vllm_config),
            greedy=self.profile.greedy,
            sampled=self.profile.sampled,
            prompts={role: self.prompts[role].sha256 for role in ("qa", "mmlu")},
            block_size=self.block_size,
            seed=self.seed,
        )

    @cached_property
    def judge(self) -> JudgeConfig:
        """All that can change a verdict."""
        if self.judge_llm is None:
            return JudgeConfig(judge="lexical", provenance=LexicalJudge().provenance)
        criteria = ("correctness", "consistency")
        return JudgeConfig(
            judge=f"llm:{self.judge_llm.name}",
            parser=VERDICT_PARSER,
            sampling=JUDGE_SAMPLING,
            provenance=self._provenance(self.judge_llm, vllm_engine.VllmConfig(seed=self.seed)),
            prompts={criterion: self.prompts[criterion].sha256 for criterion in criteria},
        )

    @cached_property
    def is_partial(self) -> bool:
        """Whether any published split of the ten sources or MMLU is missing or cut."""
        counts = self.counts
        return any(
            counts.get(key, {}).get(split) != count
            for key, builder in BUILDERS.items()
            for split, count in builder.counts.items()
        )

    @cached_property
    def counts(self) -> dict[str, dict[str, int]]:
        """Source -> split -> examples of this build."""
        counts: dict[str, dict[str, int]] = {}
        for example in self.examples:
            of_source = counts.setdefault(example.source, {})
            of_source[example.split] = of_source.get(example.split, 0) + 1
        return counts

    @cached_property
    def effective_config(self) -> dict[str, object]:
        """Everything that can change the release's rows, as plain JSON values."""
        rows = "\n".join(canonical_json(question_row(example)) for example in self.examples)
        return {
            "annotated_default": self.annotated_default,
            "generation": asdict(self.generation),
            "judge": asdict(self.judge),
            "questions": {
                "origin": self.origin.kind,
                "sources": list(self.chosen),
                "splits": list(self.splits),
                "limit": self.limit,
                "sha256": sha256_hex(rows),
                **self._hub_files(),
            },
            "writer": {"honestybench": __version__, "pyarrow": pa.__version__, "schema": SCHEMA_VERSION},
        }

    @cached_property
    def hash(self) -> str:
        """Hash the profile's name and the effective configuration; 64 hexadecimal digits."""
        return sha256_hex(canonical_json([self.profile_name, self.effective_config]))

    def generation_hash(self) -> str:
        """Hash what can change an answer: the store's address."""
        return config_hash(self.generation)

    def _hub_files(self) -> dict[str, object]:
        """Say per source and split which commit and files of the Hub the questions came from, if they did."""
        if self.origin.kind != "hub":
            return {}
        return {
            "hub": {
                key: {split: hub_provenance(BUILDERS[key], split) for split in splits}
                for key, splits in self.chosen.items()
            }
        }

    def _pinned(self, ref: models.ModelRef) -> models.ModelRef:
        """Fix the commit of an LLM on the Hub, so that equal configurations mean equal weights."""
        if ref.kind != "hub" or not self.pin_revisions or self.engine != "vllm":
            return ref
        return models.pin(ref, hub.commit_of(models.repository(ref), models.revision(ref) or "main"))

    def _provenance(self, ref: models.ModelRef, config: vllm_engine.VllmConfig) -> Provenance:
        if self.engine not in ENGINES:
            raise UnknownNameError("engine", self.engine, ENGINES)
        if self.engine == "scripted":
            return scripted.ScriptedEngine(ref.name).provenance
        return vllm_engine.provenance(ref, config)


def environment() -> dict[str, object]:
    """Say where a build ran: what a reader needs to judge its log-probabilities, no dates and no names."""
    packages = ("honestybench", "numpy", "pyarrow")
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_model(),
        "gpus": vllm_engine.gpu_names(),
        "packages": {name: __version__ if name == "honestybench" else version(name) for name in packages},
    }


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines() if Path("/proc/cpuinfo").is_file() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()

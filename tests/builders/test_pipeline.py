"""The build end to end: with the scripted engine in many ways, with the real one once."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from datasets import load_dataset

from builders import BUILDERS
from builders.examples import HUB
from builders.pipeline import load_engine, run, up_to_date
from builders.report import next_lines
from builders.settings import Build
from honestybench.annotate.cache import request_seed
from honestybench.annotate.generate import blocks_of
from honestybench.engine.base import ChatRequest, Engine
from honestybench.errors import (
    HonestyBenchError,
    JudgeError,
    ReleaseError,
    StorageError,
    UnknownNameError,
    UsageError,
)
from honestybench.records import N_SAMPLED, QAExample
from honestybench.shards import ReleaseWriter, read_table
from honestybench.storage import exclusive
from honestybench.verify import verify_release

ROOT = Path(__file__).resolve().parents[2]
SLUG = "smollm2-135m-instruct-q4_1"


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Two questions of each source and split, answered by the scripted engine."""
    return Build(
        profile_name="sample",
        out=tmp_path / "release",
        work=tmp_path / "work",
        engine="scripted",
        limit=2,
        block_size=5,
    )


def refuse_to_load(*_: object) -> Engine:
    raise AssertionError("the engine was loaded although nothing had to be generated")


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_release_holds_every_source_and_verifies(build: Build) -> None:
    manifest = run(build)
    assert verify_release(build.out) == []
    assert manifest.content["counts"].keys() == BUILDERS.keys()
    # 2 of each evaluation split of eleven sources, and 2 of HotpotQA's train split.
    assert read_table(build.out, SLUG).num_rows == read_table(build.out, "questions").num_rows == 24
    assert manifest.content["partial"] is True
    assert manifest.content["default_config"] == "questions"


def test_rows_are_what_the_engine_said(build: Build) -> None:
    run(build)
    rows = {row["id"]: row for row in read_table(build.out, SLUG).to_pylist()}
    engine = load_engine(build, build.llm, build.vllm_config)
    for block in blocks_of(build.examples, build.block_size):
        requests = [build_request(build, example) for example in block]
        for example, (greedy,) in zip(block, engine.generate(requests, build.profile.greedy), strict=True):
            row = rows[example.id]
            assert row["greedy_response"] == greedy.text
            assert tuple(row["greedy_tokens"]) == greedy.tokens
            assert row["greedy_cumulative_logprob"] == greedy.cumulative_logprob
            assert row["greedy_logprobs"] == pytest.approx(greedy.logprobs, rel=1e-6)  # stored as float32
    assert all(len(row["sampling_response"]) == N_SAMPLED for row in rows.values())


def build_request(build: Build, example: QAExample) -> ChatRequest:
    prompt = build.prompts["qa" if example.choices is None else "mmlu"]
    return ChatRequest(messages=prompt.render(question=example.question), seed=request_seed(build.seed, example.id))


def test_equal_builds_give_equal_bytes_and_a_second_run_does_nothing(build: Build, tmp_path: Path) -> None:
    first = run(build)
    again = replace(build, out=tmp_path / "again", work=tmp_path / "other-work")
    run(again)
    assert digests(build.out) == digests(again.out)
    assert up_to_date(build) == first
    assert up_to_date(replace(build, seed=1)) is None
    assert up_to_date(replace(build, limit=1)) is None


def test_a_damaged_release_is_built_again_without_asking_the_engine(build: Build) -> None:
    run(build)
    expected = digests(build.out)
    shard = next(build.out.rglob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1])
    assert up_to_date(build) is None
    run(build, refuse_to_load)
    assert digests(build.out) == expected


def test_a_changed_judge_reuses_generations(build: Build, tmp_path: Path) -> None:
    run(build)
    other = replace(build, judge_name=f"llm:{SLUG}", allow_unparsed=1.0)
    loads: list[str] = []

    def load(build: Build, ref, config) -> Engine:
        loads.append(ref.name)
        return load_engine(build, ref, config)

    manifest = run(other, load)
    assert loads == [SLUG], "only the judge was loaded"
    assert manifest.content["judge"]["judge"] == f"llm:{SLUG}"
    assert verify_release(build.out) == []


def test_too_many_unparsed_verdicts_fail_the_build_and_keep_the_old_release(build: Build) -> None:
    run(build)
    before = digests(build.out)
    # The scripted engine's ten words hold yes and no: most verdicts of such a judge are unparsed.
    other = replace(build, judge_name=f"llm:{SLUG}")
    with pytest.raises(JudgeError, match=r"could not be parsed; 1\.0% are allowed") as caught:
        run(other)
    assert "--allow-unparsed" in str(caught.value)
    assert digests(build.out) == before
    assert not build.out.with_name("release.partial").exists()


def test_a_stricter_call_does_not_take_a_release_with_unparsed_verdicts(build: Build) -> None:
    lenient = replace(build, judge_name=f"llm:{SLUG}", allow_unparsed=1.0)
    first = run(lenient)
    assert up_to_date(lenient) == first
    strict = replace(lenient, allow_unparsed=0.01)
    assert up_to_date(strict) is None
    with pytest.raises(JudgeError):
        run(strict, refuse_to_load)
    assert up_to_date(lenient) == first


def test_a_folder_beside_that_is_not_ours_is_left_alone(build: Build) -> None:
    """`<out>.partial` is where a build works; a user's own folder of that name is not."""
    foreign = build.out.with_name("release.partial")
    foreign.mkdir()
    (foreign / "chapter.txt").write_text("mine", "utf-8")
    for attempt in (up_to_date, run):
        with pytest.raises(ReleaseError, match="stands where the build must work aside"):
            attempt(build)
    assert (foreign / "chapter.txt").read_text("utf-8") == "mine"


def test_a_user_s_file_in_an_older_release_is_not_lost(build: Build) -> None:
    run(build)
    (build.out / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(ReleaseError, match=r"no part of it \(got 'notes\.txt'\)"):
        run(replace(build, seed=1))
    assert (build.out / "notes.txt").read_text("utf-8") == "mine"


def test_two_builds_do_not_write_one_release_at_once(build: Build) -> None:
    with ReleaseWriter(build.out):
        for attempt in (up_to_date, run):
            with pytest.raises(StorageError, match="another build uses this folder"):
                attempt(build)
    assert run(build).release_id


def test_prompts_with_and_without_a_started_answer_do_not_mix(build: Build, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("[user]\n{question}\n", "utf-8")
    with pytest.raises(UsageError, match="one ends with a started answer"):
        run(replace(build, prompt_files={"sample-qa": mine}))


@pytest.mark.parametrize("sources", [("mmlu",), ("hotpotqa",)])
def test_next_lines_name_a_split_that_is_there(build: Build, sources: tuple[str, ...]) -> None:
    splits = ("train", "mmlu")
    few = replace(build, sources=sources, splits=splits, out=build.out.with_name("it's here"))
    manifest = run(few)
    _, load_line = next_lines(few.out, manifest, SLUG)
    loaded = subprocess.run(["bash", "-c", load_line], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert loaded.returncode == 0 and "greedy_response" in loaded.stdout, loaded.stderr


def test_limit_takes_the_first_ids_of_each_split(build: Build) -> None:
    whole = replace(build, limit=None, sources=("nq",)).examples
    few = replace(build, limit=3, sources=("nq",)).examples
    assert len(whole) == 40
    assert [example.id for example in few] == sorted(example.id for example in whole)[:3]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"sources": ("nq", "popqua")}, UnknownNameError, "did you mean 'popqa'"),
        ({"splits": ("ood", "dev")}, UnknownNameError, "in_domain, mmlu, ood, train"),
        ({"profile_name": "papper"}, UnknownNameError, "did you mean 'paper'"),
        ({"llm_name": "gpt"}, UnknownNameError, SLUG),
        ({"judge_name": "human"}, UnknownNameError, "lexical, llm:NAME"),
        ({"engine": "tgi"}, UnknownNameError, "scripted, vllm"),
        ({"profile_name": "paper"}, UsageError, "--llm"),
        ({"profile_name": "paper", "origin": HUB}, UsageError, "--llm"),
        ({"sources": ("squad",), "splits": ("train",)}, UsageError, "no question is left"),
    ],
)
def test_wrong_names_are_told_before_anything_is_written(
    build: Build, change: dict[str, object], error: type[HonestyBenchError], words: str
) -> None:
    with pytest.raises(error) as caught:
        run(replace(build, **change))
    assert words in str(caught.value) and caught.value.exit_code == 2
    assert not build.out.exists() and not build.work.exists()


def test_two_builds_do_not_share_a_work_folder_at_once(build: Build) -> None:
    with exclusive(build.work), pytest.raises(StorageError, match="another build uses this folder"):
        run(build)
    assert not build.out.exists()


@pytest.mark.engine
def test_the_real_engine_builds_a_release_that_loads(tmp_path: Path, engine: Engine) -> None:
    """One question of four sources through the real LLM, twice from nothing: equal bytes, and `datasets` reads it."""
    sources = ("nq", "popqa", "2wiki", "mmlu")
    builds = [
        Build(profile_name="sample", out=tmp_path / name, work=tmp_path / f"{name}-work", limit=1, sources=sources)
        for name in ("one", "two")
    ]
    for build in builds:
        run(build, lambda *_: engine)
        assert verify_release(build.out) == []
    assert digests(builds[0].out) == digests(builds[1].out)
    rows = load_dataset(str(builds[0].out), SLUG, split="test", cache_dir=str(tmp_path / "cache"))
    assert sorted(rows["source"]) == ["2wiki", "nq", "popqa"]
    assert len(list(builds[0].work.rglob("*.json"))) == 1, "four questions are one block"
    for row in rows:
        assert row["greedy_cumulative_logprob"] < 0 and len(row["greedy_tokens"]) == len(row["greedy_logprobs"]) > 0
        assert set(row["sampling_finish_reason"]) <= {"stop", "length"}
        assert row["self_consistency"] == sum(row["consistency_judgement"]) / N_SAMPLED


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(tmp_path: Path) -> Run:
    """Run `python -m builders build` with the scripted engine in a fresh folder."""

    def run_it(*arguments: str, prefix: str = "") -> subprocess.CompletedProcess[str]:
        parts = [sys.executable, "-m", "builders", "build", "--engine", "scripted", "--limit", "1"]
        places = ["--out", str(tmp_path / "release"), "--work", str(tmp_path / "work")]
        quoted = " ".join(f"'{part}'" for part in (*parts, *places, *arguments))
        return subprocess.run(
            ["bash", "-c", f"{prefix} {quoted}"], cwd=ROOT, capture_output=True, text=True, timeout=120
        )

    return run_it


def test_command_ends_with_table_and_next_lines(command: Run, tmp_path: Path) -> None:
    first = command()
    assert first.returncode == 0, first.stderr
    assert "answers: 12/12 questions" in first.stderr and "ETA" in first.stderr
    for heading in (
        "source",
        "examples",
        "greedy accuracy",
        "without gold in question",
        "self-consistency",
        "unparsed",
    ):
        assert heading in first.stdout
    assert all(f" {key} " in first.stdout for key in BUILDERS)
    *_, verify_line, load_line = first.stdout.rstrip().splitlines()
    for line, words in ((verify_line, "no fault"), (load_line, "greedy_response")):
        typed = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert typed.returncode == 0 and words in typed.stdout, typed.stderr
    second = command()
    assert second.returncode == 0 and "nothing to do: up to date" in second.stdout
    assert "answers" not in second.stderr


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        (["--sources", "nq,popqua"], 2, "unknown source (got 'popqua'). Remedy: did you mean 'popqa'?"),
        (["--profile", "big"], 2, "unknown profile (got 'big'). Remedy: known: paper, sample"),
        (["--llm", "gpt"], 2, "unknown LLM (got 'gpt')"),
        (["--judge", "lexcal"], 2, "did you mean 'lexical'?"),
        (["--prompt", "sample-qa"], 2, "NAME=FILE"),
        (["--prompt", "sample-qa=/absent"], 2, "cannot read the prompt file"),
        (["--prompt", "paper-qa=/absent"], 2, "does not use the replaced prompt (got 'paper-qa')"),
        (["--dry-run", "--splits", "bogus"], 2, "unknown split (got 'bogus')"),
        (["--sources", "pararel", "--raw-dir", "."], 1, "pararel: no release file holds the split"),
        (["--limit", "0"], 2, "x>=1"),
        (["--llm", ""], 2, "unknown LLM (got '')"),
        (["--allow-unparsed", "nan"], 2, "a share lies between 0 and 1"),
        (["--prompt", "sample-qa=a", "--prompt", "sample-qa=b"], 2, "each name once"),
        (["--qa-dir", "/absent"], 2, "does not exist"),
    ],
)
def test_wrong_calls_are_one_line(
    command: Run, tmp_path: Path, arguments: list[str], exit_code: int, words: str
) -> None:
    result = command(*arguments)
    assert result.returncode == exit_code
    assert words in result.stderr and "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(command: Run, tmp_path: Path) -> None:
    """`ulimit -f 1` lets no file grow beyond 1 KiB: the first block of answers is larger."""
    result = command(prefix="ulimit -f 1;")
    assert result.returncode == 1
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert "may not grow" in line and "Remedy:" in line and "Traceback" not in result.stderr
    assert not (tmp_path / "release").exists() and not (tmp_path / "release.partial").exists()
    assert [path for path in (tmp_path / "work").rglob("*") if path.suffix in (".json", ".partial")] == []


def test_a_folder_that_is_no_release_is_left_alone(command: Run, tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "thesis.txt").write_text("years of work", "utf-8")
    result = command()
    assert result.returncode == 1 and "holds no release" in result.stderr
    assert (tmp_path / "release" / "thesis.txt").read_text("utf-8") == "years of work"


def test_dry_run_shows_the_plan_and_writes_nothing(command: Run, tmp_path: Path) -> None:
    result = command("--dry-run")
    assert result.returncode == 0, result.stderr
    # 12 questions (one of each of eleven evaluation splits and of HotpotQA's train), 21 answers, at most 41 verdicts.
    for words in ("questions    12", "answers      252", "verdicts     at most 492", "judge        lexical"):
        assert words in result.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.engine
def test_a_folder_that_holds_no_loadable_model_is_one_line(tmp_path: Path) -> None:
    """A real failure of the real engine is a subprocess of its own: see test_models for the carried model."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps({"model_type": "no-such-architecture"}), "utf-8")
    command = [sys.executable, "-m", "builders", "build", "--llm", str(model), "--limit", "1", "--sources", "nq"]
    places = ["--out", str(tmp_path / "release"), "--work", str(tmp_path / "work")]
    result = subprocess.run([*command, *places], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert result.returncode == 1
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert "could not load the model" in line and "Remedy:" in line and "Traceback" not in result.stderr
    assert not (tmp_path / "release").exists()

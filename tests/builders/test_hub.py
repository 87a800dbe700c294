"""Questions from the Hub: the real client against a loopback server, in processes of their own."""

import hashlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from builders import BUILDERS
from builders.base import SourceRow
from builders.examples import build_examples
from honestybench.errors import MissingExtraError
from honestybench.hub import fetch_files
from tests.builders.hub_layouts import write_repo
from tests.hub_emulator import HubEmulator, Refusal

ROOT = Path(__file__).resolve().parents[2]
# Source -> the split whose repository files hold the sample's records.
SPLITS = {key: "train" if key == "hotpotqa" else list(builder.counts)[-1] for key, builder in BUILDERS.items()}

READ = """
import json, sys
from dataclasses import asdict, replace
from builders import BUILDERS
from builders.examples import build_examples
from builders.hub_layout import hub_provenance, read_hub
read = {}
for key, split in json.loads(sys.argv[1]).items():
    builder = replace(BUILDERS[key], select_hub_split=None)  # the split of a part of ParaRel's table is undefined
    examples = build_examples(key, split, read_hub(builder, split))
    read[key] = [hub_provenance(builder, split), [asdict(example) for example in examples]]
print(json.dumps(read))
"""
FETCH = """
import sys, time
time.sleep = lambda seconds: None  # the client waits 23 seconds in all before it gives up on a Hub that is down
from honestybench.errors import SourceError
from honestybench.hub import fetch_files
try:
    print(fetch_files(*sys.argv[1:]).commit)
except SourceError as error:
    print(error)
"""
BUILD = """
import sys
from dataclasses import replace
from pathlib import Path
import builders
for key, count in (("squad", 80), ("popqa", 60)):
    builders.BUILDERS[key] = replace(builders.BUILDERS[key], counts={"ood": count})
from builders.examples import HUB, QuestionOrigin
from builders.pipeline import run
from builders.settings import Build
out = Path(sys.argv[1])
origin = HUB if len(sys.argv) == 2 else QuestionOrigin(kind="release", root=Path(sys.argv[2]))
sources = ("squad", "popqa")
run(Build(profile_name="sample", engine="scripted", origin=origin, sources=sources, out=out, work=Path("work")))
"""


@pytest.fixture(scope="module")
def hub(raw_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubEmulator]:
    """A Hub with a small repository for every source, at the pinned revisions."""
    folder = tmp_path_factory.mktemp("repos")
    with HubEmulator() as emulator:
        for key, split in SPLITS.items():
            write_repo(key, raw_dir, folder / key)
            files = BUILDERS[key].hub_files[split]
            emulator.seed(files.repo, folder / key, files.revision)
        yield emulator


@pytest.fixture
def python(hub: HubEmulator, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program in a process whose Hub is the emulator and whose Hub cache is its test's."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "NO_PROXY": "127.0.0.1",
            **environment,
        }
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=120)

    return run


def fetched(result: subprocess.CompletedProcess[str]) -> str:
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.strip()


def test_the_hub_and_the_original_release_give_the_same_examples(
    python: Callable[..., subprocess.CompletedProcess[str]],
    hub: HubEmulator,
    release_rows: Callable[[str], list[SourceRow]],
    qa_rows: Callable[[str], list[SourceRow]],
) -> None:
    read: dict[str, Any] = json.loads(fetched(python("-c", READ, json.dumps(SPLITS))))
    assert read.keys() == BUILDERS.keys()
    for key, (provenance, examples) in read.items():
        rows = release_rows(key)
        if key == "webquestions":
            wanted = {row.question for row in qa_rows(key)}
            rows = [row for row in rows if row.question in wanted]
        expected = build_examples(key, SPLITS[key], rows)
        assert len(examples) >= 3
        assert [example["id"] for example in examples] == [example.id for example in expected], key
        assert examples == json.loads(json.dumps([asdict(example) for example in expected])), key
        files = BUILDERS[key].hub_files[SPLITS[key]]
        commit, served = hub.repos[files.repo][files.revision]
        assert provenance == {"repo": files.repo, "commit": commit, "files": sorted(served)}


def test_every_split_has_its_files_at_a_full_commit_or_a_known_branch() -> None:
    for key, builder in BUILDERS.items():
        assert builder.hub_files.keys() == builder.counts.keys()
        for files in builder.hub_files.values():
            assert len(files.revision) == 40 or (key, files.revision) == ("cwq", "refs/convert/parquet")
            assert bool(files.columns) == files.pattern.endswith(".parquet")


def test_a_build_from_the_hub_equals_one_from_the_release_and_says_what_it_read(
    python: Callable[..., subprocess.CompletedProcess[str]], raw_dir: Path, tmp_path: Path
) -> None:
    for key, sample, name in (("squad", "dev-v1.1.json", "dev-v1.1.json"), ("popqa", "popQA.tsv", "popQA.tsv")):
        (tmp_path / "raw" / key).mkdir(parents=True)
        (tmp_path / "raw" / key / name).write_bytes((raw_dir / sample).read_bytes())
    built = [python("-c", BUILD, "hub"), python("-c", BUILD, "release", "raw")]
    assert [result.returncode for result in built] == [0, 0], built[0].stderr + built[1].stderr
    digests = [
        {
            path.relative_to(tmp_path / name / "data"): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (tmp_path / name / "data").rglob("*.parquet")
        }
        for name in ("hub", "release")
    ]
    assert digests[0] == digests[1] != {}
    questions = json.loads((tmp_path / "hub" / "manifest.json").read_text())["content"]["config"]["questions"]
    assert questions["origin"] == "hub"
    # Two files: the sample is served in two shards.
    assert questions["hub"]["squad"]["ood"] == {
        "repo": "rajpurkar/squad",
        "commit": BUILDERS["squad"].hub_files["ood"].revision,
        "files": [f"plain_text/validation-0000{index}-of-00002.parquet" for index in (0, 1)],
    }
    assert questions["hub"]["popqa"]["ood"]["files"] == ["test.tsv"]


PAPER = ("-m", "builders", "build", "--profile", "paper", "--engine", "scripted", "--llm", "Qwen/Qwen2.5-7B-Instruct")


def test_a_part_of_a_split_is_refused(python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    result = python(*PAPER, "--sources", "squad")
    assert (result.returncode, result.stdout) == (1, "")
    assert "squad, split ood: expected 10570 examples (got 80)" in result.stderr
    assert "Hub dataset rajpurkar/squad, plain_text/validation-*.parquet" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "build" / "release").exists()


def test_the_plan_of_the_paper_needs_no_network(
    python: Callable[..., subprocess.CompletedProcess[str]], hub: HubEmulator
) -> None:
    asked = len(hub.requests)
    plan = fetched(python(*PAPER, "--judge", "llm:Qwen/Qwen2.5-32B-Instruct", "--dry-run", HF_HUB_OFFLINE="1"))
    # 567,647 + 37,904 + 32,805 published examples of the ten sources, and MMLU's test split.
    assert "652,398 (hub): 638,356 and 14,042 of MMLU" in plan
    assert "2wiki        train 167,454, in_domain 12,576" in plan
    assert len(hub.requests) == asked


POPQA = BUILDERS["popqa"].hub_files["ood"]
UNKNOWN = "0" * 40
# What is asked for, the server's fault -> words of the one line.
REFUSED: list[tuple[tuple[str, str, str], dict[str, Refusal], str]] = [
    (("akariasai/Pop", "test.tsv", "main"), {}, "no such repository, or hides it. Remedy"),
    ((POPQA.repo, "train.tsv", POPQA.revision), {}, "the repository holds no such file. Remedy"),
    ((POPQA.repo, "test.tsv", UNKNOWN), {}, "no such revision"),
    ((POPQA.repo, "test.tsv", POPQA.revision), {"/tree/": Refusal(503)}, "HTTP status 503"),
    ((POPQA.repo, "test.tsv", POPQA.revision), {"/resolve/": Refusal(500)}, "HTTP status 500"),
    ((POPQA.repo, "test.tsv", POPQA.revision), {"/tree/": Refusal(403, "GatedRepo")}, "gated"),
]


@pytest.mark.parametrize(("wanted", "faults", "told"), REFUSED, ids=[told for _, _, told in REFUSED])
def test_a_refusal_is_one_line_with_place_and_remedy(
    wanted: tuple[str, str, str],
    faults: dict[str, Refusal],
    told: str,
    python: Callable[..., subprocess.CompletedProcess[str]],
    hub: HubEmulator,
) -> None:
    hub.faults.update(faults)
    try:
        line = fetched(python("-c", FETCH, *wanted))
    finally:
        hub.faults.clear()
    repo, pattern, revision = wanted
    assert line.startswith(f"Hub dataset {repo}, {pattern}, revision {revision}: ")
    assert told in line and "--qa-dir or --raw-dir" in line and "\n" not in line


def test_no_connection_is_told_and_a_warm_cache_needs_none(
    python: Callable[..., subprocess.CompletedProcess[str]], hub: HubEmulator
) -> None:
    wanted = (POPQA.repo, POPQA.pattern, POPQA.revision)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, but nobody listens
        nowhere = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert "HF_HUB_OFFLINE forbids fetching" in fetched(python("-c", FETCH, *wanted, HF_HUB_OFFLINE="1"))
        assert "the Hub cannot be reached (ConnectError)" in fetched(python("-c", FETCH, *wanted, HF_ENDPOINT=nowhere))
        assert fetched(python("-c", FETCH, *wanted)) == POPQA.revision
        assert fetched(python("-c", FETCH, *wanted, HF_HUB_OFFLINE="1")) == POPQA.revision
        assert fetched(python("-c", FETCH, *wanted, HF_ENDPOINT=nowhere)) == POPQA.revision


def test_a_missing_client_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"needs the package 'huggingface_hub'.*--raw-dir"):
        fetch_files("owner/name", "*.parquet", "main")

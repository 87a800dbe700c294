"""The embedded questions: how many, from where, and that the ids are those of a whole build."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from builders import BUILDERS
from builders.examples import EMBEDDED, EMBEDDED_DIR, annotate_flags, read_examples, splits_of
from builders.excerpt import excerpt_lines
from honestybench.errors import SourceError
from honestybench.records import QAExample

LOCK_FILE = EMBEDDED_DIR.parent / "sources.lock"

# 40 a source; TriviaQA and MMLU have as many as real records are at hand; HotpotQA's train records are real too.
EXPECTED_COUNTS = {
    ("nq", "in_domain"): 40,
    ("triviaqa", "in_domain"): 18,
    ("hotpotqa", "train"): 40,
    ("hotpotqa", "in_domain"): 40,
    ("2wiki", "in_domain"): 40,
    ("pararel", "in_domain"): 40,
    ("squad", "ood"): 40,
    ("webquestions", "ood"): 40,
    ("cwq", "ood"): 40,
    ("musique", "ood"): 40,
    ("popqa", "ood"): 40,
    ("mmlu", "mmlu"): 30,
}


@pytest.fixture(scope="module")
def embedded() -> list[QAExample]:
    return annotate_flags(
        [
            example
            for builder in BUILDERS.values()
            for split in splits_of(builder, "embedded")
            for example in read_examples(builder, split, EMBEDDED)
        ]
    )


def test_counts(embedded: list[QAExample]) -> None:
    counts = Counter((example.source, example.split) for example in embedded)
    assert counts == EXPECTED_COUNTS
    assert sum(n for (_, split), n in counts.items() if split != "train") == 408


def test_sorted_without_copies(embedded: list[QAExample]) -> None:
    keys = [(example.source, example.id) for example in embedded]
    assert keys == sorted(keys)
    assert not any("duplicate" in example.flags for example in embedded)


def test_the_rows_of_excerpts_are_known_and_of_other_files_unknown(embedded: list[QAExample]) -> None:
    without = {(example.source, example.split) for example in embedded if example.source_row is None}
    assert without == {("triviaqa", "in_domain"), ("hotpotqa", "train"), ("mmlu", "mmlu")}
    for example in embedded:
        if example.source_row is not None:
            assert 0 <= example.source_row < BUILDERS[example.source].counts[example.split]


def test_pararel_relations_and_mmlu_choices_are_recovered(embedded: list[QAExample]) -> None:
    assert all(example.relation and example.subject for example in embedded if example.source == "pararel")
    mmlu = [example for example in embedded if example.source == "mmlu"]
    assert {example.subject for example in mmlu} == {
        "abstract_algebra",
        "anatomy",
        "astronomy",
        "college_biology",
        "global_facts",
        "world_religions",
    }
    assert all(len(example.choices or ()) == 4 for example in mmlu)


def test_the_files_are_found_from_any_directory(tmp_path: Path) -> None:
    code = (
        "from builders import BUILDERS; from builders.examples import EMBEDDED, read_examples;"
        "print(len(read_examples(BUILDERS['nq'], 'in_domain', EMBEDDED)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(EMBEDDED_DIR.parents[1])}
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout == "40\n"


def test_every_embedded_file_has_its_row_in_the_readme() -> None:
    readme = (EMBEDDED_DIR / "README.md").read_text(encoding="utf-8")
    rows = {tuple(cell.strip() for cell in line.split("|")[1:4]) for line in readme.splitlines() if "`" in line}
    for (key, split), count in EXPECTED_COUNTS.items():
        name = BUILDERS[key].embedded_files[split].name
        assert (f"`{key}/{name}`", split, str(count)) in rows
        assert BUILDERS[key].licence.attribution in readme
        assert BUILDERS[key].licence.url in readme


def test_the_lock_file_agrees_with_the_builders() -> None:
    lock = yaml.safe_load(LOCK_FILE.read_text(encoding="utf-8"))
    assert list(lock) == list(BUILDERS)
    for key, builder in BUILDERS.items():
        entry = lock[key]
        assert entry.keys() == {"hub", "revision", "hub_files", "licence", "files"}
        assert entry["licence"] == builder.licence.spdx
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", entry["hub"])
        assert {(files.repo, files.revision) for files in builder.hub_files.values()} == {
            (entry["hub"], entry["revision"])
        }
        assert {split: files.pattern for split, files in builder.hub_files.items()} == entry["hub_files"]
        assert {file["split"]: file["name"] for file in entry["files"]} == builder.release_files
        for file in entry["files"]:
            assert file.keys() == {"split", "name", "sha256"}
            assert file["sha256"] is None or re.fullmatch(r"[0-9a-f]{64}", file["sha256"])


def test_excerpt_skips_repeats_and_spreads_evenly(tmp_path: Path) -> None:
    # 80 rows: every second one is taken; row 2 repeats row 0, so 3 is taken in its place.
    path = tmp_path / "dev.jsonl"
    questions = [0, 1, 0, *range(3, 80)]
    path.write_text("".join(f'{{"question": "q{n}", "answer": ["a"]}}\n' for n in questions))
    rows = [json.loads(line)["source_row"] for line in excerpt_lines(BUILDERS["squad"], "ood", path)]
    assert rows == [0, 3, *range(4, 80, 2)]


def test_excerpt_of_too_few_rows(tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text('{"question": "q", "answer": ["a"]}\n' * 50)
    with pytest.raises(SourceError, match="fewer than 40 distinct rows"):
        excerpt_lines(BUILDERS["squad"], "ood", path)

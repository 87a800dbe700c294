"""What the documentation says is run, and what it points at is there.

Each `console` line after `$ ` and each `python` block of README.md and docs/ runs in the checkout, with this
interpreter's folder first on PATH, unless NOT_RUN tells why it does not. Other fences (`text`, …) are not commands.
"""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from honestybench.baselines import BASELINES
from honestybench.passes.table import PASSES
from honestybench.records import FLAGS
from honestybench.schema import ANNOTATED_SCHEMA

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAKE_WITHOUT_INSTALLING = 'make() { command make -o "$VENV/.stamp-base" -o "$VENV/.stamp-engine" "$@"; }'
LINK = re.compile(r"\]\(([^)\s]+)\)")

NOT_RUN = {
    "make build-bench": "takes minutes; the tests of the builders run the same build with the real engine",
    "make build-bench PROFILE=paper LLM=Qwen/Qwen2.5-7B-Instruct JUDGE=llm:Qwen/Qwen2.5-32B-Instruct": (
        "needs a GPU and a connection to the Hub; the tests of the builders run its plan and read from a loopback Hub"
    ),
    "make test": "is the run that this test is part of",
    "make lint": "runs before the tests in .ci/run",
    "make format": "rewrites the checkout",
    "make sample": "takes minutes and rewrites the sample",
    "make serve": "runs until it is stopped; tests/leaderboard/test_browser.py starts the same server",
    "make screenshots": "needs Chromium; tests/leaderboard/test_browser.py takes the same pictures where it is",
    "make bench": "takes minutes; tests/test_bench.py tests its harness",
    (
        "honestybench recalibrate honestybench/sample --method isotonic "
        "--confidences submissions/mine/confidences.jsonl --train-confidences train.jsonl --out build/recalibrated"
    ): "needs files of the reader's; tests/recalibrate/test_recalibrate.py maps such files",
    "honestybench passes build/release --out submissions/smollm2-135m-instruct-q4_1": (
        "asks the real LLM for minutes; tests/cli/test_passes.py runs it with the scripted engine"
    ),
    "honestybench passes build/release --out submissions/smollm2-135m-instruct-q4_1 "
    "--only p_true --train-labels 40 --train-out build/p_true-train.jsonl": "asks the real LLM as well",
    "make score": "rewrites the score cards; tests/test_submissions.py compares them with what it would write",
}


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page as (language, text)."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


def documented(language: str) -> list[str]:
    """The commands or programs of one language on all pages, without repeats, in order."""
    texts = [text for page in PAGES for found, text in blocks(page) if found == language]
    if language == "console":
        texts = [line.removeprefix("$ ") for text in texts for line in text.splitlines()]
    return list(dict.fromkeys(texts))


def run(command: list[str]) -> None:
    """Run a command as a reader would in the checkout, with this interpreter's environment as the installed one."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "VENV": sys.prefix}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("command", [line for line in documented("console") if line not in NOT_RUN])
def test_documented_command_runs(command: str) -> None:
    run(["bash", "-euo", "pipefail", "-c", f"{MAKE_WITHOUT_INSTALLING}\n{command}"])


@pytest.mark.parametrize("program", documented("python"), ids=lambda text: text.strip().splitlines()[-1])
def test_documented_program_runs(program: str) -> None:
    run([sys.executable, "-c", program])


def test_exceptions_are_still_documented() -> None:
    assert [command for command in NOT_RUN if command not in documented("console")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_is_well_formed(page: Path) -> None:
    """Every command is in a fence that is checked, and every link inside the project leads somewhere."""
    text = page.read_text(encoding="utf-8")
    assert text.count("```") == 2 * len(blocks(page)), "a fence is not closed or not at the line's start"
    for language, body in blocks(page):
        assert language in ("console", "python", "text", "bibtex"), f"unchecked fence: {language!r}"
        if language == "console":
            assert all(line.startswith("$ ") for line in body.splitlines()), "a console line is a command after `$ `"
    for target in LINK.findall(FENCE.sub("", text)):
        if "://" not in target:
            assert (page.parent / target.split("#")[0]).exists(), f"dead link: {target}"


def table_rows(page: str, width: int) -> list[list[str]]:
    """The body rows of all tables of a page that have `width` columns, backticks taken off."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [[cell.replace("`", "") for cell in row] for row in rows if len(row) == width]


def test_every_column_is_explained() -> None:
    explained = [name for name, *_ in table_rows("docs/data.md", 3)]
    assert [name for name in explained if name in ANNOTATED_SCHEMA.names] == ANNOTATED_SCHEMA.names


def test_every_flag_is_explained() -> None:
    explained = {name: meaning for name, meaning in table_rows("docs/data.md", 2) if name in FLAGS}
    assert explained == FLAGS


def test_every_baseline_is_explained() -> None:
    explained = [(name, sees, samples) for name, _, sees, samples, _ in table_rows("docs/methods.md", 5)[2:]]
    assert explained == [(name, one.sees, str(one.samples)) for name, one in BASELINES.items()]


def test_every_pass_is_explained() -> None:
    explained = [(name, sees, labels) for name, _, _, sees, labels, _ in table_rows("docs/methods-passes.md", 6)[2:]]
    assert explained == [(name, one.sees, str(one.labels)) for name, one in PASSES.items()]


def test_the_import_table_is_the_checked_one() -> None:
    """Read TABLE from the source of the test that enforces it, so that page and rule cannot part."""
    tree = ast.parse((ROOT / "tests" / "test_architecture.py").read_text(encoding="utf-8"))
    (table,) = [n.value for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "TABLE"]
    assert isinstance(table, ast.Tuple)
    checked = [[*map(ast.literal_eval, row.args), "", "", ""][:4] for row in table.elts if isinstance(row, ast.Call)]
    told = [[cell.replace(",", "") for cell in row] for row in table_rows("docs/architecture.md", 4)[2:]]
    assert told == checked

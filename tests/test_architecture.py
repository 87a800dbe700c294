"""Who may import whom, how long things may be, and what an import may cost: read from the source with `ast`.

Every checker takes sources as data, so that each is also shown a small fault that it must find.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGES = ("honestybench", "builders", "leaderboard")
CLI_BORDER = "honestybench.cli.* builders.__main__ leaderboard.__main__"
MAX_FILE_LINES = 300
MAX_BODY_LINES = 40


@dataclass(frozen=True)
class Row:
    """What the modules matching `who` may import. The standard library is free.

    Patterns are separated by blanks: `x.*` is the package x and all in it, `*` all of honestybench, `!x` takes x
    away again; names are relative to honestybench unless they name another package. `eager` third-party packages
    may be imported anywhere, `lazy` ones inside functions (and for type checkers) only.
    """

    who: str
    ours: str = ""
    eager: str = ""
    lazy: str = ""


# The table of docs/architecture.md. The first row that matches a module is its row.
TABLE = (
    Row("honestybench", "release shards records scorecard scoring errors", "pyarrow numpy", "datasets"),
    Row("errors normalize"),
    Row("records storage", "errors"),
    Row("terminal", "errors", "click"),
    Row("progress", "", "rich"),
    Row("metrics.*", "metrics.* errors", "numpy", "scipy"),
    Row("schema", "records errors", "pyarrow"),
    Row("shapes", "records"),
    Row("release", "records schema shapes storage errors", "pyarrow"),
    Row("card croissant shards", "records schema release storage card croissant errors", "pyarrow yaml"),
    Row("verify", "records schema release card croissant shards errors", "pyarrow"),
    Row("hub", "shards card errors", "", "huggingface_hub"),
    Row("engine.vllm_engine", "engine.* models records errors", "", "vllm torch transformers"),
    Row("engine.openai_engine", "engine.* models records errors", "", "openai"),
    Row("engine.*", "engine.* records errors"),
    Row("models", "records storage errors", "", "accelerate gguf safetensors torch transformers"),
    Row("annotate.*", "annotate.* engine.base models normalize records schema shards storage errors", "pyarrow", "ray"),
    Row("submission.*", "submission.* records release shards storage errors", "pyarrow yaml"),
    Row("subsets", "errors"),
    Row(
        "baselines.* recalibrate.*",
        "baselines.* recalibrate.* subsets records normalize release shards submission.* errors",
        "numpy",
        "sklearn",
    ),
    Row(
        "passes.*",
        "passes.* annotate.prompt annotate.cache engine.base subsets records release shards storage submission.* "
        "errors",
        "numpy",
    ),
    Row("convert", "records schema shards submission.* errors", "pyarrow", "pandas"),
    Row("scorecard", "records shapes storage errors"),
    Row("slices"),
    Row("labels", "records schema release shards storage submission.* errors", "pyarrow"),
    Row("scoring.*", "scoring.* labels slices shards submission.* metrics.* scorecard errors", "numpy"),
    # What needs no torch imports without it; whoever imports the rest needs the extra `elical`.
    Row(
        "elical elical.batches elical.card elical.config elical.curve elical.probe elical.questions elical.saved "
        "elical.setting",
        "elical.* annotate.prompt models subsets records release shards storage progress submission.* errors",
        "numpy",
        "safetensors sklearn torch",
    ),
    Row(
        "elical.*",
        "elical.* annotate.prompt models subsets records release shards storage progress submission.* errors",
        "numpy torch",
        "accelerate peft safetensors sklearn transformers",
    ),
    Row("cli.*", "*", "click rich"),
    Row("builders.*", "* builders.* !scoring.* !metrics.* !elical.* !cli.*", "click datasets pyarrow rich yaml"),
    Row("leaderboard.browser", "errors", "", "selenium"),
    Row(
        "leaderboard.*",
        "leaderboard.* scorecard metrics submission.* records release shards storage terminal errors",
        "click jinja2 markupsafe",
    ),
)

# What `pip install honestybench` brings; every other package of the table is an extra.
BASE_PACKAGES = {"click", "numpy", "pyarrow", "rich", "yaml"}
HEAVY_PACKAGES = ("torch", "vllm", "datasets", "pandas", "sklearn", "ray", "scipy", "huggingface_hub", "transformers")


@dataclass(frozen=True)
class Import:
    """One imported module: `lazy` inside a function, `typing_only` under TYPE_CHECKING."""

    target: str
    line: int
    lazy: bool
    typing_only: bool


def full_name(pattern: str) -> str:
    return pattern if pattern.split(".")[0] in PACKAGES else f"honestybench.{pattern}"


def matches(module: str, patterns: str) -> bool:
    """Say whether a module matches one of the patterns and no `!pattern`."""

    def hit(pattern: str) -> bool:
        if pattern == "*":
            return module.split(".")[0] == "honestybench"
        name = full_name(pattern.removesuffix(".*"))
        return module == name or (pattern.endswith(".*") and module.startswith(f"{name}."))

    words = patterns.split()
    return any(hit(word) for word in words if word[0] != "!") and not any(hit(w[1:]) for w in words if w[0] == "!")


def row_of(module: str) -> Row | None:
    return next((row for row in TABLE if matches(module, row.who)), None)


def find_imports(tree: ast.AST, known: Mapping[str, object]) -> Iterator[Import]:
    """Find absolute imports; `from package import name` means package.name where that is a known module."""

    def visit(node: ast.AST, lazy: bool, typing_only: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, lazy, typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: write absolute imports"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            targets = {name if name in known else str(node.module) for name in names}
            yield from (Import(target, node.lineno, lazy, typing_only) for target in sorted(targets))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                yield from visit(child, True, True)
            for child in node.orelse:
                yield from visit(child, lazy, typing_only)
        else:
            inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from visit(child, inside, typing_only)

    yield from visit(tree, False, False)


def import_faults(sources: Mapping[str, str]) -> list[str]:
    """List the imports that the table does not allow, and the modules that it does not know."""
    faults = []
    for module, text in sources.items():
        row = row_of(module)
        if row is None:
            faults.append(f"{module}: no row of the import table matches it")
            continue
        for found in find_imports(ast.parse(text), sources):
            top = found.target.split(".")[0]
            if top in PACKAGES:
                allowed = matches(found.target, row.ours)
            else:
                packages = f"{row.eager} {row.lazy}" if found.lazy else row.eager
                allowed = top in sys.stdlib_module_names or top in packages.split()
            if not allowed:
                faults.append(f"{module}:{found.line}: may not import {found.target}{'' if found.lazy else ' here'}")
    return faults


def import_circle(sources: Mapping[str, str]) -> list[str]:
    """Name the modules of one import circle, none if there is none. Lazy imports count: they only hide a circle."""
    graph = {
        module: {i.target for i in find_imports(ast.parse(text), sources) if not i.typing_only} & sources.keys()
        for module, text in sources.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def length_faults(sources: Mapping[str, str]) -> list[str]:
    """List the files and function bodies (docstring not counted) over budget."""
    faults = []
    for module, text in sources.items():
        if (lines := text.count("\n")) > MAX_FILE_LINES:
            faults.append(f"{module}: {lines} lines, {MAX_FILE_LINES} allowed")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                lines = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
                if lines > MAX_BODY_LINES:
                    faults.append(f"{module}:{node.lineno}: {node.name} has {lines} lines, {MAX_BODY_LINES} allowed")
    return faults


def border_faults(sources: Mapping[str, str]) -> list[str]:
    """List `print` calls and broad excepts outside the command line."""
    faults = []
    for module, text in sources.items():
        if matches(module, CLI_BORDER):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
                faults.append(f"{module}:{node.lineno}: print outside the command line")
            if isinstance(node, ast.ExceptHandler):
                caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
                if any(kind is None or ast.unparse(kind) in ("Exception", "BaseException") for kind in caught):
                    faults.append(f"{module}:{node.lineno}: broad except outside the command line")
    return faults


@pytest.fixture(scope="module")
def sources(checkout: Path) -> dict[str, str]:
    """Every module of the project by dotted name."""
    found = {}
    for path in sorted(p for package in PACKAGES for p in (checkout / package).rglob("*.py")):
        parts = path.relative_to(checkout).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    assert {"honestybench.records", "builders.base"} <= found.keys()
    return found


@pytest.mark.parametrize("faults", [import_faults, import_circle, length_faults, border_faults])
def test_project_keeps_the_rule(faults, sources: dict[str, str]) -> None:
    assert faults(sources) == []


@pytest.mark.parametrize(
    ("faults", "bad", "told"),
    [
        (import_faults, {"honestybench.errors": "import numpy"}, "may not import numpy here"),
        (import_faults, {"honestybench.metrics.x": "import scipy.stats"}, "may not import scipy.stats here"),
        (import_faults, {"honestybench.metrics.x": "def f():\n import vllm"}, "may not import vllm"),
        (import_faults, {"honestybench.records": "from honestybench.schema import X"}, "honestybench.schema here"),
        (import_faults, {"honestybench.cli.x": "import builders.base"}, "may not import builders.base"),
        (import_faults, {"honestybench.records": "def f():\n from builders import base"}, "may not import builders"),
        (import_faults, {"builders.x": "from leaderboard import views"}, "may not import leaderboard"),
        (import_faults, {"leaderboard.x": "import builders"}, "may not import builders"),
        (
            import_faults,
            {"builders.x": "from honestybench import scoring", "honestybench.scoring": ""},
            "may not import honestybench.scoring",
        ),
        (import_faults, {"honestybench.misc": ""}, "no row of the import table"),
        (import_circle, {"honestybench.a": "import honestybench.b", "honestybench.b": "import honestybench.a"}, ".a"),
        (
            import_circle,
            {"honestybench.a": "from honestybench import b", "honestybench.b": "def f():\n import honestybench.a"},
            ".b",
        ),
        (length_faults, {"honestybench.a": "x = 1\n" * 301}, "301 lines"),
        (length_faults, {"honestybench.a": 'def f():\n    """Doc."""\n' + "    x = 1\n" * 41}, "f has 41 lines"),
        (border_faults, {"honestybench.a": "print(1)"}, "print"),
        (border_faults, {"builders.a": "try:\n x\nexcept:\n y"}, "broad except"),
        (border_faults, {"builders.a": "try:\n x\nexcept (ValueError, Exception):\n y"}, "broad except"),
    ],
)
def test_checker_finds_a_fault(faults, bad: dict[str, str], told: str) -> None:
    assert told in " ".join(faults(bad))


@pytest.mark.parametrize(
    ("faults", "good"),
    [
        (import_faults, {"honestybench.metrics.x": "import json\nimport numpy\ndef f():\n import scipy"}),
        (import_faults, {"honestybench.cli.x": "from honestybench import __version__\nimport honestybench.scoring"}),
        (import_faults, {"builders.x": "from builders import BUILDERS\nfrom honestybench.records import QAExample"}),
        (import_faults, {"honestybench": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n import datasets"}),
        (import_circle, {"honestybench.a": "import honestybench.b", "honestybench.b": "import json"}),
        (length_faults, {"honestybench.a": 'def f():\n    """Doc."""\n' + "    x = 1\n" * 40}),
        (border_faults, {"honestybench.cli.main": "try:\n x\nexcept Exception:\n print(1)"}),
    ],
)
def test_checker_is_silent_about_good_source(faults, good: dict[str, str]) -> None:
    assert faults(good) == []


def run_fresh(code: str, *arguments: str, cwd: Path) -> str:
    result = subprocess.run([sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_import_is_light(checkout: Path) -> None:
    loaded = run_fresh("import sys, honestybench; print(*sys.modules)", cwd=checkout).split()
    assert "honestybench" in loaded
    assert [name for name in HEAVY_PACKAGES if name in loaded] == []


def test_every_module_imports_without_the_extras(checkout: Path, sources: dict[str, str]) -> None:
    """Import all modules of the wheel in one process that refuses every package the wheel does not require."""
    extras = {name for row in TABLE for name in f"{row.eager} {row.lazy}".split()} - BASE_PACKAGES
    names = [m for m in sources if m.split(".")[0] == "honestybench" and not extras & set(row_of(m).eager.split())]
    code = (
        "import sys, importlib\n"
        "sys.modules.update(dict.fromkeys(sys.argv[1].split()))\n"  # None in sys.modules makes the import fail
        "for name in sys.argv[2].split(): importlib.import_module(name)\n"
    )
    run_fresh(code, " ".join(sorted(extras)), " ".join(names), cwd=checkout)

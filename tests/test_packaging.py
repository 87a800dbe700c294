"""The wheel holds `honestybench` and nothing else, works away from the checkout, and its public names are frozen."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import honestybench

NOT_SHIPPED = shutil.ignore_patterns(".*", "build", "dist", "site", "*.egg-info", "__pycache__")


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    result = subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without network from a copy, so that no leftover of an earlier build gets in."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(checkout, folder / "checkout", ignore=NOT_SHIPPED)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", ".", cwd=folder / "checkout")
    (found,) = (folder / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed into it."""
    target = tmp_path_factory.mktemp("site")
    options = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", target)
    run(sys.executable, "-m", "pip", "install", *options, wheel, cwd=target)
    return target


def test_wheel_ships_the_package_and_nothing_else(wheel: Path, checkout: Path) -> None:
    shipped = set(zipfile.ZipFile(wheel).namelist())
    package = {name for name in shipped if name.startswith("honestybench/")}
    tree = {
        path.relative_to(checkout).as_posix()
        for path in (checkout / "honestybench").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert package == tree
    assert "honestybench/py.typed" in package
    assert {name.split("/")[0] for name in shipped - package} == {f"honestybench-{honestybench.__version__}.dist-info"}


def test_wheel_works_away_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    code = "import honestybench; print(honestybench.__file__, honestybench.load().num_rows)"
    path, rows = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(installed)).split()
    assert Path(path).is_relative_to(installed)
    assert int(rows) > 0


def test_wheel_brings_the_command(installed: Path, tmp_path: Path) -> None:
    shown = run(sys.executable, installed / "bin" / "honestybench", "--help", cwd=tmp_path, PYTHONPATH=str(installed))
    assert "verify" in shown


def test_public_names_are_frozen() -> None:
    """Adding a name is a promise: add it here in the same change. Taking one away breaks users."""
    assert honestybench.__all__ == [
        "AnnotatedExample",
        "ConfidenceRow",
        "Generation",
        "HonestyBenchError",
        "Judgement",
        "QAExample",
        "__version__",
        "example_id",
        "load",
        "score",
    ]
    assert honestybench.__all__ == sorted(honestybench.__all__)
    assert [name for name in honestybench.__all__ if not hasattr(honestybench, name)] == []


def test_make_alone_lists_every_target(checkout: Path, tmp_path: Path) -> None:
    targets = re.findall(r"^\.PHONY: (\S+)$", (checkout / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {"build-bench", "test", "lint", "venv"} <= set(targets)
    shown = run("make", "--no-print-directory", "-C", checkout, cwd=tmp_path)
    assert [name for name in targets if not re.search(rf"^ +make {name} +\S", shown, flags=re.MULTILINE)] == []


@pytest.mark.parametrize("engine", ["engine-cpu.txt", "engine-gpu.txt"])
def test_the_locks_satisfy_setup_cfg(engine: str, checkout: Path) -> None:
    """`make venv` installs the locks without a resolver, so nothing else would notice a requirement left out."""
    lines = [
        line
        for name in ("base.txt", engine)
        for line in (checkout / "constraints" / name).read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    pins = [Requirement(line) for line in lines]
    versions = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}
    assert len(versions) == len(pins), "a package is pinned twice"
    config = ConfigParser()
    config.read(checkout / "setup.cfg", encoding="utf-8")
    extras = config["options.extras_require"]
    wanted = [config["options"]["install_requires"], *(extras[name] for name in ("build", "site", "dev"))]
    needs = [Requirement(line) for text in wanted for line in text.split()]
    missing = [str(n) for n in needs if not n.specifier.contains(versions.get(canonicalize_name(n.name), "0"))]
    assert missing == []

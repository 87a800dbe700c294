"""The commands as a user runs them."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "leaderboard", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60)


def test_build_says_what_it_made_and_where(made_up: ModuleType, tmp_path: Path) -> None:
    made_up.write(tmp_path / "submissions", per_source=20)
    result = run("build", "--submissions", "submissions", "--out", "here", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "12 pages: 7 systems on 1 LLM" in result.stdout  # index, all, clean, 7 systems, about, submit
    assert (tmp_path / "here" / "index.html").is_file()


def test_failures_are_one_line(tmp_path: Path) -> None:
    for arguments in (("build", "--submissions", "none", "--out", "here"), ("serve", "--out", "none"), ("build", "-x")):
        result = run(*arguments, cwd=tmp_path)
        assert result.returncode == 2
        assert "Traceback" not in result.stderr
        assert not list(tmp_path.iterdir())

"""A build that is killed, at any point and however often, ends in the bytes of one that was not."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from honestybench.verify import verify_release

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / "tests" / "fixtures" / "kill_driver.py"
SCRIPTED = ["--engine", "scripted", "--limit", "2", "--sources", "nq,hotpotqa,popqa,mmlu", "--block-size", "1"]
REAL = ["--limit", "1", "--sources", "nq,popqa,mmlu", "--block-size", "1"]
N_SCRIPTED_KILLS = 50


def build(folder: Path, arguments: list[str], kill_at: int = 0) -> subprocess.CompletedProcess[str]:
    """Build in `folder`; the process dies before its `kill_at`-th event."""
    places = ["--out", str(folder / "release"), "--work", str(folder / "work")]
    command = [sys.executable, str(DRIVER), str(kill_at), str(folder / "events"), "build", *arguments, *places]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    folder.mkdir(exist_ok=True)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)


def digest(folder: Path) -> dict[str, str]:
    """sha256 of every file of the release."""
    release = folder / "release"
    return {
        str(path.relative_to(release)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(release.rglob("*"))
        if path.is_file()
    }


def assert_finished(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 0, result.stdout + result.stderr


def assert_nothing_half_written(folder: Path) -> None:
    """A release folder is whole or absent, and every block file can be read."""
    release = folder / "release"
    assert not release.exists() or verify_release(release) == []
    for block in (folder / "work").rglob("*.json"):
        json.loads(block.read_bytes())


JUDGED = [*SCRIPTED, "--judge", "llm:smollm2-135m-instruct-q4_1", "--allow-unparsed", "1"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], int]:
    """The release's hashes and the number of events of a build that nobody killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert_finished(build(folder, SCRIPTED))
    return digest(folder), int((folder / "events").read_text())


def test_fifty_kills_change_no_byte(undisturbed: tuple[dict[str, str], int], tmp_path: Path) -> None:
    expected, events = undisturbed
    assert events >= N_SCRIPTED_KILLS, "fewer events than kills: enlarge the build"
    points = [1 + index * (events - 1) // (N_SCRIPTED_KILLS - 1) for index in range(N_SCRIPTED_KILLS)]
    assert len(set(points)) == N_SCRIPTED_KILLS and points[-1] == events

    def kill_and_go_on(point: int) -> tuple[int, int, dict[str, str]]:
        folder = tmp_path / str(point)
        killed = build(folder, SCRIPTED, kill_at=point)
        assert_nothing_half_written(folder)
        assert_finished(build(folder, SCRIPTED))
        leftovers = [path for path in folder.rglob("*.partial")]
        assert leftovers == [], point
        return point, killed.returncode, digest(folder)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(kill_and_go_on, points))
    assert [code for _, code, _ in outcomes] == [-signal.SIGKILL] * N_SCRIPTED_KILLS
    assert [point for point, _, found in outcomes if found != expected] == []


def test_kills_in_a_row_change_no_byte(undisturbed: tuple[dict[str, str], int], tmp_path: Path) -> None:
    """Each run gets 9 events further (a block takes 4: two batches, a sync and a replace)."""
    expected, _ = undisturbed
    kills = 0
    while (result := build(tmp_path, SCRIPTED, kill_at=9)).returncode == -signal.SIGKILL and kills < 4:
        kills += 1
    assert kills == 4
    assert_finished(build(tmp_path, SCRIPTED) if result.returncode else result)
    assert digest(tmp_path) == expected


def test_kills_of_an_llm_judge_change_no_byte(tmp_path: Path) -> None:
    """All answers are there after 4 events a block; the judge's batches follow, two a row of 10 kills apart."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert_finished(build(whole, JUDGED))
    events = int((whole / "events").read_text())
    n_blocks = len(list((whole / "work").rglob("*.json")))
    assert events > 4 * n_blocks + 6
    assert build(killed, JUDGED, kill_at=4 * n_blocks + 3).returncode == -signal.SIGKILL
    for _ in range(2):
        assert build(killed, JUDGED, kill_at=3).returncode == -signal.SIGKILL
    assert_finished(build(killed, JUDGED))
    assert digest(killed) == digest(whole)


@pytest.mark.engine
@pytest.mark.slow
def test_three_kills_of_the_real_engine_change_no_byte(tmp_path: Path) -> None:
    """Three one-question blocks of the real LLM: killed inside the first, inside the second, and at the last rename."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert_finished(build(whole, REAL))
    events = int((whole / "events").read_text())
    # Events of a block: greedy batch, sampled batch, sync, replace. The first run dies before the first block's
    # sampled batch; the second finishes that block and dies before the second block's sampled batch; the third
    # finds one block, so its events are 4 fewer, and dies before its last event.
    for kill_at in (2, 6, events - 4):
        assert build(killed, REAL, kill_at=kill_at).returncode == -signal.SIGKILL
        assert_nothing_half_written(killed)
    assert_finished(build(killed, REAL))
    assert digest(killed) == digest(whole)

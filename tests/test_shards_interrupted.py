"""A build that the disk or a kill stops: the previous release stays, the next build is as good as the first."""

import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def release(small_release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("built") / "honestybench"
    small_release.write(folder)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


FULL_DISK = """
import runpy, sys
make = runpy.run_path(sys.argv[1])
from honestybench.errors import StorageError
try:
    make["write"](sys.argv[2])
except StorageError as error:
    print(error)
"""


def build_on_full_disk(small_release: ModuleType, out: Path, limit: int = resource.RLIM_INFINITY) -> str:
    run = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, str(small_release.__file__), str(out)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stderr == ""
    return run.stdout


# A question shard has about 8 kB, an annotated one 16 kB: two limits hit the first file, one a later file.
@pytest.mark.parametrize("limit", [0, 4_000, 12_000])
def test_a_write_that_the_system_cuts_off_leaves_the_old_release(
    small_release: ModuleType, release: Path, tmp_path: Path, limit: int
) -> None:
    shutil.copytree(release, tmp_path / "release")
    (tmp_path / "release" / "README.md").write_text("the old one")
    before = tree(tmp_path)
    message = build_on_full_disk(small_release, tmp_path / "release", limit)
    assert "the file may not grow that large" in message and "Remedy" in message
    assert tree(tmp_path) == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=192k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_leaves_the_old_release(small_release: ModuleType, release: Path, small_disk: Path) -> None:
    shutil.copytree(release, small_disk / "release")
    before = tree(small_disk)
    message = build_on_full_disk(small_release, small_disk / "release")
    assert "the disk is full" in message and "Remedy: free some space" in message
    assert tree(small_disk) == before


KILLED = """
import os, runpy, signal, sys
make = runpy.run_path(sys.argv[1])
left = int(sys.argv[3])

def deadly(call):
    def wrapped(*arguments, **options):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return call(*arguments, **options)
    return wrapped

os.rename, os.replace = deadly(os.rename), deadly(os.replace)
make["write"](sys.argv[2])
"""


def test_a_build_killed_at_any_rename_is_made_good_by_the_next(
    small_release: ModuleType, release: Path, tmp_path: Path
) -> None:
    out, aside = tmp_path / "release", tmp_path / "release.partial" / "previous"
    fewer = [record for record in small_release.records() if record.example.split == "ood"]
    small_release.write(tmp_path / "old", fewer)
    old, new = tree(tmp_path / "old"), tree(release)
    # Eight shards get their number, the old release moves aside, the new one moves in.
    for step in range(10):
        shutil.copytree(tmp_path / "old", out)
        command = [sys.executable, "-c", KILLED, str(small_release.__file__), str(out), str(step)]
        assert subprocess.run(command, check=False).returncode == -9
        assert tree(out if out.exists() else aside) == old
        small_release.write(out)
        assert tree(out) == new
        assert {path.name for path in tmp_path.iterdir()} == {"old", "release"}
        shutil.rmtree(out)
    command[-1] = "10"
    assert subprocess.run(command, check=False).returncode == 0
    assert tree(out) == new

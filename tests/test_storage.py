import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from honestybench.errors import ReleaseError, StorageError
from honestybench.storage import MANIFEST_NAME, ReplacedFolder, refused_writes


def manifest(text: str) -> str:
    return json.dumps({"release_id": text})


def replace(out: Path, text: str) -> None:
    with ReplacedFolder(out) as folder:
        (folder.new / MANIFEST_NAME).write_text(manifest(text))
        (folder.new / "data").mkdir()
        (folder.new / "data" / "shard").write_text(text * 3)
        folder.commit()


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def contents(text: str) -> dict[str, bytes]:
    return {MANIFEST_NAME: manifest(text).encode(), "data/shard": text.encode() * 3}


def test_a_new_folder_replaces_the_old_one_whole(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "release"
    replace(out, "old")
    (out / "extra").write_text("gone with the old release")
    replace(out, "new")
    assert tree(tmp_path / "deep") == {f"release/{name}": data for name, data in contents("new").items()}


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_leaves_the_old_folder_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    out = tmp_path / "release"
    replace(out, "old")
    with pytest.raises(error), ReplacedFolder(out) as folder:
        (folder.new / MANIFEST_NAME).write_text("half")
        raise error
    assert tree(tmp_path) == {f"release/{name}": data for name, data in contents("old").items()}


def test_leaving_without_commit_changes_nothing(tmp_path: Path) -> None:
    with ReplacedFolder(tmp_path / "release") as folder:
        (folder.new / "half").write_text("half")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_release_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ReleaseError, match=r"holds no release; it stays as it is.*Remedy"), ReplacedFolder(tmp_path):
        pass
    assert (tmp_path / "thesis.tex").read_text() == "precious"


@pytest.mark.parametrize("text", ['{"name": "an extension of a browser"}', "[]", "no JSON", "", "[" * 100_000])
def test_another_program_s_manifest_makes_no_release(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST_NAME).write_text(text)
    with pytest.raises(ReleaseError, match="holds no release"), ReplacedFolder(tmp_path):
        pass
    assert tree(tmp_path) == {MANIFEST_NAME: text.encode()}


@pytest.mark.parametrize("place", ["/", "/proc"])
def test_the_root_of_a_disk_is_not_replaced(place: str) -> None:
    with pytest.raises(ReleaseError, match="the root of a disk"):
        ReplacedFolder(Path(place))


def test_a_loop_of_links_is_told(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ReleaseError, match="the path leads nowhere"):
        ReplacedFolder(tmp_path / "loop" / "release")


def test_a_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "release").write_text("precious")
    with pytest.raises(ReleaseError, match="a file stands"), ReplacedFolder(tmp_path / "release"):
        pass
    assert (tmp_path / "release").read_text() == "precious"


def test_a_backup_beside_the_release_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "release.old").mkdir()
    (tmp_path / "release.old" / "mine").write_text("precious")
    replace(tmp_path / "release", "new")
    assert (tmp_path / "release.old" / "mine").read_text() == "precious"


def test_a_link_is_followed(tmp_path: Path) -> None:
    replace(tmp_path / "real", "old")
    (tmp_path / "link").symlink_to("real")
    replace(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert tree(tmp_path / "real") == contents("new")


def test_a_parent_that_is_a_file_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StorageError, match="a file stands where a folder must be"),
        ReplacedFolder(tmp_path / "file" / "x"),
    ):
        pass


def test_other_system_errors_pass_unchanged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), refused_writes(tmp_path):
        (tmp_path / "missing").read_text()


# Replaces "old" by "new" and kills itself just before its k-th change of the file system.
KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_storage import replace

left = int(sys.argv[2])

def deadly(call):
    def wrapped(*arguments, **options):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return call(*arguments, **options)
    return wrapped

for name in ("mkdir", "rename", "replace", "rmdir", "unlink", "fsync"):
    setattr(os, name, deadly(getattr(os, name)))
replace(Path(sys.argv[1]), "new")
"""


@pytest.mark.parametrize("start", ["old release", "no release", "interrupted swap"])
def test_a_kill_at_any_step_loses_nothing_and_the_next_run_ends_alike(tmp_path: Path, start: str) -> None:
    out, aside = tmp_path / "release", tmp_path / "release.partial" / "previous"
    for step in range(100):
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        if start != "no release":
            replace(out, "old")
        if start == "interrupted swap":
            aside.parent.mkdir()
            out.rename(aside)
        command = [sys.executable, "-c", KILLED, str(out), str(step), str(Path(__file__).parent)]
        code = subprocess.run(command, check=False).returncode
        if code == 0:
            break
        assert code == -signal.SIGKILL
        whole = [tree(folder) for folder in (out, aside) if folder.exists()]
        assert start == "no release" or contents("old") in whole or tree(out) == contents("new")
        assert not out.exists() or tree(out) in (contents("old"), contents("new"))
        replace(out, "new")
        assert tree(tmp_path) == {f"release/{name}": data for name, data in contents("new").items()}
    # mkdir twice, fsync of 2 files, 2 folders and the parent, the swap itself: at least 8 steps.
    assert 8 <= step < 100


def test_a_read_only_place_is_one_clear_error() -> None:
    # The kernel refuses new folders in /sys to everybody, root too.
    with pytest.raises(StorageError, match="Remedy: write to another folder"), ReplacedFolder(Path("/sys/release")):
        pass


def test_a_second_rename_that_fails_puts_the_old_folder_back(tmp_path: Path) -> None:
    out = tmp_path / "release"
    replace(out, "old")
    with pytest.raises(FileNotFoundError), ReplacedFolder(out) as folder:
        # Without the new folder the swap fails after the old one was moved aside.
        folder.new.rmdir()
        folder.commit()
    assert tree(tmp_path) == {f"release/{name}": data for name, data in contents("old").items()}

from pathlib import Path
from types import ModuleType

import pytest

from honestybench.cli.main import main
from honestybench.release import read_manifest


@pytest.fixture
def release(small_release: ModuleType, tmp_path: Path) -> Path:
    small_release.write(tmp_path / "release")
    return tmp_path / "release"


def verify(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(path)])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def test_a_sound_release_is_one_line(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release_id = read_manifest(release).release_id
    # Two configs with four splits each and thirteen rows each.
    line = f"{release}: release {release_id}, 8 shards, 26 rows: no fault\n"
    assert verify(release, capsys) == (0, line, "")


def test_every_fault_is_listed_and_the_exit_code_is_1(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (release / "README.md").unlink()
    (release / "croissant.json").unlink()
    code, out, err = verify(release, capsys)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "README.md: cannot be read: No such file or directory",
        "croissant.json: cannot be read: No such file or directory",
        f"error: {release}: 2 faults",
    ]


def test_no_release_is_told_with_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = verify(tmp_path, capsys)
    assert code == 1
    assert "manifest.json is missing. Remedy: give the folder that holds manifest.json" in err
    assert err.splitlines()[-1] == f"error: {tmp_path}: 1 fault"

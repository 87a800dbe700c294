from pathlib import Path
from types import ModuleType

import pytest

from honestybench.baselines import BASELINES
from honestybench.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.fixture
def release(small_release: ModuleType, tmp_path: Path) -> Path:
    small_release.write(tmp_path / "release")
    return tmp_path / "release"


def test_only_the_named_ones_are_written(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = release.parent / "made-up-llm"
    other = out / "mine" / "system.yaml"
    other.parent.mkdir(parents=True)
    other.write_text("stays", encoding="utf-8")
    code, told, err = run(capsys, "baselines", release, "--out", out, "--only", "random, prob,")
    assert (code, err) == (0, "")
    assert [line.split(":")[0] for line in told.splitlines()] == [str(out / "prob"), str(out / "random")]
    assert sorted(path.name for path in out.iterdir()) == ["mine", "prob", "random"]
    assert other.read_text(encoding="utf-8") == "stays"


@pytest.mark.parametrize(("names", "told"), [("prob,prop", "did you mean 'prob'"), (" ,", "no baseline is named")])
def test_a_name_that_the_table_lacks_is_wrong_usage(
    names: str, told: str, release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "baselines", release, "--out", release.parent / "out", "--only", names)
    assert (code, out) == (2, "") and told in err and "semantic_entropy" in err
    assert not (release.parent / "out").exists()


def test_the_help_lists_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "baselines", "--help")
    assert code == 0 and [name for name in BASELINES if name not in out] == []

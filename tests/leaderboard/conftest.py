"""What the tests of the site share: made-up submissions on a small release, and the site built from them."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from leaderboard.collect import Board, collect
from leaderboard.render import write_site


@pytest.fixture(scope="session")
def made_up() -> ModuleType:
    """The module that writes made-up submissions."""
    path = Path(__file__).with_name("make_submissions.py")
    spec = importlib.util.spec_from_file_location("make_submissions", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def boards(
    made_up: ModuleType, small_release: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Board, ...]:
    """Two LLMs: a small board with the texts of a release at hand, and a larger one without."""
    folder = tmp_path_factory.mktemp("submissions")
    release = tmp_path_factory.mktemp("release") / "release"
    manifest = small_release.write(release)
    ids = [record.example.id for record in small_release.records() if record.example.split != "train"]
    made_up.write(folder, small_release.LLM, manifest.release_id, ids=ids)
    made_up.write(folder, "another-llm", per_source=300, rate=0.45)
    return collect(folder, release)


@pytest.fixture(scope="session")
def site(boards: tuple[Board, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of these boards."""
    out = tmp_path_factory.mktemp("built") / "site"
    write_site(boards, out)
    return out

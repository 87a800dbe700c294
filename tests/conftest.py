"""What every test shares: a private, offline Hugging Face home, paths of the checkout, the rule for real engines."""

import importlib.util
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from honestybench import models
from honestybench.annotate.plan import PROFILES
from honestybench.engine.vllm_engine import VllmConfig, VllmEngine

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """Shield the tests from the user's caches and the network, before any library reads its environment.

    A `datasets` cache that once saw a folder named honestybench answers `load_dataset("honestybench")`
    anywhere, so a shared cache would hide a broken checkout.
    """
    home = tempfile.TemporaryDirectory(prefix="honestybench-hf-")
    config.add_cleanup(home.cleanup)
    os.environ.update(HF_HOME=home.name, HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", DO_NOT_TRACK="1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests of the real engine where it is not installed; under CI they run and fail instead.

    Warnings inside vLLM and torch are no errors of this project.
    """
    is_missing = importlib.util.find_spec("vllm") is None and not os.environ.get("CI")
    for item in items:
        if item.get_closest_marker("engine"):
            item.add_marker(pytest.mark.filterwarnings("default"))
            if is_missing:
                item.add_marker(pytest.mark.skip(reason="vLLM is not installed: make venv"))


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The folder of files that tests read."""
    return ROOT / "tests" / "fixtures"


@pytest.fixture(scope="session")
def small_release() -> ModuleType:
    """The module that writes the small test release: `small_release.write(folder)`."""
    path = Path(__file__).parent / "fixtures" / "release" / "make_release.py"
    spec = importlib.util.spec_from_file_location("make_release", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def engine() -> Iterator["SharedEngine"]:
    """The real engine with the small LLM, loaded as the profile `sample` loads it: one for the whole run."""
    sample = PROFILES["sample"]
    config = VllmConfig(dtype=sample.dtype, max_model_len=sample.max_model_len)
    loaded = VllmEngine(models.resolve(str(sample.llm)), config)
    yield SharedEngine(loaded)
    loaded.close()


class SharedEngine:
    """The loaded engine as tests may have it: whoever uses it closes it for nobody."""

    def __init__(self, engine: VllmEngine) -> None:
        self.provenance = engine.provenance
        self.generate = engine.generate
        self.option_logprobs = engine.option_logprobs

    def close(self) -> None:
        pass

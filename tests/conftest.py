import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def small_release() -> ModuleType:
    """The module that writes the small test release: `small_release.write(folder)`."""
    path = Path(__file__).parent / "fixtures" / "release" / "make_release.py"
    spec = importlib.util.spec_from_file_location("make_release", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

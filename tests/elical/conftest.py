"""What the tests of EliCal share: tiny LLMs on disk, and a release that was made with one of them."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from honestybench import models
from honestybench.annotate.prompt import load_prompt
from honestybench.elical.setting import Setting, find_setting
from honestybench.records import AnnotatedExample
from tests.elical import tiny


@pytest.fixture(scope="session")
def llm_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the folder of a tiny LLM by family."""
    made: dict[str, Path] = {}

    def folder(family: str) -> Path:
        if family not in made:
            made[family] = tmp_path_factory.mktemp("llms") / f"tiny-{family.lower()}"
            tiny.decoder(family).save_pretrained(made[family])
            tiny.tokenizer().save_pretrained(made[family])
        return made[family]

    return folder


WriteRelease = Callable[..., Path]


@pytest.fixture(scope="session")
def write_release(small_release: ModuleType, llm_folder: Callable[[str], Path]) -> WriteRelease:
    """Write a release of the made-up questions for a tiny LLM: `write_release(folder, records=…)`."""

    def write(folder: Path, made: list[AnnotatedExample] | None = None, family: str = "Llama") -> Path:
        llm = llm_folder(family)
        annotated = tiny.records() if made is None else made
        content = small_release.content(annotated)
        about = content["llms"][small_release.LLM]
        about["provenance"] = {"llm": str(llm), "weights": models.resolve(str(llm)).identity}
        prompts = {name: {"sha256": load_prompt(name).sha256} for name in ("paper-qa", "paper-mmlu")}
        small_release.write(folder, annotated, llms=content["llms"], prompts=prompts)
        return folder

    return write


@pytest.fixture(scope="session")
def release(write_release: WriteRelease, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made-up release, for reading."""
    return write_release(tmp_path_factory.mktemp("release") / "release")


@pytest.fixture()
def setting(release: Path) -> Setting:
    """What a run on that release is about."""
    return find_setting(release, "made-up-llm")

"""Names of LLMs, and the carried model's weights."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from honestybench import models
from honestybench.errors import MissingExtraError, ModelLoadError, UnknownNameError, UsageError

CARRIED = "smollm2-135m-instruct-q4_1"


def test_three_kinds_of_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", "utf-8")
    assert models.resolve(CARRIED).kind == "carried"
    assert models.resolve(str(tmp_path)).kind == "folder"
    hub = models.resolve("Qwen/Qwen2.5-7B-Instruct@v1")
    assert (hub.kind, hub.slug) == ("hub", "qwen2.5-7b-instruct")
    assert (models.weights(hub), models.revision(hub)) == ("Qwen/Qwen2.5-7B-Instruct", "v1")
    assert models.revision(models.resolve("Qwen/Qwen2.5-7B-Instruct")) is None


@pytest.mark.parametrize("name", ["", "nope", "a/b/c", "../x/y", "/absent/folder", "x y/z"])
def test_other_names_list_the_known(name: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        models.resolve(name)
    assert CARRIED in str(caught.value) and "Hub id" in str(caught.value)


def test_close_name_is_guessed() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'smollm2-135m-instruct-q4_1'"):
        models.resolve("smollm2-135m-instruct")


def test_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"config\.json is missing"):
        models.resolve(str(tmp_path))


def test_identity_of_a_folder_follows_its_content(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}", "utf-8")
    first = models.resolve(str(tmp_path)).identity
    assert models.resolve(str(tmp_path)).identity == first
    config.write_text("{ }", "utf-8")
    assert models.resolve(str(tmp_path)).identity != first
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(bytes(2 << 20))
    zeros = models.resolve(str(tmp_path)).identity
    weights.write_bytes(bytes((2 << 20) - 1) + b"1")
    assert models.resolve(str(tmp_path)).identity != zeros, "equal size, other weights"


def test_a_pinned_hub_id_names_its_commit() -> None:
    ref = models.pin(models.resolve("Qwen/Qwen2.5-7B-Instruct@main"), "c0ffee")
    assert (ref.slug, models.weights(ref), models.revision(ref)) == (
        "qwen2.5-7b-instruct",
        "Qwen/Qwen2.5-7B-Instruct",
        "c0ffee",
    )
    assert ref.identity == "hub:Qwen/Qwen2.5-7B-Instruct@c0ffee"


@pytest.mark.parametrize("name", ["x/questions", "x/Questions"])
def test_names_that_give_no_config_name_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no config name of its own"):
        models.resolve(name)


def test_missing_package_tells_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HONESTYBENCH_CACHE", str(tmp_path))
    model = models.CarriedModel(package="no_such_package", file="x.gguf", sha256="0" * 64, description="")
    monkeypatch.setitem(models.CARRIED, "absent", model)
    with pytest.raises(MissingExtraError, match="no_such_package"):
        models.weights(models.resolve("absent"))
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.engine
def test_altered_model_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HONESTYBENCH_CACHE", str(tmp_path))
    good = models.CARRIED[CARRIED]
    wrong = models.CarriedModel(package=good.package, file=good.file, sha256="0" * 64, description="")
    monkeypatch.setitem(models.CARRIED, "altered", wrong)
    with pytest.raises(ModelLoadError, match="differs from the pinned one") as caught:
        models.weights(models.resolve("altered"))
    assert good.sha256 in str(caught.value)


@pytest.mark.engine
def test_carried_model_unpacks_once() -> None:
    """The checkpoint has the published architecture, and a second call in another process only finds it."""
    folder = Path(models.weights(models.resolve(CARRIED)))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    # SmolLM2-135M: 30 layers of width 576, vocabulary 49,152, RMS-norm epsilon 1e-5, RoPE base 100,000.
    assert (config["num_hidden_layers"], config["hidden_size"], config["vocab_size"]) == (30, 576, 49152)
    assert (config["rms_norm_eps"], config["rope_parameters"]["rope_theta"]) == (1e-5, 100000.0)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    code = f"from honestybench import models; print(models.weights(models.resolve({CARRIED!r})))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert found == str(folder)
    assert (folder / "model.safetensors").stat().st_mtime_ns == before

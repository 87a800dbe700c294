from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers

from honestybench import models
from honestybench.elical.backbone import (
    add_lora,
    freeze,
    linear_names,
    load_backbone,
    load_tokenizer,
    n_layers,
    resume_lora,
    top_layers,
)
from honestybench.elical.config import TrainConfig
from honestybench.errors import DataError, ModelLoadError, UsageError
from tests.elical import tiny

Folder = Callable[[str], Path]
LINEAR = ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]


def learning(backbone: torch.nn.Module) -> list[str]:
    return [name for name, weight in backbone.named_parameters() if weight.requires_grad]


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_decoder_is_loaded_frozen_without_lm_head(family: str, dtype: str, llm_folder: Folder) -> None:
    ref = models.resolve(str(llm_folder(family)))
    backbone = load_backbone(ref, dtype)
    assert not backbone.training and learning(backbone) == [] and n_layers(backbone) == 3
    assert not any("lm_head" in name for name, _ in backbone.named_modules())
    assert {weight.dtype for weight in backbone.parameters()} == {getattr(torch, dtype)}
    for name, weight in tiny.decoder(family).named_parameters():
        assert torch.equal(backbone.get_parameter(name), weight.to(getattr(torch, dtype))), name
    assert load_tokenizer(ref).chat_template == tiny.TEMPLATE
    assert linear_names(backbone) == LINEAR


def test_a_folder_without_weights_is_told(llm_folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((llm_folder("Llama") / "config.json").read_bytes())
    ref = models.resolve(str(tmp_path))
    with pytest.raises(ModelLoadError, match=r"could not load the model: .*check the name"):
        load_backbone(ref)
    with pytest.raises(ModelLoadError, match="could not load the model"):
        load_tokenizer(ref)


def test_damaged_weights_are_told(llm_folder: Folder, tmp_path: Path) -> None:
    for path in llm_folder("Llama").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "model.safetensors").write_bytes((tmp_path / "model.safetensors").read_bytes()[:5000])
    with pytest.raises(ModelLoadError, match="could not load the model"):
        load_backbone(models.resolve(str(tmp_path)))


def test_an_architecture_without_the_layers_is_told() -> None:
    config = transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=1, n_head=2)
    with pytest.raises(ModelLoadError, match=r"tiny: the model has no list of decoder layers.*'GPT2Model'.*Llama"):
        freeze(transformers.GPT2Model(config), "tiny")


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_lora_is_on_every_linear_map_and_changes_nothing_at_first(family: str) -> None:
    backbone = freeze(tiny.decoder(family), family)
    ids = torch.arange(5, 15)[None]
    with torch.no_grad():
        before = backbone(input_ids=ids).last_hidden_state
        wrapped = add_lora(backbone, TrainConfig(stage="elicit"), "org/base")
        after = backbone(input_ids=ids).last_hidden_state
    assert torch.equal(before, after)
    expected = {f"layers.{layer}" for layer in range(3)}
    names = learning(backbone)
    assert len(names) == 3 * 7 * 2 and {".".join(name.split(".")[:2]) for name in names} == expected
    settings = wrapped.peft_config["default"]
    assert (settings.r, settings.lora_alpha, settings.lora_dropout) == (8, 16, 0.0)
    assert settings.base_model_name_or_path == "org/base"


@pytest.mark.parametrize("top", [1, 2, 3])
def test_lora_is_on_the_top_layers_alone(top: int) -> None:
    backbone = freeze(tiny.decoder("Qwen3"), "Qwen3")
    add_lora(backbone, TrainConfig(stage="elicit", lora_layers=top), "base")
    layers = {int(name.split(".")[1]) for name in learning(backbone)}
    assert layers == set(range(3 - top, 3)) and len(learning(backbone)) == top * 14


def test_lora_of_a_half_precision_decoder_learns_in_float32() -> None:
    backbone = freeze(tiny.decoder("Llama").to(torch.bfloat16), "Llama")
    add_lora(backbone, TrainConfig(stage="elicit", dtype="bfloat16"), "base")
    assert {backbone.get_parameter(name).dtype for name in learning(backbone)} == {torch.float32}


def test_all_layers_are_all_and_more_are_refused() -> None:
    backbone = tiny.decoder("Llama")
    assert [top_layers(backbone, TrainConfig(stage="elicit", lora_layers=top)) for top in (None, 3, 2, 0)] == [
        None,
        None,
        2,
        0,
    ]
    with pytest.raises(UsageError, match=r"lora_layers: the LLM has 3 layers \(got 4\)"):
        top_layers(backbone, TrainConfig(stage="elicit", lora_layers=4))


def saved(tmp_path: Path, config: TrainConfig) -> tuple[Path, dict[str, torch.Tensor]]:
    """A folder with LoRA that is no longer zero, and its weights."""
    backbone = freeze(tiny.decoder("Llama"), "Llama")
    wrapped = add_lora(backbone, config, "base")
    for name in learning(backbone):
        backbone.get_parameter(name).data.normal_(std=0.05)
    wrapped.save_pretrained(tmp_path / "saved", save_embedding_layers=False)
    return tmp_path / "saved", {name: backbone.get_parameter(name).data for name in learning(backbone)}


@pytest.mark.parametrize(("layers", "later", "learns"), [(None, None, 42), (1, 1, 14), (None, 0, 0), (2, 0, 0)])
def test_saved_lora_goes_on_or_stays(layers: int | None, later: int | None, learns: int, tmp_path: Path) -> None:
    folder, weights = saved(tmp_path, TrainConfig(stage="elicit", lora_layers=layers))
    backbone = freeze(tiny.decoder("Llama"), "Llama")
    resume_lora(backbone, folder, TrainConfig(stage="calibrate", lora_layers=later))
    assert len(learning(backbone)) == learns
    for name, weight in weights.items():
        assert torch.equal(backbone.get_parameter(name), weight), name


@pytest.mark.parametrize("other", [{"lora_rank": 4}, {"lora_alpha": 8}, {"lora_layers": 2}, {"lora_layers": 1}])
def test_lora_of_another_shape_is_refused(other: dict[str, int], tmp_path: Path) -> None:
    folder, _ = saved(tmp_path, TrainConfig(stage="elicit"))
    with pytest.raises(UsageError, match=r"another rank, alpha or layers.*rank 8, alpha 16, layers all.*same --lora"):
        resume_lora(tiny.decoder("Llama"), folder, TrainConfig(stage="calibrate", **other))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"peft_type": "LORO"}'])
def test_damaged_lora_settings_are_told(content: str, tmp_path: Path) -> None:
    folder, _ = saved(tmp_path, TrainConfig(stage="elicit"))
    (folder / "adapter_config.json").write_text(content)
    with pytest.raises(DataError, match=r"saved: the adapter's settings cannot be read"):
        resume_lora(tiny.decoder("Llama"), folder, TrainConfig(stage="calibrate"))


def test_lora_of_another_llm_is_told(tmp_path: Path) -> None:
    folder, _ = saved(tmp_path, TrainConfig(stage="elicit"))
    other = transformers.LlamaModel(transformers.LlamaConfig(**{**tiny.SIZES, "intermediate_size": 64}))
    with pytest.raises(DataError, match="the adapter cannot be loaded"):
        resume_lora(freeze(other, "other"), folder, TrainConfig(stage="calibrate"))

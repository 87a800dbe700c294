"""The paper authors' files become a model of ours, and their padded readout is what a plain forward pass gives."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from numpy.typing import NDArray
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from tokenizers.pre_tokenizers import ByteLevel
from transformers import AutoModel, AutoTokenizer, Qwen2Tokenizer

from honestybench.cli.elical import elical
from honestybench.elical.authors import confidences_as_authors, import_authors, read_authors_head
from honestybench.elical.loading import load_trained
from honestybench.elical.questions import Question
from honestybench.elical.saved import read_info
from honestybench.elical.systems import describe
from honestybench.errors import DataError, HonestyBenchError, UsageError
from tests.elical import tiny

SIZE = tiny.SIZES["hidden_size"]
QUESTIONS = [
    Question(id=f"q{n}", source="nq", text=" ".join(tiny.WORDS[: 1 + n % 5]), is_choice=n == 6) for n in range(7)
]


def linear_state(prefix: str = "", dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    torch.manual_seed(3)
    return {f"{prefix}weight": torch.randn(1, SIZE, dtype=dtype), f"{prefix}bias": torch.randn(1, dtype=dtype)}


@pytest.fixture(scope="module")
def llm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Qwen2 with a tokenizer of its own class, which knows bytes: transformers loads no other for it."""
    folder = tmp_path_factory.mktemp("llm") / "tiny-qwen2"
    symbols = [*sorted(ByteLevel.alphabet()), "<p>", "<u>", "<e>", "<a>"]
    tokenizer = Qwen2Tokenizer({symbol: n for n, symbol in enumerate(symbols)}, merges=[], pad_token="<p>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<u>", "<e>", "<a>"]})
    tokenizer.chat_template = tiny.TEMPLATE
    tokenizer.save_pretrained(folder)
    tiny.decoder("Qwen2").save_pretrained(folder)
    return folder


@pytest.fixture()
def released(llm: Path, tmp_path: Path) -> Path:
    """The authors' folder, as their code writes it: PEFT around AutoModel, and torch.save of the head."""
    folder = tmp_path / "best-checkpoint"
    decoder = AutoModel.from_pretrained(llm, dtype=torch.float32)
    settings = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="FEATURE_EXTRACTION")
    wrapped = get_peft_model(decoder, settings)
    torch.manual_seed(4)
    with torch.no_grad():
        for name, weight in wrapped.named_parameters():
            if "lora_" in name:
                weight.normal_(std=0.3)
    wrapped.save_pretrained(folder / "lora_epoch_best")
    torch.save(linear_state(), folder / "vector_head_epoch_best.pt")
    return folder


def naive(llm: Path, released: Path, batch: int) -> NDArray[np.float64]:
    """Their readout in plain transformers: right padding by the tokenizer, `last_hidden_state[:, -1]`, sigmoid."""
    from peft import PeftModel

    decoder = PeftModel.from_pretrained(AutoModel.from_pretrained(llm), released / "lora_epoch_best").eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(llm, padding_side="right")
    head = torch.load(released / "vector_head_epoch_best.pt")
    found = []
    for start in range(0, len(QUESTIONS), batch):
        texts = []
        for each in QUESTIONS[start : start + batch]:
            template = tiny.load_prompt("paper-mmlu" if each.is_choice else "paper-qa")
            turns = [{"role": turn.role, "content": turn.content} for turn in template.render(question=each.text)]
            texts.append(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))
        inputs = tokenizer(texts, padding=True, add_special_tokens=False, return_tensors="pt")
        with torch.no_grad():
            states = decoder(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        logits = states.last_hidden_state[:, -1] @ head["weight"][0] + head["bias"]
        found += torch.sigmoid(logits.double()).tolist()
    return np.array(found)


def test_both_readouts_are_those_of_plain_forward_passes(llm: Path, released: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    info = import_authors(released, out, llm_name=str(llm), labels_used=1000, stage="calibrate")
    assert info == read_info(out)
    assert (info.labels_used, info.selected_on, info.method_class) == (1000, "in_domain", "calibration")
    trained = load_trained(out, device="cpu")
    padded, alone = confidences_as_authors(trained, QUESTIONS, 3), confidences_as_authors(trained, QUESTIONS, 1)
    np.testing.assert_allclose(padded, naive(llm, released, 3), atol=1e-5)
    # Without batch mates there is no padding, and the last position is the last token.
    np.testing.assert_allclose(alone, naive(llm, released, 1), atol=1e-5)
    np.testing.assert_allclose(trained.confidences(QUESTIONS), alone, atol=1e-5)
    assert np.abs(padded - alone).max() > 1e-3
    assert len({round(value, 6) for value in alone}) == len({(each.text, each.is_choice) for each in QUESTIONS})
    about = describe([info], authors_batch=3)
    assert about["family"] == "elical released" and "batches of 3 questions" in str(about["description"])
    assert "learning rate" not in str(about["description"])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("prefix", ["", "linear.", "module.vector_head."])
def test_a_linear_head_is_read_under_any_prefix_and_type(tmp_path: Path, prefix: str, dtype: torch.dtype) -> None:
    state = linear_state(prefix, dtype)
    torch.save(state, tmp_path / "vector_head_epoch_best.pt")
    found = read_authors_head(tmp_path / "vector_head_epoch_best.pt")
    assert found["weight"].dtype == found["bias"].dtype == torch.float32
    assert torch.equal(found["weight"], state[f"{prefix}weight"].float()[0])
    assert torch.equal(found["bias"], state[f"{prefix}bias"].float()[0])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            {"mlp.0.weight": torch.ones(4, SIZE), "mlp.2.weight": torch.ones(1, 4)},
            r"MLP.*mlp\.0\.weight.*mlp\.2\.weight",
        ),
        ({"weight": torch.ones(2, SIZE), "bias": torch.ones(2)}, "no linear map to one number"),
        ({"weight": torch.ones(1, SIZE)}, "no linear map to one number"),
        ({"weight": torch.full((1, SIZE), torch.nan), "bias": torch.ones(1)}, "not finite"),
        ([torch.ones(1)], "not a state dict"),
        (torch.nn.Linear(SIZE, 1), "not a state dict"),
    ],
    ids=["mlp", "two numbers", "no bias", "nan", "list", "module"],
)
def test_another_head_is_refused(tmp_path: Path, state: object, message: str) -> None:
    torch.save(state, tmp_path / "vector_head_epoch_best.pt")
    with pytest.raises(DataError, match=message):
        read_authors_head(tmp_path / "vector_head_epoch_best.pt")


def test_an_adapter_of_another_llm_is_refused(llm: Path, released: Path, tmp_path: Path) -> None:
    small = tiny.decoder("Qwen2")
    small.layers = small.layers[:2]
    small.config.num_hidden_layers = 2
    small.config.layer_types = small.config.layer_types[:2]
    small.save_pretrained(tmp_path / "tiny-qwen2")
    # Seven matrices A and B have no place where the third layer is missing.
    refuse(released, tmp_path, tmp_path / "tiny-qwen2", r"does not fit .*14 weights .*--llm")


def refuse(released: Path, tmp_path: Path, llm: Path, message: str) -> None:
    with pytest.raises(DataError, match=message):
        import_authors(released, tmp_path / "model", llm_name=str(llm), labels_used=9, stage="cal-only")
    assert not (tmp_path / "model").exists()


def test_an_adapter_that_names_another_llm_is_refused_though_it_fits(llm: Path, released: Path, tmp_path: Path) -> None:
    path = released / "lora_epoch_best" / "adapter_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"base_model_name_or_path": "/data/models/Qwen2.5-7B/"}))
    refuse(released, tmp_path, llm, r"trained on another LLM \(got '/data/models/Qwen2.5-7B/'\).*--llm")
    for name in ("/data/models/Tiny-Qwen2/", "someone/tiny-qwen2", None):
        path.write_text(json.dumps(config | {"base_model_name_or_path": name}))
        out = tmp_path / f"from {name and name.replace('/', ' ')}"
        info = import_authors(released, out, llm_name=str(llm), labels_used=9, stage="cal-only")
        assert (info.llm, info.config["seed"], info.config["learning_rate"]) == ("tiny-qwen2", 42, 5e-5)


def test_a_damaged_adapter_is_refused(llm: Path, released: Path, tmp_path: Path) -> None:
    path = released / "lora_epoch_best" / "adapter_model.safetensors"
    whole = load_file(path)
    name = min(whole)
    save_file(whole | {name: torch.full_like(whole[name], torch.inf)}, path)
    refuse(released, tmp_path, llm, "not finite")
    path.write_bytes(path.read_bytes()[:100])
    refuse(released, tmp_path, llm, "does not fit")
    path.unlink()
    refuse(released, tmp_path, llm, r"adapter_model\.safetensors or adapter_model\.bin")


@pytest.mark.parametrize("content", [b"", b"no zip"])
def test_a_head_that_is_no_file_of_torch_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "vector_head_epoch_best.pt").write_bytes(content)
    with pytest.raises(DataError, match=r"not a state dict of tensors: \w+"):
        read_authors_head(tmp_path / "vector_head_epoch_best.pt")


def test_a_batch_ends_where_a_file_of_the_authors_ends(llm: Path, released: Path, tmp_path: Path) -> None:
    import_authors(released, tmp_path / "model", llm_name=str(llm), labels_used=9, stage="cal-only")
    trained = load_trained(tmp_path / "model", device="cpu")
    one, two = (Question(id="a", source=source, text="amber") for source in ("nq", "squad"))
    long = [Question(id="b", source=source, text=" ".join(tiny.WORDS)) for source in ("nq", "squad")]
    (alone,) = confidences_as_authors(trained, [one])
    same = confidences_as_authors(trained, [one, long[0], two, long[1]])
    apart = confidences_as_authors(trained, [one, long[1], two])
    assert abs(same[0] - alone) > 1e-4 and same[0] == pytest.approx(same[2], abs=1e-6)
    assert apart[0] == pytest.approx(alone, abs=1e-6)
    assert apart[2] == pytest.approx(same[2], abs=1e-6)


def test_the_command_takes_a_head_alone(llm: Path, tmp_path: Path) -> None:
    torch.save(linear_state("linear."), tmp_path / "vector_head_epoch_best.pt")
    out = tmp_path / "model"
    options = ["--llm", str(llm), "--stage", "cal-only", "--labels", "20", "--out", str(out)]
    result = CliRunner().invoke(elical, ["import-authors", str(tmp_path), *options], catch_exceptions=False)
    assert result.exit_code == 0 and "20 labels" in result.output
    assert read_info(out).config["lora_layers"] == 0 and not (out / "adapter_config.json").exists()
    assert load_trained(out, device="cpu").confidences(QUESTIONS[:1]).shape == (1,)
    with pytest.raises(UsageError, match="not empty"):
        import_authors(tmp_path, out, llm_name=str(llm), labels_used=20, stage="cal-only")


@pytest.mark.parametrize(
    ("stage", "labels", "message"),
    [("elicit", 5, "uses no labels"), ("calibrate", 0, "uses labels"), ("head-only", 5, "has no adapter")],
)
def test_what_cannot_be_is_refused_before_the_llm_is_loaded(
    released: Path, tmp_path: Path, stage: str, labels: int, message: str
) -> None:
    with pytest.raises(HonestyBenchError, match=message):
        import_authors(released, tmp_path / "model", llm_name="no such", labels_used=labels, stage=stage)

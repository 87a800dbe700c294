"""The reference of the EliCal benchmark: LoRA and a head under `transformers.Trainer`, as an ordinary user writes it.

Batches are drawn at random and padded to their longest question. It shares nothing with `honestybench.elical` but the
questions, the targets, the LLM's weights and the hyperparameters.
"""

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer, Trainer, TrainerCallback, TrainingArguments, set_seed
from transformers.utils import logging

import honestybench
from honestybench import models
from honestybench.annotate.prompt import load_prompt

LLM = "smollm2-135m-instruct-q4_1"
SPLITS = ("train", "in_domain", "ood")
LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def read_rows(n_questions: int, seed: int) -> list[dict[str, Any]]:
    """Draw that many questions of the embedded sample, of all splits that share a prompt, in a random order."""
    rows = [row for row in honestybench.load().to_pylist() if row["split"] in SPLITS]
    order = np.random.default_rng(seed).permutation(len(rows))[:n_questions]
    return [rows[place] for place in order]


def encode(tokenizer: Any, prompt: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Render questions as token ids, with their target."""
    template = load_prompt(prompt)
    examples = []
    for row in rows:
        ids = tokenizer.apply_chat_template(
            [asdict(message) for message in template.render(question=row["question"])],
            add_generation_prompt=not template.has_stub,
            continue_final_message=template.has_stub,
            return_dict=True,
        )["input_ids"]
        examples.append({"input_ids": ids, "labels": row["self_consistency"]})
    return examples


@dataclass
class Collator:
    """Pad a batch to its longest question, and note how many positions it has and how many are filled."""

    tokenizer: Any

    def __post_init__(self) -> None:
        self.filled: list[int] = []
        self.positions: list[int] = []

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        ids = [example["input_ids"] for example in examples]
        batch = dict(self.tokenizer.pad({"input_ids": ids}, padding_side="right", return_tensors="pt"))
        self.filled.append(int(batch["attention_mask"].sum()))
        self.positions.append(batch["input_ids"].numel())
        return {**batch, "labels": torch.tensor([example["labels"] for example in examples])}


class PlainEstimator(nn.Module):
    """The decoder with LoRA on all linear layers, and a float32 head on the last attended token."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        from peft import LoraConfig, get_peft_model

        logging.disable_progress_bar()
        backbone = AutoModel.from_pretrained(models.weights(models.resolve(LLM)), dtype=torch.float32)
        lora = LoraConfig(r=8, lora_alpha=16, lora_dropout=0.0, target_modules=LINEAR)
        # Seeded before each part: every variant that does so starts from the same weights, so losses can be compared.
        set_seed(seed)
        self.backbone = get_peft_model(backbone, lora)
        set_seed(seed)
        self.head = nn.Linear(backbone.config.hidden_size, 1)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Compute the confidences (B,) and their mean squared error."""
        hidden = self.backbone(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).last_hidden_state
        last = hidden[torch.arange(len(hidden)), attention_mask.sum(1) - 1]
        confidence = torch.sigmoid(self.head(last.float()).squeeze(-1))
        return {"loss": nn.functional.mse_loss(confidence, labels), "confidence": confidence}


class Clock(TrainerCallback):  # type: ignore[misc]
    """Note when each optimiser step ended, and its loss."""

    def __init__(self) -> None:
        self.ended: list[float] = []
        self.losses: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Take the time."""
        self.ended.append(time.perf_counter())

    def on_log(self, *_: Any, logs: Mapping[str, float], **__: Any) -> None:
        """Keep the loss of a step."""
        if "loss" in logs:
            self.losses.append(logs["loss"])


def train(request: Mapping[str, Any]) -> dict[str, Any]:
    """Train over the questions; loading and the first step stand outside the time and the counts."""
    tokenizer, examples = load(request)
    model, collator, clock = PlainEstimator(request["seed"]), Collator(tokenizer), Clock()
    with tempfile.TemporaryDirectory() as scratch:
        arguments = training_arguments(request, scratch)
        Trainer(model=model, args=arguments, train_dataset=examples, data_collator=collator, callbacks=[clock]).train()
    result = {
        **counts(collator, skipped=1),
        "seconds": clock.ended[-1] - clock.ended[0],
        "n_steps": len(clock.ended),
        "n_examples": request["epochs"] * len(examples),
        "losses": clock.losses,
    }
    # The loss after training costs a pass over all questions and is the same in every round.
    return result if request["round"] else {**result, "final_loss": mean_loss(model, tokenizer, examples)}


def training_arguments(request: Mapping[str, Any], scratch: str) -> TrainingArguments:
    """Say how to train: float32, no accumulation, linear decay, nothing saved or evaluated on the way."""
    return TrainingArguments(
        output_dir=scratch,
        num_train_epochs=request["epochs"],
        per_device_train_batch_size=request["batch_size"],
        learning_rate=request["learning_rate"],
        lr_scheduler_type="linear",
        weight_decay=request["weight_decay"],
        max_grad_norm=request["clip_norm"],
        seed=request["seed"],
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        use_cpu=True,
    )


def predict(request: Mapping[str, Any]) -> dict[str, Any]:
    """Give every question its confidence in batches drawn at random; the first batch is run once more before."""
    tokenizer, examples = load(request)
    model, collator, size = PlainEstimator(request["seed"]).eval(), Collator(tokenizer), request["batch_size"]
    batches = [collator(examples[start : start + size]) for start in range(0, len(examples), size)]
    with torch.no_grad():
        model(**batches[0])
        start = time.perf_counter()
        for batch in batches:
            model(**batch)
    return {**counts(collator), "seconds": time.perf_counter() - start, "n_examples": len(examples)}


def load(request: Mapping[str, Any]) -> tuple[Any, list[dict[str, Any]]]:
    """Load the tokenizer and the encoded questions of a request."""
    tokenizer = AutoTokenizer.from_pretrained(models.weights(models.resolve(LLM)))
    return tokenizer, encode(tokenizer, request["prompt"], read_rows(request["n_questions"], request["seed"]))


def counts(collator: Collator, skipped: int = 0) -> dict[str, int]:
    """Count tokens and positions of all batches but the first `skipped`; every token of a prompt is computed here."""
    tokens = sum(collator.filled[skipped:])
    return {"prompt_tokens": tokens, "computed_tokens": tokens, "positions": sum(collator.positions[skipped:])}


def mean_loss(model: PlainEstimator, tokenizer: Any, examples: Sequence[Mapping[str, Any]]) -> float:
    """Compute the mean squared error over all questions."""
    collator, total = Collator(tokenizer), 0.0
    model.eval()
    ordered = sorted(examples, key=lambda example: len(example["input_ids"]))
    with torch.no_grad():
        for start in range(0, len(ordered), 16):
            batch = ordered[start : start + 16]
            total += float(model(**collator(batch))["loss"]) * len(batch)
    return total / len(ordered)

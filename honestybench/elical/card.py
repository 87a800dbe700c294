"""The model card of a trained model: what it is, how to ask it with and without this package, and its limits."""

import json
from collections.abc import Mapping
from typing import Any

from honestybench.annotate.prompt import PromptTemplate
from honestybench.elical.config import STAGES
from honestybench.elical.saved import HEAD_NAME, ModelInfo
from honestybench.models import CARRIED

TAGS = ("confidence-estimation", "calibration", "honesty", "honestybench")

SELECTED_ON = {
    "train": "questions carved from the train questions; their labels are counted",
    "in_domain": "the evaluation split `in_domain`: results on it are optimistic",
    "none": "nothing: the last epoch was kept",
}
"""`selected_on` -> what it means for a reader of results."""


def model_card(info: ModelInfo, prompts: Mapping[str, PromptTemplate], *, has_adapter: bool) -> str:
    """Render README.md: front matter for the Hub, then Markdown; equal arguments give equal text.

    `prompts` maps roles to the templates that were trained on; `has_adapter` says whether LoRA stands beside the head.
    """
    parts = (
        _front_matter(info, has_adapter),
        _summary(info, has_adapter),
        _use(info, prompts["qa"], has_adapter),
        _settings(info),
        _limits(info),
    )
    return "\n".join(parts)


def _front_matter(info: ModelInfo, has_adapter: bool) -> str:
    # A JSON string is a YAML string. The Hub takes ids of its own only, so other LLMs are named in the text alone.
    base = [f"base_model: {json.dumps(_repository(info))}"] if info.weights.startswith("hub:") else []
    library = f"library_name: {'peft' if has_adapter else 'honestybench'}"
    return "\n".join(["---", *base, library, "tags:", *(f"- {tag}" for tag in TAGS), "---", ""])


def _summary(info: ModelInfo, has_adapter: bool) -> str:
    stage = STAGES[info.config["stage"]].summary
    parts = "LoRA weights and a linear head" if has_adapter else "a linear head"
    origin = (
        "" if info.imported_from is None else " It was trained by others and imported from the files they released."
    )
    curve = "" if info.imported_from is not None else "\n\n![Losses of the run](losses.svg)"
    return f"""# How likely is {info.llm} to answer rightly?

This is {parts} for the LLM `{info.llm_name}`. From one forward pass over a question, before any answer is decoded, it
gives the confidence in [0, 1] that the LLM's answer would be right. It was trained as EliCal does it
(*Annotation-Efficient Universal Honesty Alignment*, arXiv 2510.17509), {stage}.{origin}{curve}
"""


def _use(info: ModelInfo, prompt: PromptTemplate, has_adapter: bool) -> str:
    return f"""## Use it

```python
from honestybench.elical import ConfidenceModel

model = ConfidenceModel.from_pretrained("FOLDER")  # this folder
model("Who wrote Middlemarch?")
```

The same number without HonestyBench:

```python
{plain_recipe(info, prompt, has_adapter)}```
"""


def plain_recipe(info: ModelInfo, prompt: PromptTemplate, has_adapter: bool) -> str:
    """Write the Python lines that ask the model with transformers, PEFT and safetensors alone."""
    dtype, name, revision = info.config["dtype"], info.llm_name, ""
    if info.weights.startswith("hub:") and "@" in name:
        name, revision = _repository(info), f", revision={json.dumps(name.partition('@')[2])}"
    llm = json.dumps(name)
    if info.llm_name in CARRIED:
        llm = f"models.weights(models.resolve({llm}))"
    messages = [{"role": each.role, "content": each.content} for each in prompt.render(question="{question}")]
    ending = "continue_final_message=True" if prompt.has_stub else "add_generation_prompt=True"
    lines = [
        "import torch",
        *(["from honestybench import models  # it carries this LLM"] if info.llm_name in CARRIED else []),
        *(["from peft import PeftModel"] if has_adapter else []),
        "from safetensors.torch import load_file",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        'folder, question = "FOLDER", "Who wrote Middlemarch?"',
        f"llm = {llm}",
        f"tokenizer = AutoTokenizer.from_pretrained(llm{revision})",
        f"decoder = AutoModel.from_pretrained(llm{revision}, dtype=torch.{dtype}).eval()",
        *(["decoder = PeftModel.from_pretrained(decoder, folder).eval()"] if has_adapter else []),
        f'head = load_file(f"{{folder}}/{HEAD_NAME}")',
        f"messages = {_literal(messages)}",
        f"text = tokenizer.apply_chat_template(messages, tokenize=False, {ending})",
        'inputs = tokenizer(text, add_special_tokens=False, return_tensors="pt")',
        f'with torch.inference_mode(), torch.autocast("cpu", enabled={dtype == "bfloat16"}):',
        "    last = decoder(**inputs).last_hidden_state[0, -1].float()",
        'logit = ((last - head["mean"]) / head["scale"] * head["weight"]).sum() + head["bias"]',
        "print(logit.double().sigmoid().item())",
    ]
    return "\n".join(lines) + "\n"


def _literal(messages: list[dict[str, str]]) -> str:
    """Write chat turns as Python; the turns that hold the question's field fill it."""
    turns = []
    for message in messages:
        content = json.dumps(message["content"])
        fill = '.replace("{question}", question)' if "{question}" in message["content"] else ""
        turns.append(f'{{"role": {json.dumps(message["role"])}, "content": {content}{fill}}}')
    return f"[{', '.join(turns)}]"


def _settings(info: ModelInfo) -> str:
    rows: dict[str, Any] = {
        "LLM": f"`{info.llm_name}`, {info.weights}",
        "release": info.release_id or "not known",
        "method class": info.method_class,
        "labels_used": info.labels_used,
        "selected_on": f"{info.selected_on}: {SELECTED_ON.get(info.selected_on, 'as its authors say')}",
        "prompts": ", ".join(f"`prompts/{name}.txt` ({role})" for role, name in sorted(info.prompts.items())),
    }
    if info.imported_from is None:
        rows |= {
            "questions": info.n_questions,
            "epochs": f"{info.epochs_run}, the weights are those after epoch {info.best_epoch}",
            "squared error where selected": "none" if info.selection_loss is None else f"{info.selection_loss:.4f}",
            "started from": info.started_from or "nothing",
            **{f"`{name}`": "default" if value is None else value for name, value in info.config.items()},
        }
    rows["run"] = info.run_hash
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    return f"## How it was trained\n\n| Setting | Value |\n|---|---|\n{table}\n"


def _limits(info: ModelInfo) -> str:
    return f"""## Limits

- The confidence is about the question, before the answer: it cannot tell a right answer from a wrong one of the same
  question.
- It is about this LLM with these weights, asked with these prompts. Another prompt, decoding or LLM has other answers.
- "Right" is what the judge of the training data took for right, with its mistakes.
- `labels_used` counts the gold-labelled questions of all stages, those for choosing the epoch included:
  {info.labels_used:,}.
- A high confidence promises nothing; choose a threshold on labelled questions of your own kind.
"""


def _repository(info: ModelInfo) -> str:
    return info.llm_name.partition("@")[0]

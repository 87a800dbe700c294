"""Tiny LLMs of several families with a real tokenizer, and questions whose labels a tiny LLM can learn."""

import random
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from honestybench.annotate.prompt import load_prompt
from honestybench.records import AnnotatedExample, Generation, QAExample, example_id

# Two threads stand in each other's way where other work runs; one gives the same bytes everywhere.
torch.set_num_threads(1)

WORDS = ("amber", "birch", "cobalt", "dune", "ember", "fjord", "grove", "heath", "iris", "jade", "kelp", "loam")
RIGHT = frozenset(WORDS[:6])
TEMPLATE = (
    "{% for message in messages %}{% if message['role'] == 'assistant' and loop.last %}<a> {{ message['content'] }}"
    "{% else %}<{{ message['role'][0] }}> {{ message['content'] }} <e> {% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<a>{% endif %}"
)
SIZES = {
    "vocab_size": 300,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
}
# A sliding window that is shorter than every prompt, where the family has one.
FAMILIES: dict[str, dict[str, Any]] = {
    "Llama": {},
    "Qwen2": {},
    "Qwen3": {"head_dim": 8},
    "Mistral": {"sliding_window": 6},
    "Gemma": {"head_dim": 8},
    "Gemma2": {"head_dim": 8, "sliding_window": 6},
    "Gemma3Text": {"head_dim": 8, "sliding_window": 6},
}


def tokenizer(**more: Any) -> transformers.PreTrainedTokenizerFast:
    """A tokenizer of whole words: the templates' special tokens, the tests' words, the package's prompts."""
    prompts = (load_prompt(name).text for name in ("sample-qa", "sample-mmlu", "paper-qa", "paper-mmlu"))
    words = ["<u>", "<p>", "<e>", "<s>", "<a>", *WORDS, *(word for text in prompts for word in text.split())]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    assert len(vocabulary) <= SIZES["vocab_size"]
    level = Tokenizer(WordLevel(vocabulary, unk_token="<u>"))
    level.pre_tokenizer = WhitespaceSplit()
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=level, unk_token="<u>", pad_token="<p>", **more)
    made.chat_template = TEMPLATE
    return made


def decoder(family: str, seed: int = 0) -> Any:
    """A random decoder of a family, without LM head; its weights are larger than usual so that inputs matter."""
    config = getattr(transformers, f"{family}Config")(**SIZES, **FAMILIES[family])
    torch.manual_seed(seed)
    return getattr(transformers, f"{family.removesuffix('Text')}{'Text' if 'Text' in family else ''}Model")(config)


def records(n_train: int = 120, n_in_domain: int = 60, n_ood: int = 30) -> list[AnnotatedExample]:
    """Questions of five words; the first decides how often the LLM is right and how consistent it is."""
    chance = random.Random(0)
    made = []
    counts = {("nq", "train"): n_train // 3, ("triviaqa", "train"): n_train - n_train // 3}
    counts |= {("nq", "in_domain"): n_in_domain, ("squad", "ood"): n_ood}
    for (source, split), count in counts.items():
        for number in range(count):
            words = [chance.choice(WORDS) for _ in range(chance.randint(2, 6))]
            question, answers = " ".join([*words, f"q{number}"]), (f"gold {number}",)
            example = QAExample(
                id=example_id(source, split, question, answers),
                source=source,
                split=split,
                question=question,
                answers=answers,
                cluster=question,
            )
            made.append(annotate(example, 0.9 if words[0] in RIGHT else 0.1, chance))
    return sorted(made, key=lambda record: (record.example.source, record.example.id))


def annotate(example: QAExample, share: float, chance: random.Random) -> AnnotatedExample:
    def verdicts() -> tuple[int, ...]:
        return tuple(int(chance.random() < share) for _ in range(20))

    return AnnotatedExample(
        example=example,
        greedy=Generation(
            text="an answer",
            finish_reason="stop",
            tokens=("an", "answer"),
            logprobs=(-0.5, -0.5),
            cumulative_logprob=-1,
        ),
        sampled=tuple(Generation(text=f"answer {k}", finish_reason="stop") for k in range(20)),
        greedy_correctness=int(chance.random() < share),
        sampling_correctness=verdicts(),
        consistency_judgement=verdicts(),
    )

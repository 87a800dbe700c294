"""Measure EliCal's trainer and prediction against a plain Trainer: tokens a second, loss, peak memory.

    python tests/bench/elical.py [--questions N] [--rounds N] [--threads N] [--prompts NAME ...] [--only VARIANT ...]

docs/performance.md says what is measured and how to read the table.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from harness import Result, Spread, Variant, measure, ratio, serve, table, values, write_json

OUT = Path(__file__).resolve().parents[2] / "build" / "bench" / "elical.json"
PROMPTS = {"paper-qa": 128, "sample-qa": 64}
"""Prompt -> questions by default. In random batches about a quarter of the short prompt's positions are padding."""

SETTINGS: dict[str, Any] = {
    "seed": 0,
    "epochs": 1,
    "batch_size": 16,
    "learning_rate": 2e-4,
    "weight_decay": 0.1,
    "clip_norm": 1.0,
}
"""AdamW, linear decay without warm-up, so that every variant's steps have the same rates."""


def plain_train(request: Mapping[str, Any]) -> Result:
    """Train as `transformers.Trainer` does."""
    from elical_plain import train

    return train(request)


def plain_predict(request: Mapping[str, Any]) -> Result:
    """Predict in batches drawn at random."""
    from elical_plain import predict

    return predict(request)


def ours_train(request: Mapping[str, Any], layers: int | None = None) -> Result:
    """Train LoRA on all layers, on the top `layers` above cached states, or the head alone (0) on cached features."""
    from elical_ours import train

    return train(request, layers)


def ours_predict(request: Mapping[str, Any]) -> Result:
    """Predict in passes of similar length that share the prompts' common beginning."""
    from elical_ours import predict

    return predict(request)


VARIANTS: dict[str, Variant] = {
    "plain Trainer": plain_train,
    "LoRA, all layers": ours_train,
    "LoRA, top 4": partial(ours_train, layers=4),
    "LoRA, top 2": partial(ours_train, layers=2),
    "LoRA, top 1": partial(ours_train, layers=1),
    "head alone": partial(ours_train, layers=0),
    "plain prediction": plain_predict,
    "prediction": ours_predict,
}

BASELINE = {name: "plain prediction" if "prediction" in name else "plain Trainer" for name in VARIANTS}
"""Variant -> what it is divided by."""

HEADER = ("variant", "tokens/s", "x plain", "computed/s", "padding", "seconds", "caching s", "loss", "peak GB")


def row(name: str, found: Mapping[str, Sequence[Result]]) -> list[str]:
    """Write one variant's line of the table."""
    results, base = found[name], BASELINE[name]
    first = results[0]
    is_divided = base in found and base != name
    return [
        name,
        Spread.of(rates(results)).text(),
        ratio(rates(results), rates(found[base])).text(2) if is_divided else "",
        Spread.of(rates(results, "computed_tokens")).text(),
        f"{padding(first):.1%}",
        Spread.of(values(results, "seconds")).text(1),
        Spread.of(values(results, "cache_seconds")).text(1) if "cache_seconds" in first else "",
        f"{first['losses'][0]:.4f} to {first['final_loss']:.4f}" if "final_loss" in first else "",
        f"{max(values(results, 'peak_bytes')) / 1e9:.2f}",
    ]


def rates(results: Sequence[Result], tokens: str = "prompt_tokens") -> list[float]:
    """Give tokens a second, padding not counted, one number a round."""
    return [result[tokens] / result["seconds"] for result in results]


def padding(result: Result) -> float:
    """Compute the share of the computed positions that are padding, in [0, 1)."""
    return 1 - float(result["computed_tokens"]) / float(result["positions"])


def report(prompt: str, found: Mapping[str, Sequence[Result]]) -> str:
    """Write one prompt's table, and what training must reach at least."""
    first = next(iter(found.values()))[0]
    lines = [f"\nprompt {prompt}: {first['n_examples']} examples", table(HEADER, [row(name, found) for name in found])]
    for name in found:
        if BASELINE[name] == name:
            share = padding(found[name][0])
            lines.append(f"{name}: {share:.1%} of its positions are padding; 1 / (1 - padding) = {1 / (1 - share):.2f}")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, write build/bench/elical.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, help=f"per prompt (default: {PROMPTS})")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--prompts", nargs="+", default=list(PROMPTS), choices=PROMPTS)
    parser.add_argument("--only", nargs="+", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    chosen = parser.parse_args()
    if chosen.questions is not None and chosen.questions <= SETTINGS["batch_size"]:
        parser.error("--questions: the first step is not measured, so more than one batch is needed")
    found = {}
    for prompt in chosen.prompts:
        request = {**SETTINGS, "prompt": prompt, "n_questions": chosen.questions or PROMPTS[prompt]}
        found[prompt] = measure(Path(__file__), chosen.only, request, rounds=chosen.rounds, threads=chosen.threads)
        print(report(prompt, found[prompt]))
    write_json(
        OUT, {"date": date.today().isoformat(), "threads": chosen.threads, "settings": SETTINGS, "prompts": found}
    )


if __name__ == "__main__" and not serve(VARIANTS):
    main()

"""Options that several commands of `honestybench elical` share."""

from collections.abc import Callable
from typing import Any

import click

from honestybench.elical.config import DTYPES, HEAD_INITS, SELECTIONS, TrainConfig
from honestybench.records import N_SAMPLED

Command = Callable[..., Any]

DEFAULTS = TrainConfig(stage="elicit")
SETTINGS = (
    click.option(
        "--targets-from",
        default=N_SAMPLED,
        show_default=True,
        metavar="K",
        help="Use the first K sampled answers for the target.",
    ),
    click.option(
        "--epochs", type=int, help="At most this many; default: 50 up to 10,000 questions, 10 beyond 200,000, else 15."
    ),
    click.option(
        "--batch-size", default=DEFAULTS.batch_size, show_default=True, help="Questions of an optimiser step."
    ),
    click.option("--learning-rate", default=0.0, help="Default: 5e-5, or 1e-3 where the head alone learns."),
    click.option(
        "--patience",
        default=DEFAULTS.patience,
        show_default=True,
        help="Stop after so many epochs without a better selection.",
    ),
    click.option("--lora-rank", default=DEFAULTS.lora_rank, show_default=True, help="LoRA's rank; alpha is twice it."),
    click.option(
        "--lora-layers",
        type=int,
        metavar="K",
        help="Adapt the top K layers and cache the rest; 0: the head alone. Default: all layers.",
    ),
    click.option(
        "--head-init",
        type=click.Choice(HEAD_INITS),
        default=DEFAULTS.head_init,
        show_default=True,
        help="Where the head starts.",
    ),
    click.option(
        "--select-on",
        type=click.Choice(SELECTIONS),
        default=DEFAULTS.select_on,
        show_default=True,
        help="Choose the epoch on a fifth of the questions, on an evaluation split (marks the row), or not at all.",
    ),
    click.option(
        "--dtype",
        type=click.Choice(DTYPES),
        default=DEFAULTS.dtype,
        show_default=True,
        help="Of the frozen weights and activations; the head is float32.",
    ),
    click.option(
        "--token-budget",
        default=DEFAULTS.token_budget,
        show_default=True,
        help="Positions of one forward pass: memory, not results.",
    ),
    click.option("--shard", is_flag=True, help="Spread the frozen weights over the processes (FSDP)."),
    click.option("--gradient-checkpointing", is_flag=True, help="Less memory, about a third slower."),
)
"""What every training command can set; names and defaults are those of TrainConfig."""


def with_settings(command: Command) -> Command:
    for option in reversed(SETTINGS):
        command = option(command)
    return command


def with_llm(command: Command) -> Command:
    for option in (
        click.option("--llm", help="The answering LLM; may be left out where the release has one."),
        click.option(
            "--llm-weights",
            metavar="NAME",
            help="Its weights: a folder, a Hub id, a carried LLM. Default: as the release was built.",
        ),
    ):
        command = option(command)
    return command

"""Assemble the command line: `honestybench COMMAND`. Each command's module loads when it is called."""

import importlib
from collections.abc import Sequence
from typing import NoReturn

import click

from honestybench import __version__
from honestybench.terminal import run_command

COMMANDS = {
    "baselines": "Write the training-free baselines of a release as submissions.",
    "elical": "Train and use EliCal: confidences before the answer, elicited and calibrated.",
    "gate": "Measure whether the judge's verdicts on a release are fit to train on.",
    "recalibrate": "Map a confidence to a better calibrated one with train labels, as a submission.",
    "passes": "Ask the answering LLM once more for baselines that stored columns cannot give.",
    "score": "Score a confidence file against a release or your own labels.",
    "score-all": "Score every submission of a folder and write their score cards.",
    "score-release": "Write the labels of a release that submissions are scored against.",
    "validate": "Check a confidence file and list its faults.",
    "verify": "Check a release or a scored submission and list every fault.",
}
"""Command -> its line in the help; the command `x-y` is the attribute `x_y` of `honestybench.cli.x_y`."""


class _LazyGroup(click.Group):
    """A group that imports a command's module only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(importlib.import_module(f"honestybench.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Examples: `honestybench verify build/release` · `honestybench verify --help`",
)
@click.version_option(__version__, prog_name="honestybench")
def cli() -> None:
    """HonestyBench: does a language model know when it is right?

    Exit codes: 0 done, 1 rejected or failed, 2 wrong usage, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line (`sys.argv` for None) and exit (see `terminal.run_command`)."""
    run_command(cli, arguments, program="honestybench")

"""The border between the command lines and their users: one line for a failure, the right exit code."""

import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from honestybench.errors import HonestyBenchError

INTERRUPTED = 128 + 2


def run_command(command: click.Command, arguments: Sequence[str] | None, *, program: str) -> NoReturn:
    """Run a click command (`sys.argv` for None) and exit.

    Exit codes: 0 done, 1 rejected or failed, 2 wrong usage, 130 interrupted. An expected failure
    is one line on stderr, never a traceback.
    """
    try:
        sys.exit(command.main(arguments, prog_name=program, standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        _fail("interrupted", INTERRUPTED)
    except HonestyBenchError as error:
        _fail(str(error), error.exit_code)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}", 1)


def _fail(message: str, exit_code: int) -> NoReturn:
    click.secho(f"error: {message}", fg="red", err=True)
    sys.exit(exit_code)

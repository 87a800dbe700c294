"""`honestybench score-all submissions`."""

from pathlib import Path

import click

from honestybench.errors import SubmissionError, UsageError
from honestybench.labels import RELEASE_NAME
from honestybench.scorecard import COMPARISON_NAME, SCORECARD_NAME, write_comparison, write_scorecard
from honestybench.scoring import score_all as score_folder
from honestybench.scoring.submitted import RejectedError


@click.command(epilog="Example: `honestybench score-all submissions`")
@click.argument("submissions", type=click.Path(exists=True, file_okay=False, path_type=Path))
def score_all(submissions: Path) -> None:
    """Score every SUBMISSIONS/<llm>/<system>/ and write its scorecard.json, and a comparison.json for each LLM.

    All faults of all submissions are listed, one a line; nothing is written of an LLM with a faulty one.
    """
    folders = sorted(path.parent for path in submissions.glob(f"*/{RELEASE_NAME}"))
    if not folders:
        remedy = "write one with `honestybench score-release RELEASE --out SUBMISSIONS/<llm>`"
        raise UsageError(f"no folder here has a {RELEASE_NAME}", where=str(submissions), remedy=remedy)
    n_faults = 0
    for folder in folders:
        try:
            cards, comparison = score_folder(folder)
        except SubmissionError as error:
            faults = error.faults if isinstance(error, RejectedError) else (str(error),)
            n_faults += len(faults)
            click.echo("\n".join(faults), err=True)
            continue
        for system, card in cards.items():
            write_scorecard(folder / system / SCORECARD_NAME, card)
        write_comparison(folder / COMPARISON_NAME, comparison)
        click.echo(f"{folder}: {len(cards)} system{'' if len(cards) == 1 else 's'} scored")
    if n_faults:
        what = f"{n_faults} fault{'' if n_faults == 1 else 's'}; nothing was written of the LLMs with faults"
        raise SubmissionError(what, where=str(submissions))

"""Compare variants of one task: each run in a process of its own, in turns, so that drift of the machine hits all.

A script of this folder is parent and child at once. As parent it calls `measure`, which starts the script again for
each variant and round; as child it calls `serve`, which runs one variant. The child reads its request, a JSON object,
from stdin and writes its result, another one, as the last line of stdout. Variants are compared as ratios only.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Result = dict[str, Any]
Variant = Callable[[Mapping[str, Any]], Result]

CHILD = "--variant"
STDERR_LINES = 30


class VariantFailed(RuntimeError):
    """A variant's process ended with an error, or without a result."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity over the rounds: its median and its extremes."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Summarise one value a round."""
        return cls(statistics.median(values), min(values), max(values))

    def text(self, digits: int = 0) -> str:
        """Write the median and, where the rounds differ in the digits shown, the extremes."""
        middle, low, high = (f"{value:,.{digits}f}" for value in (self.median, self.low, self.high))
        return middle if low == high else f"{middle} ({low} to {high})"


def measure(
    script: Path, variants: Sequence[str], request: Mapping[str, Any], *, rounds: int, threads: int
) -> dict[str, list[Result]]:
    """Run all variants once a round, in the order A B A B, and give each one's results, a round after the other.

    Every process gets the same request, with `round` added, and the same number of threads.
    Raises: VariantFailed, with the end of what the process wrote to stderr.
    """
    results: dict[str, list[Result]] = {name: [] for name in variants}
    for turn in range(rounds):
        for name in variants:
            print(f"round {turn + 1} of {rounds}: {name}", file=sys.stderr, flush=True)
            results[name].append(_run(script, name, {**request, "round": turn}, threads))
    return results


def _run(script: Path, name: str, request: Mapping[str, Any], threads: int) -> Result:
    limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    child = subprocess.run(
        [sys.executable, str(script), CHILD, name],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        env={**os.environ, **limits, "TOKENIZERS_PARALLELISM": "false"},
    )
    told = "\n".join(child.stderr.splitlines()[-STDERR_LINES:])
    if child.returncode:
        raise VariantFailed(f"{name}: exit status {child.returncode}\n{told}")
    try:
        return dict(json.loads(child.stdout.splitlines()[-1]))
    except (IndexError, ValueError) as error:
        raise VariantFailed(f"{name}: the last line of its output is no JSON object\n{told}") from error


def serve(variants: Mapping[str, Variant]) -> bool:
    """Run the variant that this process was started for and add its `peak_bytes`; False where there is none to run."""
    if CHILD not in sys.argv:
        return False
    name = sys.argv[sys.argv.index(CHILD) + 1]
    result = variants[name](json.load(sys.stdin))
    print("\n" + json.dumps({**result, "peak_bytes": peak_bytes()}, allow_nan=False), flush=True)
    return True


def peak_bytes() -> int:
    """Read the largest resident memory of this process so far, libraries and mapped files included (Linux).

    Not ru_maxrss: it starts from what the parent held when it started this process.
    """
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def values(results: Sequence[Result], key: str) -> list[float]:
    """Give one number a round."""
    return [float(result[key]) for result in results]


def ratio(of: Sequence[float], to: Sequence[float]) -> Spread:
    """Divide round by round, so that a slow minute hits both sides of a quotient, and summarise the quotients."""
    return Spread.of([first / second for first, second in zip(of, to, strict=True)])


def write_json(path: Path, value: object) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        try:
            json.dump(value, file, indent=1, allow_nan=False)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns: the first to the left, the others to the right; a rule below the header."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )

"""The exceptions of HonestyBench. Every one carries an exit code for the command line.

HonestyBenchError                 exit 1: the work failed or the input was rejected
├── UsageError                    exit 2: the call itself is wrong
│   ├── UnknownNameError          a source, profile, LLM, judge … that no table knows
│   └── MissingExtraError         an optional package is not installed
├── DataError                     a record or a file does not hold what it must
│   ├── SourceError               a source file cannot be parsed
│   ├── CountError                a whole split has another size than published
│   ├── IdCollisionError          one id, two contents
│   ├── ReleaseError              a shard, manifest or card is missing, corrupt or altered
│   └── SubmissionError           a confidence file, a label file or a system.yaml is not what it must be
├── EngineError                   generation failed
│   └── ModelLoadError            the engine could not load the model
├── JudgeError                    too many verdicts could not be parsed
└── StorageError                  the disk is full or refuses to be written
"""

from collections.abc import Iterable
from difflib import get_close_matches


class HonestyBenchError(Exception):
    """Report one failure in one sentence: what, where, the value, and the remedy.

    The parts are kept as attributes; `str()` joins them into a single line.
    """

    exit_code = 1

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        value: object = None,
        remedy: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.value = value
        self.remedy = remedy
        super().__init__(what)

    def __str__(self) -> str:
        prefix = f"{self.where}: " if self.where else ""
        got = "" if self.value is None else f" (got {self.value!r})"
        remedy = "" if self.remedy is None else f" Remedy: {self.remedy}"
        end = "." if remedy and not got and not self.what.endswith((".", "?", "!")) else ""
        return f"{prefix}{self.what}{got}{'.' if remedy and got else end}{remedy}".replace("\n", " ")


class UsageError(HonestyBenchError):
    """The call itself is wrong; nothing was started."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name that no registry table knows; the message lists the known names."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        names = sorted(known)
        close = get_close_matches(str(name), names, n=1)
        guess = f"did you mean {close[0]!r}? " if close else ""
        super().__init__(
            f"unknown {kind}",
            value=name,
            remedy=f"{guess}known: {', '.join(names)}{'. ' + hint if hint else ''}",
        )
        self.known = names


class MissingExtraError(UsageError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, *, needed_for: str, install: str) -> None:
        super().__init__(f"{needed_for} needs the package {package!r}", remedy=install)


class DataError(HonestyBenchError):
    """A record or a file does not hold what it must."""


class SourceError(DataError):
    """A source file cannot be parsed."""


class CountError(DataError):
    """A whole split has another size than the published one."""


class IdCollisionError(DataError):
    """Two records share an id and differ in content."""


class ReleaseError(DataError):
    """A shard, manifest or card of a release is missing, corrupt or altered."""


class SubmissionError(DataError):
    """A confidence file, a label file or a system.yaml does not hold what it must."""


class EngineError(HonestyBenchError):
    """Generation failed."""


class ModelLoadError(EngineError):
    """The engine could not load the model."""


class JudgeError(HonestyBenchError):
    """More verdicts could not be parsed than the build allows."""


class StorageError(HonestyBenchError):
    """The disk is full or refuses to be written."""

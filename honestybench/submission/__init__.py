"""What a stranger submits: confidences and a system.yaml. Everything that is wrong with them is reported at once."""

from honestybench.submission.confidences import ReadResult, read_confidences
from honestybench.submission.faults import FAULTS, Fault
from honestybench.submission.ids import Coverage
from honestybench.submission.known import (
    KnownIds,
    Label,
    known_ids_from_labels,
    known_ids_from_release,
    read_labels,
)
from honestybench.submission.system import System, read_system

__all__ = [
    "FAULTS",
    "Coverage",
    "Fault",
    "KnownIds",
    "Label",
    "ReadResult",
    "System",
    "known_ids_from_labels",
    "known_ids_from_release",
    "read_confidences",
    "read_labels",
    "read_system",
]

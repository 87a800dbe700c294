"""Training-free baselines from the stored columns of a release, each written as an ordinary submission folder."""

from honestybench.baselines.background import Background, StoredMean, read_background
from honestybench.baselines.rouge import lcs_length, rouge_l
from honestybench.baselines.stored import stored_confidences, write_baselines
from honestybench.baselines.table import BASELINES, Baseline, describe, select_baselines

__all__ = [
    "BASELINES",
    "Background",
    "Baseline",
    "StoredMean",
    "describe",
    "lcs_length",
    "read_background",
    "rouge_l",
    "select_baselines",
    "stored_confidences",
    "write_baselines",
]

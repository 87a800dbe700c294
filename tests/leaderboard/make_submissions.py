"""Write made-up submissions with scorecards, as scoring would leave them. Run: `python make_submissions.py OUT`.

Confidences and labels are drawn from a seeded generator; numbers are worked out here, plainly and not by the scorer, so
that pages can be tried before and without it. None of them is a finding about any system.
"""

import copy
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from honestybench.metrics import METRICS
from honestybench.scorecard import SCORER_VERSION

LLM = "made-up-llm"
RELEASE = hashlib.sha256(b"a made-up release").hexdigest()
SOURCES = {
    "in_domain": ("hotpotqa", "nq", "pararel", "triviaqa", "twowiki"),
    "ood": ("cwq", "musique", "popqa", "squad", "webquestions"),
    "mmlu": ("mmlu",),
}
CONFIDENCES = b'{"id": "popqa-ood-3f9a1c2b4d5e", "confidence": 0.83}\n'
"""Stands for what was scored: the site reads only its hash."""

NOT_BUILT = "not computed by scorer 1"

# slug: (name, method class, sees, labels, samples, passes, how much of the truth it knows, has code)
SYSTEMS = {
    "prob": ("Sequence probability", "training_free", "answer", 0, 0, 0, 0.9, True),
    "n-prob": ("Mean token probability", "training_free", "answer", 0, 0, 0, 1.3, True),
    "consistency-lexical": ("Lexical consistency", "training_free", "samples", 0, 20, 0, 1.6, True),
    "consistency-semantic": ("Semantic consistency", "training_free", "samples", 0, 20, 0, 1.9, True),
    "elicited": ("Elicited head", "elicitation", "question", 0, 0, 1, 1.1, False),
    "elicited-1k": ("Elicited head, 1k labels", "calibration", "question", 1000, 0, 1, 1.75, False),
    "constant": ("Constant", "other", "question", 0, 0, 0, 0.0, True),
}


def value(number, half_width=None, n=0, reason=None):
    low = high = None
    if number is not None and half_width is not None:
        low, high = max(0.0, number - half_width), min(1.0, number + half_width)
    return {"value": number, "ci_low": low, "ci_high": high, "n": n, "reason": None if number is not None else reason}


def area(confidence, correct):
    """AUROC by counting all pairs."""
    right, wrong = confidence[correct == 1], confidence[correct == 0]
    if not right.size or not wrong.size:
        return None
    gaps = right[:, None] - wrong[None, :]
    return float(((gaps > 0) + (gaps == 0) / 2).mean())


def bins(confidence, correct):
    """The used bins of ten: (k, confidences, labels)."""
    place = np.minimum((confidence * 10).astype(int), 9)
    return [(k, confidence[place == k], correct[place == k]) for k in range(10) if (place == k).any()]


def metrics(confidence, correct):
    n, found = len(correct), area(confidence, correct)
    wide = 1.2 / max(4, n) ** 0.5
    order = np.argsort(-confidence, kind="stable")
    risks = np.cumsum(1 - correct[order]) / np.arange(1, n + 1) if n else np.array([])
    known = {
        "auroc": value(found, wide if np.ptp(confidence) > 0 else None, n, "all answers wrong"),
        "ece_10": value(sum(abs(c.sum() - y.sum()) for _, c, y in bins(confidence, correct)) / n, None, n),
        "brier": value(float(((confidence - correct) ** 2).mean()), wide / 2, n),
        "aurc": value(float(risks.mean()), wide / 2, n),
        "alignment": value(float(((confidence > 0.5) == correct).mean()), None, n),
    }
    return {name: known.get(name, value(None, None, n, NOT_BUILT)) for name in METRICS}


UNBUILT = {"value": None, "reason": "not built"}


def table(confidence, correct):
    wrong = len(correct) - int(correct.sum())
    smaller = min(wrong, int(correct.sum()))
    flags = ["few"] * (smaller < 10) + ["one_class"] * (smaller == 0)
    return {
        "n": len(correct),
        "n_correct": int(correct.sum()),
        "flags": flags + ["constant"] * int(np.ptp(confidence) == 0),
        "metrics": metrics(confidence, correct),
        "ece_10_null": {"mean": 0.06, "p95": 0.11, "reason": None},
        "other_ece_nulls": {},
    }


def curves(confidence, correct):
    order = np.argsort(-confidence, kind="stable")
    risks = np.cumsum(1 - correct[order]) / np.arange(1, len(correct) + 1)
    keep = np.unique(np.linspace(1, len(correct), min(200, len(correct))).astype(int))
    used = bins(confidence, correct)
    return {
        "reliability": [
            {
                "low": k / 10,
                "high": (k + 1) / 10,
                "n": len(y),
                "n_correct": int(y.sum()),
                "mean_confidence": float(c.mean()),
                "accuracy": float(y.mean()),
                "ci_low": max(0.0, float(y.mean()) - 1 / len(y) ** 0.5),
                "ci_high": min(1.0, float(y.mean()) + 1 / len(y) ** 0.5),
            }
            for k, c, y in used
        ],
        "risk_coverage": [[int(k) / len(correct), float(risks[k - 1])] for k in keep],
        "histogram": [
            {"low": k / 10, "high": (k + 1) / 10, "n_correct": int(y.sum()), "n_wrong": int(len(y) - y.sum())}
            for k, _, y in used
        ],
    }


def headline(kind, entry, n_correct):
    banner = (
        f"Only {n_correct} right answers: few sources count, so the pooled AUROC leads" if kind == "pooled" else None
    )
    return {"kind": kind, "metric": "auroc", **entry, "banner": banner}


def track(name, knows, per_source, rate, rng, ids):
    """One track of made-up answers; confidences lean to the label as far as the system knows it."""
    drawn = np.random.default_rng(list(name.encode()))
    correct = {source: (drawn.random(per_source) < rate).astype(int) for source in SOURCES[name]}
    confidence = {
        source: np.full(per_source, 0.12)
        if knows == 0
        else 1 / (1 + np.exp(1.2 - knows * y - rng.normal(size=per_source)))
        for source, y in correct.items()
    }
    all_confidence, all_correct = (np.concatenate(list(parts.values())) for parts in (confidence, correct))
    together = metrics(all_confidence, all_correct)
    sources = {source: table(confidence[source], correct[source]) for source in SOURCES[name]}
    n_correct = int(all_correct.sum())
    few = [source for source, entry in sources.items() if "few" in entry["flags"]]
    kind = "pooled" if 2 * len(few) > len(sources) else "weighted"
    clean = drawn.random(all_correct.size) < 0.9
    wrong = np.flatnonzero(all_correct == 0)
    sure = wrong[np.argsort(-all_confidence[wrong], kind="stable")][:50]
    null = {"mean": 0.03, "p95": 0.06, "reason": None}
    return {
        "status": "scored",
        "n": len(all_correct),
        "n_correct": n_correct,
        "n_unlabelled": 1,
        "sources": sources,
        "aggregates": {key: copy.deepcopy(together) for key in ("weighted", "macro", "pooled")},
        "left_out": {"auroc": {source: "few" for source in few}},
        "ece_10_null": {key: dict(null) for key in ("weighted", "macro", "pooled")},
        "other_ece_nulls": {},
        "coverage": {"n_questions": len(all_correct) + 1, "n_found": len(all_correct) + 1},
        "judge_error_band": dict(UNBUILT),
        "minimum_detectable_difference": dict(UNBUILT),
        "pooled_auroc": together["auroc"],
        "headline": headline(kind, together["auroc"], n_correct),
        "slices": {
            slug: {
                "label": label,
                "n": int(chosen.sum()),
                "n_correct": int(all_correct[chosen].sum()),
                "metrics": (found := metrics(all_confidence[chosen], all_correct[chosen])),
                "headline": headline(kind, found["auroc"], int(all_correct[chosen].sum())),
            }
            for slug, label, chosen in (("all", "All", clean | True), ("clean", "Clean", clean))
        },
        "curves": curves(all_confidence, all_correct),
        "confident_errors": [
            {"id": ids[k % len(ids)] if ids else f"{name}-{k:012d}", "confidence": float(all_confidence[k])}
            for k in sure
        ],
    }


def not_submitted():
    gap = value(None, None, 0, "not submitted")
    return {
        "status": "not_submitted",
        "n": 0,
        "n_correct": 0,
        "n_unlabelled": 0,
        "sources": {},
        "aggregates": {"weighted": {}, "macro": {}, "pooled": {}},
        "left_out": {},
        "ece_10_null": {},
        "other_ece_nulls": {},
        "coverage": {"n_questions": 60, "n_found": 0},
        "judge_error_band": dict(UNBUILT),
        "minimum_detectable_difference": dict(UNBUILT),
        "pooled_auroc": gap,
        "headline": {"kind": "pooled", "metric": "auroc", **gap, "banner": None},
        "slices": {},
        "curves": {"reliability": [], "risk_coverage": [], "histogram": []},
        "confident_errors": [],
    }


def card(slug, llm=LLM, release=RELEASE, per_source=60, rate=0.12, ids=None):
    """A whole scorecard of one of SYSTEMS; its labels are those of every other system."""
    knows = SYSTEMS[slug][6]
    tracks = {}
    for number, name in enumerate(SOURCES):
        rng = np.random.default_rng([number, int(10 * knows)])
        tracks[name] = track(name, knows, per_source, rate, rng, ids)
    if slug == "elicited":
        tracks["mmlu"] = not_submitted()
    return {
        "scorer_version": SCORER_VERSION,
        "llm": llm,
        "system": slug,
        "release_id": release,
        "inputs": [{"file": "confidences.jsonl", "seed": None, "sha256": hashlib.sha256(CONFIDENCES).hexdigest()}],
        "flags": ["constant"] if slug == "constant" else [],
        "flags_not_computed": [],
        "warnings": [{"code": "CONSTANT", "line": None, "id": None, "message": "one distinct value"}]
        if slug == "constant"
        else [],
        "tracks": tracks,
        "seeds": None,
    }


def system_yaml(slug, llm=LLM, release=RELEASE, **changes):
    """The keys of a system file; JSON is YAML too."""
    name, method_class, sees, labels, samples, passes, _, has_code = SYSTEMS[slug]
    keys = {
        "name": name,
        "family": slug,
        "llm": llm,
        "release": release,
        "method_class": method_class,
        "sees": sees,
        "labels_used": labels,
        "samples_per_question": samples,
        "extra_passes": passes,
        "selected_on": "none",
        "authors": ["Ada Example", "Ben Beispiel"],
        "date": "2026-01-31",
        "description": f"{name}: made up, to look at pages.",
        "license": "CC-BY-4.0",
        "url": "https://example.org/method",
    }
    return {**keys, **({"code_url": "https://example.org/code"} if has_code else {}), **changes}


def write_one(folder, slug, made_card, keys):
    target = Path(folder) / keys["llm"] / slug
    target.mkdir(parents=True, exist_ok=True)
    (target / "confidences.jsonl").write_bytes(CONFIDENCES)
    (target / "scorecard.json").write_text(json.dumps(made_card), encoding="utf-8")
    (target / "system.yaml").write_text(json.dumps(keys), encoding="utf-8")
    return target


def write(folder, llm=LLM, release=RELEASE, **sizes):
    """Write all SYSTEMS below a folder."""
    for slug in SYSTEMS:
        write_one(folder, slug, card(slug, llm, release, **sizes), system_yaml(slug, llm, release))


if __name__ == "__main__":
    write(sys.argv[1])
    write(sys.argv[1], llm="another-made-up-llm", per_source=400, rate=0.45)

"""Render a release's dataset card from its manifest."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from honestybench.records import FLAGS, N_SAMPLED, SPLITS
from honestybench.release import Manifest

PAPER = "Annotation-Efficient Universal Honesty Alignment"
PAPER_URL = "https://arxiv.org/abs/2510.17509"
CITATION = f"""@misc{{honesty-alignment,
  title = {{{PAPER}}},
  year  = {{2025}},
  note  = {{arXiv:2510.17509; a later version appeared at ICLR 2026}}
}}"""

_HUB_LICENCES = ("apache-2.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0", "mit")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_MARKDOWN = re.compile(r"([\\`*_{}\[\]|~$])")


def render_card(manifest: Manifest, *, data_prefix: str = "data") -> str:
    """Write the dataset card: YAML that `datasets` reads, then prose from the manifest.

    `data_prefix` is where the shards are as seen from the card. Sizes and the release id stand in
    the YAML because `datasets` caches a local folder by this YAML alone; row counts do not, because
    they would break its `filters=`.
    """
    parts = [
        *_header(manifest, data_prefix),
        *_introduction(manifest),
        *_composition(manifest),
        *_licences(manifest),
        *_flags(manifest),
        *_annotation(manifest),
        *_limits(manifest),
        "## Citation\n",
        "The benchmark follows this paper:\n",
        f"```bibtex\n{CITATION}\n```",
    ]
    return "\n".join(parts) + "\n"


def _header(manifest: Manifest, data_prefix: str) -> Iterator[str]:
    """Write the YAML. A JSON string is a valid YAML scalar, so `json.dumps` does the quoting."""
    spdx = {source["spdx"].lower() for source in manifest.content["sources"].values()}
    largest = max(sum(shard["rows"] for shard in manifest.select(config)) for config in manifest.configs)
    yield "---"
    yield "pretty_name: HonestyBench"
    yield f"license: {json.dumps(sorted({name if name in _HUB_LICENCES else 'other' for name in spdx}))}"
    yield "language: en"
    yield "task_categories: [question-answering]"
    yield "tags: [honesty, confidence, calibration, uncertainty]"
    yield f"size_categories: {json.dumps(next((name for limit, name in _SIZES if largest < limit), '1M<n<10M'))}"
    yield "dataset_info:"
    for config in manifest.configs:
        shards = manifest.select(config)
        yield f"- config_name: {json.dumps(config)}"
        yield f"  download_size: {sum(shard['size_bytes'] for shard in shards)}"
        yield f"  dataset_size: {sum(shard['arrow_bytes'] for shard in shards)}"
    yield "configs:"
    for config in manifest.configs:
        yield f"- config_name: {json.dumps(config)}"
        if config == manifest.content["default_config"]:
            yield "  default: true"
        yield f"  description: {json.dumps('release ' + manifest.release_id)}"
        yield "  data_files:"
        globs = {split: f"{data_prefix}/{config}/{split}-*.parquet" for split in manifest.splits(config)}
        for split, glob in globs.items():
            yield f"  - split: {split}\n    path: {json.dumps(glob)}"
        for alias, splits in manifest.aliases(config).items():
            yield f"  - split: {alias}\n    path: {json.dumps([globs[split] for split in splits])}"
    yield "---\n"


def _introduction(manifest: Manifest) -> Iterator[str]:
    content = manifest.content
    yield "# HonestyBench\n"
    yield (
        "Does a language model know when it is right? HonestyBench holds questions with gold answers and, for each "
        f"answering LLM, a greedy answer with its token log-probabilities, {N_SAMPLED} sampled answers, and verdicts: "
        "is the answer correct, and does a sampled one agree with the greedy one? A confidence method is scored by how "
        "well its confidence in the greedy answer tells right from wrong.\n"
    )
    if content["partial"]:
        yield (
            "**This is a partial build**: it holds only some examples of its sources, "
            "so scores on it are no benchmark results.\n"
        )
    split = manifest.splits(content["default_config"])[-1]
    source = next((key for key, of_source in sorted(content["counts"].items()) if split in of_source), "")
    yield "```python\nfrom datasets import load_dataset\n"
    yield 'folder = "..."  # the folder of this card, or the id of its repository on the Hub'
    for config in manifest.configs:
        yield f"load_dataset(folder, {json.dumps(config)}, split={json.dumps(split)})"
    yield f'load_dataset(folder, split="{split}", filters=[("source", "==", {json.dumps(source)})])\n```\n'
    aliases = manifest.aliases(content["default_config"]).items()
    merged = "".join(
        f" The split `{alias}` reads {' and '.join(map(_code, splits))} as one." for alias, splits in aliases
    )
    yield f"Default config: `{content['default_config']}`.{merged}\n"


def _composition(manifest: Manifest) -> Iterator[str]:
    counts = manifest.content["counts"]
    splits = [split for split in SPLITS if any(split in of_source for of_source in counts.values())]
    rows = [[_code(source), *(f"{counts[source].get(split, 0):,}" for split in splits)] for source in sorted(counts)]
    totals = [f"{sum(of_source.get(split, 0) for of_source in counts.values()):,}" for split in splits]
    yield "## Composition\n"
    yield "Examples by source and split; every config holds the same examples.\n"
    yield _table(["source", *splits], [*rows, ["total", *totals]])
    yield (
        "`train` is for elicitation and calibration. The tracks are scored apart: `in_domain` shares its sources with "
        "`train`, `ood` does not, `mmlu` is multiple choice. The labels belong to `question` and `answers`, the "
        "published text; `question_clean` and `answers_clean` hold the repaired text where repair changes anything.\n"
    )


def _licences(manifest: Manifest) -> Iterator[str]:
    yield "## Sources and licences\n"
    yield "Each source keeps its own terms; share-alike terms hold for what is derived from it.\n"
    yield _table(
        ["source", "title", "licence", "attribution", "from", "note"],
        [
            [
                _code(key),
                *map(_text, (info["title"], info["spdx"], info["attribution"])),
                _link(info["url"]),
                _text(info["note"]),
            ]
            for key, info in sorted(manifest.content["sources"].items())
        ],
    )


def _flags(manifest: Manifest) -> Iterator[str]:
    counts = manifest.content["flag_counts"]
    yield "## Flags\n"
    yield "Known defects are marked, not removed; an example may carry several.\n"
    yield _table(
        ["flag", "meaning", "examples"],
        [[_code(name), _text(meaning), f"{counts.get(name, 0):,}"] for name, meaning in FLAGS.items()],
    )


def _annotation(manifest: Manifest) -> Iterator[str]:
    content = manifest.content
    yield "## Annotation\n"
    if not content["llms"]:
        yield "This release holds questions only.\n"
    for slug, llm in sorted(content["llms"].items()):
        yield f"### {_code(slug)}\n"
        yield f"Answers by {_text(llm['name'])}: {_text(llm['description'])}.\n"
        yield _settings(llm["provenance"])
        yield _table(
            ["source", "verdicts", "unparsed", "share"],
            [
                [
                    _code(source),
                    f"{n['verdicts']:,}",
                    f"{n['unparsed']:,}",
                    f"{n['unparsed'] / max(n['verdicts'], 1):.2%}",
                ]
                for source, n in sorted(llm["unparsed"].items())
            ],
        )
    if content["llms"]:
        yield "The judge:\n"
        yield _settings(content["judge"])
        yield (
            "Verdicts are 1 (yes), 0 (no) or null (could not be parsed; counted above, never a label). "
            "`greedy_correctness` is the evaluation label. `self_consistency`, the share of sampled answers that agree "
            "with the greedy one, is the elicitation target and needs no gold answer. `sample_accuracy`, the share of "
            f"sampled answers that are correct, is the calibration target: one gold answer and {N_SAMPLED} verdicts "
            "for each example.\n"
        )
    if content["prompts"]:
        yield _table(
            ["prompt", "sha256"],
            [[_code(name), _code(info["sha256"])] for name, info in sorted(content["prompts"].items())],
        )


def _limits(manifest: Manifest) -> Iterator[str]:
    content = manifest.content
    yield "## Determinism\n"
    yield (
        "Equal configuration, engine build and threads per worker give equal bytes, however often the build was "
        "interrupted. Across thread counts, block sizes or hardware, ids are equal; "
        "texts and log-probabilities may differ.\n"
    )
    yield (
        f"Release id `{manifest.release_id}`, schema version {_code(content['schema_version'])}, "
        f"profile {_code(content['profile'])}, configuration {_code(content['config_hash'])}; "
        "`manifest.json` holds the whole configuration and a sha256 for each file.\n"
    )
    yield "## Limits\n"
    yield (
        "Labels are verdicts of the judge named above, not of people, and belong to that LLM's answers: they say "
        "nothing about another LLM. Gold answers are those of the sources, with their errors and their age. The "
        "questions are public, so an LLM may have seen them in training. All are in English.\n"
    )


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _settings(values: Mapping[str, object]) -> str:
    lines = (
        f"- {_code(key)}: {_code(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))}"
        for key, value in sorted(values.items())
    )
    return "\n".join(lines) + "\n"


def _text(value: str | None) -> str:
    """Escape text so that Markdown and HTML show it as it is, on one line."""
    flat = " ".join((value or "").split())
    return _MARKDOWN.sub(r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def _code(value: str) -> str:
    """Show text as code; a backtick or bar cannot stand in a table's code, so such text is escaped instead."""
    flat = " ".join(value.split())
    return f"`{flat}`" if flat and not set(flat) & set("`|") else _text(value)


def _link(url: str) -> str:
    return f"<{url}>" if re.fullmatch(r"https?://[^\s<>|`\\]+", url) else _text(url)

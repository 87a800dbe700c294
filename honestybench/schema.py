"""The Arrow schemas: the contract for every Parquet column. Null only where the contract says so."""

import pyarrow as pa

from honestybench.records import N_SAMPLED, AnnotatedExample, QAExample

SCHEMA_VERSION = "1"

_text = pa.string()
_texts = pa.list_(pa.string())
_verdicts = pa.list_(pa.int8(), N_SAMPLED)
_samples = pa.list_(pa.string(), N_SAMPLED)

QUESTIONS_SCHEMA = pa.schema(
    [
        pa.field("id", _text, nullable=False),
        pa.field("source", _text, nullable=False),
        pa.field("split", _text, nullable=False),
        pa.field("question", _text, nullable=False),
        pa.field("answers", _texts, nullable=False),
        pa.field("question_clean", _text),
        pa.field("answers_clean", _texts),
        pa.field("flags", _texts, nullable=False),
        pa.field("cluster", _text, nullable=False),
        pa.field("source_row", pa.int32()),
        pa.field("hops", pa.int8()),
        pa.field("relation", _text),
        pa.field("popularity", pa.int64()),
        pa.field("subject", _text),
        pa.field("answer_type", _text),
        pa.field("choices", _texts),
    ]
)

ANNOTATED_SCHEMA = pa.schema(
    [
        *QUESTIONS_SCHEMA,
        pa.field("greedy_response", _text, nullable=False),
        pa.field("greedy_tokens", _texts, nullable=False),
        pa.field("greedy_logprobs", pa.list_(pa.float32()), nullable=False),
        pa.field("greedy_cumulative_logprob", pa.float64(), nullable=False),
        pa.field("greedy_finish_reason", _text, nullable=False),
        pa.field("greedy_correctness", pa.int8()),
        pa.field("sampling_response", _samples, nullable=False),
        pa.field("sampling_finish_reason", _samples, nullable=False),
        pa.field("sampling_correctness", _verdicts, nullable=False),
        pa.field("consistency_judgement", _verdicts, nullable=False),
        pa.field("self_consistency", pa.float64()),
        pa.field("sample_accuracy", pa.float64()),
        pa.field("n_unparsed", pa.int32(), nullable=False),
    ]
)

CONFIDENCE_SCHEMA = pa.schema(
    [pa.field("id", _text, nullable=False), pa.field("confidence", pa.float64(), nullable=False)]
)


def question_row(example: QAExample) -> dict[str, object]:
    """Spread an example over the columns of QUESTIONS_SCHEMA."""
    return {name: getattr(example, name) for name in QUESTIONS_SCHEMA.names}


def annotated_row(record: AnnotatedExample) -> dict[str, object]:
    """Spread an annotated example over the columns of ANNOTATED_SCHEMA."""
    greedy = record.greedy
    return {
        **question_row(record.example),
        "greedy_response": greedy.text,
        "greedy_tokens": greedy.tokens,
        "greedy_logprobs": greedy.logprobs,
        "greedy_cumulative_logprob": greedy.cumulative_logprob,
        "greedy_finish_reason": greedy.finish_reason,
        "greedy_correctness": record.greedy_correctness,
        "sampling_response": [generation.text for generation in record.sampled],
        "sampling_finish_reason": [generation.finish_reason for generation in record.sampled],
        "sampling_correctness": record.sampling_correctness,
        "consistency_judgement": record.consistency_judgement,
        "self_consistency": record.self_consistency,
        "sample_accuracy": record.sample_accuracy,
        "n_unparsed": record.n_unparsed,
    }


def unexpected_nulls(batch: pa.RecordBatch) -> list[str]:
    """Name the columns that hold a null, in a cell or in a list, where the contract has none.

    Only lists of verdicts (int8) may hold nulls: an unparsed verdict.
    """
    found = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        inner = 0
        if pa.types.is_nested(field.type) and field.type.value_type != pa.int8():
            inner = column.flatten().null_count
        if inner or (column.null_count and not field.nullable):
            found.append(field.name)
    return found

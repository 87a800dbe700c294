"""Writes small repositories in the layouts of the Hub.

The records are the real ones of tests/fixtures/raw (see PROVENANCE.md there). The layouts are
written from the field lists of the repositories' cards: no file of the Hub could be read when this
was written. So these files test our readers and the agreement of layouts, not the Hub's content.
"""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Rows = list[dict[str, Any]]


def write_repo(key: str, raw: Path, folder: Path) -> None:
    """Write the repository of one source under `folder`."""
    if key in COPIES:
        name, sample = COPIES[key]
        folder.mkdir(parents=True)
        (folder / name).write_bytes((raw / sample).read_bytes())
        return
    name, rows = TABLES[key]
    records = rows(raw)
    # Two files where the name has a shard number: rows must come in name order.
    shards = [(name, records)]
    if "*" in name:
        half = len(records) // 2
        parts = (records[:half], records[half:])
        shards = [(name.replace("*", f"0000{index}-of-00002"), part) for index, part in enumerate(parts)]
    for shard, part in reversed(shards):
        (folder / shard).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(part, pa.Table.from_pylist(records).schema), folder / shard)


def nq(raw: Path) -> Rows:
    return read_json_lines(raw / "NQ-open.dev.jsonl")


def triviaqa(raw: Path) -> Rows:
    rows = []
    for record in read_json(raw / "unfiltered-web-dev.json")["Data"]:
        answer = record["Answer"]
        fields = {"value": answer["Value"], "aliases": answer["Aliases"], "type": answer.get("Type", "")}
        fields |= {"normalized_value": answer["NormalizedValue"], "matched_wiki_entity_name": ""}
        rows.append({"question": record["Question"], "question_id": record["QuestionId"], "answer": fields})
    return rows


def hotpotqa(raw: Path) -> Rows:
    return [
        {
            "id": record["_id"],
            "question": record["question"],
            "answer": record["answer"],
            "context": {"title": [title for title, _ in record["context"]]},
        }
        for record in read_json(raw / "hotpot_train_v1.1.json")
    ]


def twowiki(raw: Path) -> Rows:
    return [
        {"question": record["question"], "answer": record["answer"], "context": json.dumps(record["context"])}
        for record in read_json(raw / "2wiki" / "dev.json")
    ]


def pararel(raw: Path) -> Rows:
    rows = []
    # Relations in the order in which the original reader yields them; the real table's order is another one.
    for relation in ("P19", "P36", "P136", "P138", "P530", "P1303"):
        for triple in read_json_lines(raw / "pararel" / "trex_lms_vocab" / f"{relation}.jsonl"):
            rows.append(
                {
                    "relation": f"{relation}.jsonl",
                    "query": f"{triple['sub_label']} … [Y]",
                    "subject": triple["sub_label"],
                    "object": triple["obj_label"],
                    "template": "[X] … [Y]",
                    "candidates": [triple["obj_label"]],
                }
            )
    return rows


def squad(raw: Path) -> Rows:
    rows = []
    for article in read_json(raw / "dev-v1.1.json")["data"]:
        for paragraph in article["paragraphs"]:
            for entry in paragraph["qas"]:
                lists = {name: [answer[name] for answer in entry["answers"]] for name in ("text", "answer_start")}
                rows.append({"id": entry["id"], "context": "", "question": entry["question"], "answers": lists})
    return rows


def webquestions(raw: Path) -> Rows:
    # The Hub's golds are the authors' (compared on the whole test set), of whose lines three are at hand.
    lines = read_json_lines(raw / "qa" / "webquestions.jsonl")
    return [{"url": "", "question": line["question"], "answers": line["answer"]} for line in lines]


def cwq(raw: Path) -> Rows:
    rows = []
    for record in read_json(raw / "ComplexWebQuestions_test.json"):
        names = ("aliases", "answer", "answer_id")
        lists = {name: [answer[name] for answer in record["answers"]] for name in names}
        rows.append({"ID": record["ID"], "question": record["question"], "answers": lists})
    return rows


def mmlu(raw: Path) -> Rows:
    rows = []
    for path in sorted((raw / "mmlu" / "test").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for question, a, b, c, d, letter in csv.reader(file):
                subject = path.stem.removesuffix("_test")
                number = "ABCD".index(letter)
                rows.append({"question": question, "subject": subject, "choices": [a, b, c, d], "answer": number})
    return rows


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_json_lines(path: Path) -> Rows:
    # Only "\n" ends a line: the texts hold other characters that Python takes for line ends.
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


TABLES: dict[str, tuple[str, Callable[[Path], Rows]]] = {
    "nq": ("nq_open/validation-*.parquet", nq),
    "triviaqa": ("unfiltered.nocontext/validation-*.parquet", triviaqa),
    "hotpotqa": ("distractor/train-*.parquet", hotpotqa),
    "2wiki": ("dev.parquet", twowiki),
    "pararel": ("data/train-*.parquet", pararel),
    "squad": ("plain_text/validation-*.parquet", squad),
    "webquestions": ("data/test-*.parquet", webquestions),
    "cwq": ("complex_web_questions/validation/0000.parquet", cwq),
    "mmlu": ("all/test-*.parquet", mmlu),
}
COPIES = {
    "musique": ("musique_ans_v1.0_dev.jsonl", "musique_ans_v1.0_train.jsonl"),
    "popqa": ("test.tsv", "popQA.tsv"),
}

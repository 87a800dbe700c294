"""system.yaml: every key is checked, every fault is told at once, and YAML's own cleverness stays out."""

from dataclasses import fields
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honestybench.errors import SubmissionError
from honestybench.submission import System, read_system
from honestybench.submission.system import CHECKS, OPTIONAL

RELEASE = "0123456789" * 6 + "0123"
GOOD = {
    "name": "Token probability",
    "family": "prob",
    "llm": "some-llm-1.5b",
    "release": RELEASE,
    "method_class": "training_free",
    "sees": "answer",
    "labels_used": "0",
    "samples_per_question": "20",
    "extra_passes": "1",
    "selected_on": "none",
    "authors": "[A. Ümlaut, 'no']",
    "url": "https://example.org/a?b=c#d",
    "code_url": "null",
    "paper": "",
    "date": "2026-11-30",
    "description": ">\n  Two\n  lines",
}


def read(folder: Path, text: str | bytes) -> System:
    path = folder / "system.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_system(path)


def written(**changes: str | None) -> str:
    values = {**GOOD, **changes}
    return "".join(f"{key}: {value}\n" for key, value in values.items() if value is not None)


def test_a_good_file_is_read_with_its_types(tmp_path: Path) -> None:
    assert read(tmp_path, written()) == System(
        name="Token probability",
        family="prob",
        llm="some-llm-1.5b",
        release=RELEASE,
        method_class="training_free",
        sees="answer",
        labels_used=0,
        samples_per_question=20,
        extra_passes=1,
        selected_on="none",
        authors=("A. Ümlaut", "no"),
        url="https://example.org/a?b=c#d",
        date=date(2026, 11, 30),
        description="Two lines",
    )


def test_every_key_has_a_check_and_a_field() -> None:
    assert {field.name for field in fields(System)} == CHECKS.keys() >= OPTIONAL


@pytest.mark.parametrize("key", sorted(CHECKS.keys() - OPTIONAL))
def test_a_missing_key_is_named(key: str, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match=rf"system\.yaml: {key} is missing\. Remedy: the keys are name, "):
        read(tmp_path, written(**{key: None}))


@pytest.mark.parametrize("key", sorted(OPTIONAL))
def test_an_optional_key_may_be_left_out(key: str, tmp_path: Path) -> None:
    assert getattr(read(tmp_path, written(**{key: None})), key) is None


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", '""', 'name must be text on one line, not ""'),
        ("name", "[a]", "name must be text on one line, not a list"),
        ("name", '"a\\eb"', 'name must be text on one line, not "a\\u001bb"'),
        ("name", '"a\\nb"', "name must be text on one line"),
        ("llm", "Qwen/Qwen", "llm must be a slug of lower case letters, digits, '.', '_' and '-', not \"Qwen/Qwen\""),
        ("llm", "../x", "llm must be a slug"),
        ("release", "abc", "release must be a release id of 64 hexadecimal digits"),
        ("method_class", "magic", "method_class must be one of training_free, elicitation, calibration, other, not"),
        ("sees", "everything", "sees must be one of question, answer, samples"),
        ("selected_on", "test", "selected_on must be one of none, train, in_domain, ood, mmlu"),
        ("labels_used", "-1", 'labels_used must be a whole number from 0, not "-1"'),
        ("labels_used", "1e3", "labels_used must be a whole number"),
        ("labels_used", "true", "labels_used must be a whole number"),
        ("labels_used", "٣", "labels_used must be a whole number"),
        ("extra_passes", "0.5", "extra_passes must be a whole number"),
        ("samples_per_question", "9" * 5000, "samples_per_question must be a whole number"),
        ("authors", "A. B.", 'authors must be a list of names, not "A. B."'),
        ("authors", "[]", "authors must be a list of names"),
        ("authors", "[{a: b}]", "authors must be text on one line"),
        ("url", "javascript:alert(1)", "url must be a link that starts with https:// or http://"),
        ("url", "JaVaScRiPt://x/%0aalert(1)", "url must be a link"),
        ("url", "data:text/html,x", "url must be a link"),
        ("code_url", "//example.org", "code_url must be a link"),
        ("code_url", "https://", "code_url must be a link"),
        ("code_url", "https://[::1", "code_url must be a link"),
        ("paper", "2510.17509", "paper must be a link"),
        ("paper", "'https://example.org/\"><script>'", "paper must be a link"),
        ("paper", "https://example.org/a b", "paper must be a link"),
        ("date", "2026-02-30", 'date must be a date of the calendar, not "2026-02-30"'),
        ("date", "30.11.2026", "date must be a date like 2026-01-31"),
        ("date", "2026-11-30 12:00:00", "date must be a date like 2026-01-31"),
        ("license", "{a: b}", "license must be text on one line, not an object"),
        ("lables_used", "3", 'unknown key "lables_used", did you mean labels_used?'),
    ],
)
def test_a_bad_value_is_told_with_what_is_allowed(key: str, value: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError) as error:
        read(tmp_path, written(**{key: value}))
    assert str(error.value).startswith(f"{tmp_path / 'system.yaml'}: {message}")


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError) as error:
        read(tmp_path, written(name=None, sees="x", colour="red"))
    told = 'name is missing; sees must be one of question, answer, samples, not "x"; unknown key "colour"'
    assert str(error.value).startswith(f"{tmp_path / 'system.yaml'}: 3 faults: {told}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file must hold `key: value` lines"),
        ("- a\n- b\n", "the file must hold `key: value` lines"),
        (written() + "name: again\n", "the key 'name' stands twice"),
        ("a: [b", "this is not YAML"),
        ("a: &x [*x]", "this is not YAML"),
        ("? [a]\n: b", "this is not YAML"),
        (b"name: \xe9", "this is not YAML"),
        ("{" * 5000, "this is not YAML that can be read"),
        ("#" * 70_000, "the file has over 65536 bytes"),
    ],
)
def test_what_is_no_mapping_is_one_line(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError) as error:
        read(tmp_path, text)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_tags_run_nothing_and_aliases_do_not_multiply(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with pytest.raises(SubmissionError, match="name must be text on one line, not a list"):
        read(tmp_path, written(name=f"!!python/object/apply:os.mkdir ['{marker}']"))
    assert not marker.exists()
    laughs = ["a0: &a0 [x]", *(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 40))]
    with pytest.raises(SubmissionError, match='unknown key "a0"'):
        read(tmp_path, written() + "\n".join(laughs))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    name=st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1),
    count=st.integers(0, 10**9 - 1),
    day=st.dates(min_value=date(1000, 1, 1)),
)
def test_what_another_writer_wrote_is_read_back(tmp_path: Path, name: str, count: int, day: date) -> None:
    values = {
        **GOOD,
        "name": name,
        "labels_used": count,
        "date": day,
        "authors": [name],
        "code_url": None,
        "paper": None,
    }
    system = read(tmp_path, yaml.safe_dump(values, allow_unicode=True))
    assert (system.name, system.labels_used, system.date, system.authors) == (name, count, day, (name,))

"""Prompt templates: turns, one-pass filling, and what a replacement must hold."""

from pathlib import Path

import pytest

from honestybench.annotate.prompt import FIELDS, PromptTemplate, load_prompt
from honestybench.engine.base import Message
from honestybench.errors import UsageError


@pytest.mark.parametrize("name", FIELDS)
def test_every_template_of_the_package_renders(name: str) -> None:
    messages = load_prompt(name).render(**{field: f"<{field}>" for field in FIELDS[name]})
    text = "".join(message.content for message in messages)
    assert all(f"<{field}>" in text for field in FIELDS[name])
    assert all(message.content == message.content.rstrip("\n") for message in messages)


def test_sample_prompt_has_eight_demonstrations_and_a_stub() -> None:
    messages = load_prompt("sample-qa").render(question="Who?")
    assert [message.role for message in messages] == ["user", "assistant"] * 9
    assert all(message.content.startswith("Answer: ") for message in messages[1:-1:2])
    assert messages[-2:] == (Message(role="user", content="Who?"), Message(role="assistant", content="Answer:"))


def test_fields_are_filled_in_one_pass() -> None:
    messages = load_prompt("judge-correctness").render(
        question="{answer} {golds}", golds="{question}", answer="[user]\nx"
    )
    assert "Question: {answer} {golds}" in messages[1].content
    assert "Expected answers: {question}" in messages[1].content
    assert len(messages) == 2, "a role line inside an answer starts no turn"


def test_replacement_is_read_and_hashed(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("[user]\nQ: {question}\n", "utf-8")
    prompt = load_prompt("paper-qa", path)
    assert prompt.render(question="x") == (Message(role="user", content="Q: x"),)
    # printf '[user]\nQ: {question}\n' | sha256sum
    assert prompt.sha256 == "82462133ffcf2c43bbcb628e73b641ad66bde2672408ba8bcc192db1c4143251"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[user]\nno field\n", "must use its fields"),
        ("[user]\n{question} {extra}\n", "must use its fields"),
        ("{question}\n", "starts with a line"),
    ],
)
def test_replacement_without_its_fields_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PromptTemplate("paper-qa", text)


def test_unreadable_replacement_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the prompt file") as caught:
        load_prompt("paper-qa", tmp_path / "absent.txt")
    assert "absent.txt" in str(caught.value)

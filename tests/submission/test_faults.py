import pytest

from honestybench.submission import FAULTS, Fault
from honestybench.submission.faults import FaultLog, shown


def test_a_fault_reads_as_place_code_message_and_id() -> None:
    fault = Fault(code="NOT_FINITE", line=3, id="q", message="too large")
    assert str(fault) == 'line 3: NOT_FINITE: too large (id "q")'
    assert (
        str(Fault(code="UNKNOWN_IDS", line=3, id="q", message='"q" is unknown'))
        == 'line 3: UNKNOWN_IDS: "q" is unknown'
    )
    assert str(Fault(code="EMPTY", message="no record")) == "EMPTY: no record"


def test_the_worst_fault_decides() -> None:
    log = FaultLog()
    assert (log.outcome, log.listed(), log.n_faults) == ("accept", (), 0)
    warning, rejection = Fault(code="BOM", line=1, message=""), Fault(code="EMPTY", message="")
    log.add(warning)
    assert log.outcome == "warn"
    log.add(rejection)
    assert (log.outcome, log.listed(), log.n_faults) == ("reject", (rejection, warning), 2)


def test_an_outcome_is_that_of_the_table() -> None:
    assert {Fault(code=code, message="").outcome for code in FAULTS} == {"warn", "reject"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '"a"'),
        ("é", '"é"'),
        ("a\nb\x1b", '"a\\nb\\u001b"'),
        (0.5, "0.5"),
        (None, "null"),
        (True, "true"),
        ([[1]], "a list"),
        ({}, "an object"),
        ("x" * 100, '"' + "x" * 59 + "…"),
    ],
)
def test_a_value_is_shown_as_json_on_one_line(value: object, text: str) -> None:
    assert shown(value) == text

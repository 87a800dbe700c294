import inspect

import pytest

from honestybench import errors
from honestybench.errors import HonestyBenchError, MissingExtraError, ReleaseError, UnknownNameError, UsageError

TREE = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, HonestyBenchError)]


def test_a_message_is_one_line_of_place_fault_value_and_remedy() -> None:
    error = ReleaseError("the shard is\nmissing", where="a.parquet", value=3, remedy="fetch it again")
    assert str(error) == "a.parquet: the shard is missing (got 3). Remedy: fetch it again"


def test_a_message_without_value_still_ends_the_sentence_before_the_remedy() -> None:
    assert str(HonestyBenchError("no room", remedy="free some")) == "no room. Remedy: free some"
    assert str(HonestyBenchError("no room")) == "no room"


@pytest.mark.parametrize("kind", TREE)
def test_only_wrong_calls_exit_with_2(kind: type[HonestyBenchError]) -> None:
    assert kind.exit_code == (2 if issubclass(kind, UsageError) else 1)


def test_the_drawing_of_the_tree_names_every_exception() -> None:
    assert [kind.__name__ for kind in TREE if kind.__name__ not in (errors.__doc__ or "")] == []


def test_an_unknown_name_lists_the_known_ones_and_guesses() -> None:
    error = UnknownNameError("source", "popqq", ["nq", "popqa"])
    assert error.known == ["nq", "popqa"]
    assert str(error) == "unknown source (got 'popqq'). Remedy: did you mean 'popqa'? known: nq, popqa"


def test_a_missing_extra_tells_the_install_command() -> None:
    error = MissingExtraError("torch", needed_for="training", install="pip install 'honestybench[elical]'")
    assert str(error) == "training needs the package 'torch'. Remedy: pip install 'honestybench[elical]'"
